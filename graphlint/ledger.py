"""What is taken down while files are interpreted: which file is at work, and what its result rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphlint.asked import Fact
from graphlint.roots import Roots


@dataclass(eq=False, repr=False)
class Ledger:
    """Notes on one batch of files, all by their reported names.

    `roots` are those of all files of the run, if these are more than the batch.
    `needs` are the facts behind a file's result, `facts` what the answers were: a path, or nothing.  `compiled` and
    `captured` are the classes whose `forward` a file runs in one way or the other.  `elsewhere`, if it is known, has the
    classes that all files of the run together only compile; until then each file goes by what it does itself.
    """

    roots: Roots | None = None
    file: str = ""
    elsewhere: frozenset[str] | None = None
    needs: dict[str, frozenset[Fact]] = field(default_factory=dict)
    facts: dict[Fact, str] = field(default_factory=dict)
    compiled: dict[str, frozenset[str]] = field(default_factory=dict)
    captured: dict[str, frozenset[str]] = field(default_factory=dict)
    used: dict[str, frozenset[str]] = field(default_factory=dict)

    def only_compiled(self, file: str) -> frozenset[str]:
        """The classes whose `forward` is taken to be compiled only, as seen from a file."""
        if self.elsewhere is not None:
            return self.elsewhere
        return self.compiled.get(file, frozenset()) - self.captured.get(file, frozenset())

    def classes(self, file: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """What a file compiles, what it captures, and of which of its own it mattered that they are only compiled."""
        nothing: frozenset[str] = frozenset()
        return self.compiled.get(file, nothing), self.captured.get(file, nothing), self.used.get(file, nothing)

    def add(self, other: Ledger) -> None:
        """Take over what another ledger holds."""
        for own, more in zip(self._tables(), other._tables()):
            own.update(more)

    def notes(self) -> Ledger:
        """The notes alone, to be sent to another process."""
        return Ledger(None, "", None, *self._tables())

    def _tables(self) -> tuple[dict[Any, Any], ...]:
        return self.needs, self.facts, self.compiled, self.captured, self.used
