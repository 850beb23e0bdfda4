"""Python numbers that are stored element by element become fills."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from graphlint.fix.cure import SAFE, Site, cure, fix, only_assignment
from graphlint.fix.tree import Tree
from graphlint.types import Fix

FLAT = frozenset(["torch.arange", "torch.randperm", "torch.ravel"])
"""Calls whose result has one dimension whatever they are given."""


@cure("GL305")
def filled(site: Site) -> Fix | None:
    """`x[i, j] = v` fills a view; `x[index] = v` becomes `index_fill_`, or a store of a device scalar where the rank
    of the index is not known."""
    target = site.tree.at(site.span, cst.Subscript)
    statement = None if target is None else site.tree.enclosing(target, cst.Assign)
    if target is None or statement is None or len(statement.targets) != 1 or statement.targets[0].target is not target:
        return None
    if not isinstance(target.value, (cst.Name, cst.Attribute)):
        return None
    if "single element" in site.finding.message:
        new = f"{site.tree.code(target)}.fill_({site.tree.code(statement.value)})"
        return fix("fill the element in place", SAFE, site.tree.replace(statement, new))
    return _indexed(site.tree, target, statement)


def _indexed(tree: Tree, target: cst.Subscript, statement: cst.Assign) -> Fix:
    base, value = tree.code(target.value), tree.code(statement.value)
    found = _only_index(target.slice)
    if found is not None and _is_flat(tree, found[1]):
        new = f"{base}.index_fill_({found[0]}, {tree.code(found[1])}, {value})"
        return fix("fill with `index_fill_`", SAFE, tree.replace(statement, new))
    new = f"{base}.new_full((), {value})"
    return fix("store a number that is made on the device", SAFE, tree.replace(statement.value, new))


def _only_index(parts: Sequence[cst.SubscriptElement]) -> tuple[int, cst.BaseExpression] | None:
    """The dimension and index of `x[:, :, index]`."""
    slices = [each.slice for each in parts]
    indices = [(at, each.value) for at, each in enumerate(slices) if isinstance(each, cst.Index) and each.star is None]
    whole = [each for each in slices if isinstance(each, cst.Slice) and not (each.lower or each.upper or each.step)]
    return indices[0] if len(indices) == 1 and len(whole) == len(slices) - 1 else None


def _is_flat(tree: Tree, index: cst.BaseExpression) -> bool:
    """Whether an index has one dimension for certain."""
    value = only_assignment(tree, index) or index
    return isinstance(value, cst.Call) and tree.qualified(value.func) in FLAT
