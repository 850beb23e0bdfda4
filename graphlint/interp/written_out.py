"""Tables of words that a file writes out, such as names of classes by names of models."""

from __future__ import annotations

import ast

from graphlint.interp.frame import Frame
from graphlint.values import Seq, Table, Text, Value


def pairs(held: Seq) -> Table | None:
    """A dictionary of pairs that are written out, each with a word; None for all others."""
    entries: dict[str, Value] = {}
    for each in held.items or ():
        match each:
            case Seq(form="tuple", items=(Text(value=str(word)), entry)):
                entries[word] = entry
            case _:
                return None
    return Table(tuple(entries.items())) if entries and held.rest is None else None


def turned(frame: Frame, node: ast.DictComp) -> Table | None:
    """`{value: key for key, value in table.items()}` of a dictionary of words that is written out."""
    match node:
        case ast.DictComp(
            key=ast.Name(id=key),
            value=ast.Name(id=value),
            generators=[
                ast.comprehension(target=ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=other)]), iter=iterated, ifs=[])
            ],
        ) if (key, value) == (other, one):
            held = frame.eval(iterated)
            return _turned(held.items) if isinstance(held, Seq) and held.items and held.rest is None else None
    return None


def _turned(pairs: tuple[Value, ...]) -> Table | None:
    entries: dict[str, Value] = {}
    for each in pairs:
        match each:
            case Seq(items=(word, Text(value=str(key)))):
                entries[key] = word
            case _:
                return None
    return Table(tuple(entries.items()))
