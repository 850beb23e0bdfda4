"""Writes into a tensor of an object whose result depends on what it held: every call moves it on."""

from __future__ import annotations

import ast
import re

from graphlint.site.acts import Act
from graphlint.site.derived import VALUES, sources
from graphlint.site.things import Thing

ACCUMULATES = frozenset(
    ["+=", "-=", "*=", "add_", "sub_", "mul_", "lerp_", "addcmul_", "addcdiv_", "index_add_", "scatter_add_"]
)
ATTRIBUTE = re.compile(r"\w+(\.\w+)+")


def advances(act: Act) -> bool:
    """Whether a write moves the state of an object on: `self.h.copy_(0.9 * self.h + x)`, but not `self.h.copy_(x)`."""
    if act.name in ACCUMULATES:
        return _is_attribute(act.text)
    if act.name in ("copy_", "="):
        return act.other is not None and _is_attribute(act.text) and _is_mixed(act)
    return _is_into_itself(act.node)


def _is_attribute(written: str) -> bool:
    found = ATTRIBUTE.match(written)
    return found is not None and not re.search(r"\.(grad|data)\b", found.group())


def _is_mixed(act: Act) -> bool:
    """Whether what is written comes from the tensor itself: with something else, or moved within it."""
    owner, made = act.thing.owner, act.other
    assert made is not None
    parts = [made, *sources(made)]
    is_own = any(part.owner is owner for part in parts)
    if not is_own or act.is_partial:
        return is_own
    return any(_is_of_another(part, owner) for part in parts)


def _is_of_another(part: Thing, owner: Thing) -> bool:
    return part.kind in VALUES and part.owner is not owner and all(each.owner is not owner for each in sources(part))


def _is_into_itself(node: ast.AST) -> bool:
    """`torch.maximum(self.peak, x, out=self.peak)`."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    out = next((ast.unparse(word.value) for word in node.keywords if word.arg == "out"), "")
    return _is_attribute(out) and any(ast.unparse(given) == out for given in node.args)
