"""Operators that the tree registers itself: `torch.ops.mine.fused(x)` leads to the Python function behind it.

A registration is a call or a decorator that is given the operator's name, `"mine::fused"`, `"fused"` or a schema that
begins so, together with the function: `custom_op`, `triton_op`, `lib.impl`, and whatever a project wraps around them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.outline import mentions
from graphlint.project import FunctionDecl, Module, imported
from graphlint.syntax import BODIES, TRIES, last
from graphlint.types import Target
from graphlint.values import Arguments, Function, Value

OTHERS = ("fake", "meta", "abstract", "autograd", "backward", "context", "vmap", "autocast", "shape")
"""Words in the names of the other functions that an operator is given, and of the calls that give them."""

KEYS = frozenset({"Meta", "CPU", "AutogradCPU", "Autograd", "AutogradCUDA", "XPU", "HPU", "MPS", "PrivateUse1"})
"""Dispatch keys under which something else is registered than what a CUDA graph records."""


def called(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
    """Call the Python function of an operator of the tree; None where it cannot be found.

    Dynamo does not look into operators, so only a raw capture sees what happens in there.
    """
    decl = _implementation(frame, name.removesuffix(".default"))
    if decl is None:
        return None
    before = frame.live
    frame.live &= Target.GRAPH
    value = apply(frame, Function(decl), arguments, node)
    frame.live = before
    return value


def _implementation(frame: Frame, name: str) -> FunctionDecl | None:
    key = (frame.module, name)
    known = frame.machine.operations
    if key not in known:
        space, _, word = name.removeprefix("torch.ops.").rpartition(".")
        found = (_registered(module, space, word) for module in _near(frame, word))
        known[key] = next((each for each in found if each is not None), None)
    return known[key]


def _near(frame: Frame, word: str) -> Iterator[Module]:
    """The module that calls an operator, and those that it imports and that name the operator."""
    yield frame.module
    for name, symbols in frame.module.symbols.items():
        symbol = symbols[-1]
        bound = imported(frame.module, symbol, name) if isinstance(symbol, (ast.Import, ast.ImportFrom)) else None
        module = None if bound is None else frame.machine.project.module(bound.module, frame.module)
        if module is not None and word in module.source.text:
            yield module


def _registered(module: Module, space: str, word: str) -> FunctionDecl | None:
    for node in _statements(module.source.tree.body):
        if not mentions(node, word):
            continue
        if isinstance(node, ast.FunctionDef):
            calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
            named = any(_speaks(each, space, word) for each in calls)
            if named or (node.name == word and any("op" in last(each.func).lower() for each in calls)):
                return module.function(node, None, node.name)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _speaks(node.value, space, word):
            found = _given(module, node.value)
            if found is not None:
                return found
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that importing a module runs, and those of functions that register when they are called."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.With, TRIES)):
            for field in BODIES:
                for inner in getattr(node, field, []):
                    yield from _statements(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _speaks(call: ast.Call, space: str, word: str) -> bool:
    """Whether a call is about the operator, and about what it does rather than its shape or its gradient."""
    if any(part in last(call.func).lower() for part in OTHERS):
        return False
    texts = [each.value for each in _arguments(call) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if any(text in KEYS for text in texts):
        return False
    return any(text.partition("(")[0].strip() in (word, f"{space}::{word}") for text in texts)


def _given(module: Module, call: ast.Call) -> FunctionDecl | None:
    """The function that a call registers."""
    candidates = list(call.args)
    candidates += [each.value for each in call.keywords if each.arg and not any(part in each.arg for part in OTHERS)]
    for each in candidates:
        symbols = module.symbols.get(each.id) if isinstance(each, ast.Name) else None
        if symbols and isinstance(symbols[-1], ast.FunctionDef):
            return module.function(symbols[-1], None, symbols[-1].name)
    return None


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (each.value for each in call.keywords)
