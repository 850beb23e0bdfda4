"""Finding the row of a name.  Rows are parsed when they are first asked for; loading only indexes their lines."""

from __future__ import annotations

import functools
from pathlib import Path

from graphlint.effects.conditions import ArgumentFacts, evaluate
from graphlint.effects.grammar import Argument, Effect, Row, parse_row
from graphlint.record import NamedTuple

_FOLDER = Path(__file__).parent

Version = tuple[int, int]
TORCH = (2, 11)
"""The version of torch that predictions are for by default: the one that most rows were measured with."""
OLDEST = (2, 0)
"""The version from which on it is known what changed."""

NEVER = (99, 0)


class Index(NamedTuple):
    """`lines`: name to its unparsed row; `aliases`: name to the name it means; `prefixes`: the same for whole families.

    `bases` pairs the prefix of a family of classes with the class that they inherit from.
    """

    lines: dict[str, str]
    aliases: dict[str, str]
    prefixes: tuple[tuple[str, str], ...]
    bases: tuple[tuple[str, str], ...]


@functools.cache
def index() -> Index:
    """Every row by name, read once from the files beside this one."""
    lines: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.rows")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and line[0] != "#":
                lines[line[: line.index(" ->")].partition("(")[0]] = line
    return Index(lines, *_aliases())


def _aliases() -> tuple[dict[str, str], tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    names: dict[str, str] = {}
    prefixes: list[tuple[str, str]] = []
    bases: list[tuple[str, str]] = []
    for line in (_FOLDER / "names.aliases").read_text(encoding="utf-8").splitlines():
        left, equals, right = line.partition(" = ")
        if not equals or line[0] == "#":
            continue
        if left.endswith(".*.*"):
            bases.append((left[:-3], right[:-1]))
        elif left.endswith("*"):
            prefixes.append((left[:-1], right[:-1]))
        else:
            names[left] = right
    return names, tuple(prefixes), tuple(bases)


@functools.cache
def lookup(name: str) -> Row | None:
    """The row of a qualified name, through its aliases, its function twin or its out-of-place twin."""
    found = index()
    line = found.lines.get(name)
    if line is not None:
        return parse_row(line)
    if name in found.aliases:
        return lookup(found.aliases[name])
    return _in_place(name) or _twin(name) or _inherited(name)


def _in_place(name: str) -> Row | None:
    """`x.relu_()` does what `x.relu()` does and returns `x`."""
    if not name.endswith("_") or name.endswith("__"):
        return None
    row = lookup(name[:-1])
    if row is None or not row.parameters:
        return None
    return row._replace(name=name, result=Argument(row.parameters[0].name))


def _inherited(name: str) -> Row | None:
    """A method that a class has from the base of its family."""
    owner, _, method = name.rpartition(".")
    for prefix, base in index().bases:
        if owner.startswith(prefix) and not base.startswith(owner) and lookup(owner) is not None:
            return lookup(base + method)
    return None


def _twin(name: str) -> Row | None:
    for prefix, other in index().prefixes:
        if name.startswith(prefix):
            row = lookup(other + name[len(prefix) :])
            if row is not None:
                return row
    return None


def happens(effect: Effect, facts: ArgumentFacts, torch: Version = TORCH) -> bool | None:
    """Whether the call that the facts describe has the effect in a version of torch."""
    if not (effect.since or torch) <= torch < (effect.until or NEVER):
        return False
    if effect.exempt is not None and evaluate(effect.exempt, facts) is True:
        return False
    return evaluate(effect.condition, facts)


def canonical(name: str) -> str:
    """The name of the row that answers for `name`, or `name` itself."""
    row = lookup(name)
    return name if row is None else row.name


def names() -> frozenset[str]:
    """Every name that has a row of its own."""
    return frozenset(index().lines)


@functools.cache
def _words(file: str) -> frozenset[str]:
    lines = (_FOLDER / file).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def methods() -> frozenset[str]:
    """Names that, called as a method, say that the receiver is a tensor: no list, dict, array or module has them."""
    return _words("methods.words")
