"""Finding the row of a name.  Rows are parsed when they are first asked for; loading only indexes their lines."""

from __future__ import annotations

import functools
import os
from bisect import bisect_left

from graphlint.effects.conditions import ArgumentFacts, evaluate
from graphlint.effects.grammar import Argument, Effect, Row, parse_row
from graphlint.record import NamedTuple

_FOLDER = os.path.dirname(__file__)

Version = tuple[int, int]
TORCH = (2, 11)
"""The version of torch that predictions are for by default: the one that most rows were measured with."""
OLDEST = (2, 0)
"""The version from which on it is known what changed."""

NEWEST = (2, 13)
"""The newest version from whose source a row is."""

NEVER = (99, 0)


class Index(NamedTuple):
    """`lines`: unparsed rows, sorted; `aliases`: name to the name it means; `prefixes`: the same for whole families.

    `bases` pairs the prefix of a family of classes with the class that they inherit from.
    """

    lines: list[str]
    aliases: dict[str, str]
    prefixes: tuple[tuple[str, str], ...]
    bases: tuple[tuple[str, str], ...]

    def line(self, name: str) -> str | None:
        """The row of a name: the first of the lines that begin with it, as what may follow a name comes first."""
        at = bisect_left(self.lines, name)
        line = self.lines[at] if at < len(self.lines) else ""
        return line if line.startswith((f"{name} ", f"{name}(")) else None


@functools.cache
def index() -> Index:
    """Every row by name, read once from the files beside this one."""
    lines: list[str] = []
    for file in os.listdir(_FOLDER):
        if file.endswith(".rows"):
            lines += _read(file)
    return Index(sorted(lines), *_aliases())


def _read(file: str) -> list[str]:
    with open(os.path.join(_FOLDER, file), "rb") as stream:
        return stream.read().decode().splitlines()


def _aliases() -> tuple[dict[str, str], tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    names: dict[str, str] = {}
    prefixes: list[tuple[str, str]] = []
    bases: list[tuple[str, str]] = []
    for line in _read("names.aliases"):
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
    line = found.line(name)
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
        # A family within the other would be looked for in itself, again and again.
        if name.startswith(prefix) and not (name.startswith(other) and other.startswith(prefix)):
            if prefix == "torch.Tensor." and name[len(prefix) :] in _words("functions.words"):
                continue
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
    rows = (line for line in index().lines if line and line[0] != "#")
    return frozenset(line.partition(" ")[0].partition("(")[0] for line in rows)


@functools.cache
def parts(library: str) -> frozenset[str] | None:
    """The modules and classes of a library that rows are about; None for a library of which nothing is known."""
    lines = index().lines
    own = lines[bisect_left(lines, f"{library}.") : bisect_left(lines, f"{library}/")]
    named = (line.partition(" ")[0].partition("(")[0].split(".") for line in own)
    return frozenset(words[1] for words in named if len(words) > 2) if own else None


@functools.cache
def _words(file: str) -> frozenset[str]:
    return frozenset(word for line in _read(file) if not line.startswith("#") for word in line.split())


def methods() -> frozenset[str]:
    """Names that, called as a method, say that the receiver is a tensor: no list, dict, array or module has them."""
    return _words("methods.words")
