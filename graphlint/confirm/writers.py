"""Which line wrote a slot: of the lines that ran, those whose syntax stores to its last name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from graphlint.confirm.outcome import StateChange

MUTATORS = {"append", "extend", "insert", "pop", "popleft", "appendleft", "clear", "update", "setdefault", "add", "remove"}


def written(paths: Iterable[str], executed: Mapping[str, Iterable[int]]) -> tuple[StateChange, ...]:
    """A state change for each path, with the first executed line that can have written it."""
    ran = {file: frozenset(lines) for file, lines in executed.items()}
    return tuple(StateChange(path, *_writer(path, ran)) for path in paths)


def _writer(path: str, executed: Mapping[str, frozenset[int]]) -> tuple[str, int]:
    for name in _names(path):
        for file, lines in executed.items():
            for stored, line in _stores(file):
                if stored == name and line in lines:
                    return file, line
    return "", 0


def _names(path: str) -> list[str]:
    """The words of a path, innermost first: an entry is written through the attribute that holds it."""
    return list(reversed(re.findall(r"[^\W\d]\w*", path.replace("<global ", "<"))))


@cache
def _stores(file: str) -> tuple[tuple[str, int], ...]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(each for node in ast.walk(tree) for each in _stored(node))


def _stored(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.Name(id=name, ctx=ast.Store()):
            yield name, node.lineno
        case ast.Subscript(value=held, ctx=ast.Store() | ast.Del()):
            yield from _held(held, node.lineno)
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                yield node.slice.value, node.lineno
        case ast.Call(func=ast.Attribute(value=held, attr=verb)) if verb in MUTATORS or verb.endswith("_"):
            yield from _held(held, node.lineno)
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str() as name), *_]):
            yield name, node.lineno


def _held(node: ast.expr, line: int) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            yield name, line
        case ast.Subscript(value=inner):
            yield from _held(inner, line)
