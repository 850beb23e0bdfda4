"""Sizes that a person knows and the code does not say."""

from __future__ import annotations

import libcst as cst

from graphlint.fix.cure import SUGGESTION, Site, argument, cure, fix, keyword, method, passed, positional
from graphlint.types import Fix

SIZES = {"repeat_interleave": "output_size", "one_hot": "num_classes"}
HINTS = {"output_size": "the sum of the repeats", "num_classes": "the number of classes"}


@cure("GL201")
def sized(site: Site) -> Fix | None:
    """`repeat_interleave` and `one_hot` are told the size they would otherwise read from the device."""
    call = site.call
    name = SIZES.get(method(call)) if call is not None else None
    if call is None or name is None or keyword(call, name) is not None:
        return None
    if name == "num_classes" and len(positional(call)) > 1:
        return None
    new = passed(call, argument(name, cst.Ellipsis()))
    return fix(f"say {HINTS[name]}: `{name}=...`", SUGGESTION, site.tree.replace(call, new))
