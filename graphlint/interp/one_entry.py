"""Containers of objects that are used for one entry only: what is stored there is an attribute by another name.

self.tables[device.index] = table        # by one method
self.tables[x.device.index]              # by all others that look into it
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphlint.interp.members import methods
from graphlint.outline import mentions
from graphlint.project import ClassDecl
from graphlint.syntax import last, walk

if TYPE_CHECKING:
    from graphlint.interp.machine import Machine


def has_one_entry(machine: Machine, decl: ClassDecl, attr: str) -> bool:
    """Whether all methods but the constructor use a container by subscripts with one key, as far as the key shows it."""
    known = machine.read.one_entry.get((decl, attr))
    if known is None:
        known = machine.read.one_entry[decl, attr] = _has_one_entry(machine, decl, attr)
    return known


def _has_one_entry(machine: Machine, decl: ClassDecl, attr: str) -> bool:
    keys: set[str] = set()
    uses = entries = 0
    for _, method in methods(machine, decl):
        if method.name == "__init__" or not mentions(method, attr):
            continue
        for each in walk(method):
            uses += isinstance(each, ast.Attribute) and each.attr == attr
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Attribute) and each.value.attr == attr:
                entries += 1
                keys.add(_word(each.slice))
    return uses == entries and len(keys) == 1 and "" not in keys


def _word(key: ast.expr) -> str:
    """What is left of a key where objects have other names: the constant itself, or the last word."""
    return repr(key.value) if isinstance(key, ast.Constant) else last(key) if isinstance(key, ast.Attribute) else ""
