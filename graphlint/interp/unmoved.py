"""Modules that are made on the device and moved by nobody: what their constructors make on the host stays there.

class Head(nn.Module):
    def __init__(self, n, device):
        self.scores = nn.Linear(n, n, device=device)
        self.register_buffer("order", torch.arange(n))     # no device: only `to` would take it along

head = Head(8, device)                                     # and nobody calls it

Read from the file of the class, which must show how it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphlint.project import ClassDecl
from graphlint.syntax import argument, last, last_called, walk
from graphlint.values import Place, Tensor, Value, join_all, members

if TYPE_CHECKING:
    from graphlint.interp.frame import Frame

MOVES = frozenset({"to", "cuda", "to_empty", "_apply"})
DEFAULTS = frozenset({"set_default_device", "set_default_tensor_type"})
"""What gives factories another device than the host, as `with torch.device(...)` does."""


def left(frame: Frame, owner: ClassDecl, value: Value) -> Value | None:
    """A buffer of the class where its constructor made it, on the host; None where it moves with its module."""
    held = [each for each in members(value) if isinstance(each, Tensor) and each.place is Place.HOST]
    if len(held) < len(members(value)) or not held:
        return None
    known = frame.machine.read.unmoved.get(owner)
    if known is None:
        known = frame.machine.read.unmoved[owner] = _is_unmoved(owner)
    return join_all([each.replace(role="state") for each in held]) if known else None


def _is_unmoved(owner: ClassDecl) -> bool:
    init = next((each for each in owner.node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if init is None:
        return False
    made = list(_calls(owner.module.source.tree, owner.name))
    if any(arg.arg == "device" for arg in (*init.args.args, *init.args.kwonlyargs)):
        names = [arg.arg for arg in init.args.args[1:]]
        is_built = all(_is_placed(argument(call, names, "device")) for call in made)
    else:
        is_built = any(_names_gpu(word) for call in walk(init) if isinstance(call, ast.Call) for word in call.keywords)
    if not made or not is_built:
        return False
    return not any(_moves(each) for each in _outside(owner.module.source.tree))


def _names_gpu(word: ast.keyword) -> bool:
    """Whether an argument says `device="cuda"`, so that a constructor builds its parts where they are to be."""
    given = word.value.value if isinstance(word.value, ast.Constant) else None
    return word.arg == "device" and isinstance(given, str) and given.startswith("cuda")


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    return (each for each in walk(tree) if isinstance(each, ast.Call) and last_called(each) == name)


def _is_placed(given: ast.expr | None) -> bool:
    """Whether what a constructor is given for its device is another one than the host."""
    return given is not None and not (isinstance(given, ast.Constant) and given.value in (None, "cpu", "meta"))


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a file that stand in no module: what a `forward` moves are tensors."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef) and any(last(base).endswith(("Module", "Layer")) for base in child.bases):
            continue
        yield child
        yield from _outside(child)


def _moves(node: ast.AST) -> bool:
    """Whether a node may move a module, or decide where tensors are made; a type says nothing of a place."""
    if isinstance(node, ast.With):
        return any(last_called(each.context_expr) in ("device", "init_empty_weights") for each in node.items)
    if not isinstance(node, ast.Call):
        return False
    name = last(node.func)
    if name in DEFAULTS:
        return True
    given = [*node.args, *(word.value for word in node.keywords)]
    return isinstance(node.func, ast.Attribute) and name in MOVES and not (given and all(map(_is_type, given)))


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch"
