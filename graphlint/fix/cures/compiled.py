"""Calls of `torch.compile`: what defeats its graphs is left out or made an error."""

from __future__ import annotations

import libcst as cst

from graphlint.fix.cure import SUGGESTION, UNSAFE, Site, argument, cure, fix, keyword, passed
from graphlint.types import Fix


@cure("GL806")
def static(site: Site) -> Fix | None:
    """`dynamic=True` is dropped; every size then has a graph of its own."""
    call = site.call
    if call is None or keyword(call, "dynamic") is None:
        return None
    new = passed(call, without=("dynamic",))
    return fix("drop `dynamic=True`; a new size is compiled anew", UNSAFE, site.tree.replace(call, new))


@cure("GL801", "GL101", "GL102", "GL103", "GL201", "GL202")
def whole(site: Site) -> Fix | None:
    """The only compiled function of a file is to be one graph, so that a break is an error and no slow path."""
    if all(name != "compile" for name, _ in site.finding.effects):
        return None
    tree = site.tree
    calls = [each for each in tree.within(tree.module, cst.Call) if tree.qualified(each.func) == "torch.compile"]
    if len(calls) != 1 or keyword(calls[0], "fullgraph") is not None:
        return None
    mode = keyword(calls[0], "mode")
    if mode is None or "reduce-overhead" not in tree.code(mode.value):
        return None
    new = passed(calls[0], argument("fullgraph", cst.Name("True")))
    return fix("make every graph break an error with `fullgraph=True`", SUGGESTION, tree.replace(calls[0], new))
