"""The entries of dictionaries, by names that are known, or known in part, or not at all."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

from graphlint.interp.dispatch import ITEMS, register
from graphlint.interp.frame import Frame
from graphlint.values import Number, Table, Text, Unknown, Value, doubtful, join, join_all, one_of


@register(ITEMS, Table)
def table_item(frame: Frame, table: Table, index: Value, node: ast.AST) -> Value:
    key = index.value if isinstance(index, (Text, Number)) else None
    if key is not None:
        for known, value in table.items:
            if known == key:
                return value
        found = other_entry(table)
        return Unknown() if found is None else one_of(found)
    return one_of(any_entry(table, index) or Unknown())


def any_entry(table: Table, key: Value | None) -> Value | None:
    """What may stand under a name of which not all is known, `f"output_{kind}"`; None if nothing can."""
    if not isinstance(key, Text) or key.pattern is None:
        return table.element()
    held = [value for name, value in table.items if not isinstance(name, str) or fnmatchcase(name, key.pattern)]
    found = held if table.rest is None else [*held, doubtful(table.rest) if table.items else table.rest]
    return join_all(found) if found else None


def other_entry(table: Table) -> Value | None:
    """What stands under a name that a dictionary is not known to have; beside known ones that is hardly a tensor."""
    return doubtful(table.rest) if table.items and table.rest is not None else table.rest


def with_entry(table: Table, key: object, value: Value) -> Table:
    """The dictionary with one more entry."""
    if key is None:
        return Table(table.items, value if table.rest is None else join(table.rest, value))
    items = tuple((known, old) for known, old in table.items if known != key)
    if len(items) >= 64:
        return Table((), join_all([table.element(), value]))
    return Table((*items, (key, value)), table.rest)


def without_entry(value: Value, key: str | None) -> Value:
    """A dictionary without an entry; anything else as it is."""
    if not isinstance(value, Table) or all(known != key for known, _ in value.items):
        return value
    return Table(tuple(entry for entry in value.items if entry[0] != key), value.rest)
