"""What the code of each module asked the tree for: the edges along which a change spreads.

Code of a module runs only because something that was looked up led there, and what it is given came from other modules
that were reached in the same way.  So the result of a file rests on what its own code asked for, on what the code of the
modules asked for that were found in this way, and so on; results that are shared between files change nothing in that.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping

Fact = tuple[str, str]
"""A question: which file does a dotted name stand for, asked from below a root folder."""


class Asked:
    """Facts by the module whose code asked for them; a chain of imports belongs to the code at its beginning."""

    def __init__(self) -> None:
        self._by_module: dict[Hashable, set[Fact]] = {}
        self._by_name: dict[tuple[Hashable, str], set[Fact]] = {}
        self._taken: set[tuple[Hashable, str]] = set()
        self._open: set[Fact] | None = None

    def begin(self) -> bool:
        """Begin to look something up; whether that is the beginning of a chain, which `end` must then end."""
        if self._open is not None:
            return False
        self._open = set()
        return True

    def end(self, asker: Hashable) -> None:
        """End a chain that code of a module began."""
        if self._open:
            self._by_module.setdefault(asker, set()).update(self._open)
        self._open = None

    def note(self, asker: Hashable, fact: Fact) -> None:
        """A question was asked, in a chain or by itself."""
        found = self._open if self._open is not None else self._by_module.setdefault(asker, set())
        found.add(fact)

    def first(self, key: tuple[Hashable, str]) -> None:
        """A name of a module is looked up for the first time, in a chain."""
        assert self._open is not None
        self._by_name[key] = self._open

    def again(self, key: tuple[Hashable, str]) -> None:
        """A name of a module is looked up that was looked up before."""
        if self._open is not None:
            self._open |= self._by_name[key]
        elif key not in self._taken:
            self._taken.add(key)
            self._by_module.setdefault(key[0], set()).update(self._by_name[key])

    def resting(self, gone: Collection[Hashable], answers: Mapping[Fact, Hashable | None]) -> set[Hashable]:
        """Every module whose code rests on one of some modules, with these."""
        found = set(gone)
        while True:
            led = {fact for fact, module in answers.items() if module in found}
            more = {asker for asker, facts in self._by_module.items() if asker not in found and not led.isdisjoint(facts)}
            if not more:
                return found
            found |= more

    def forget(self, gone: Collection[Hashable], answers: Mapping[Fact, Hashable | None]) -> set[tuple[Hashable, str]]:
        """Drop what was asked by some modules, and what led to them; gives the names that have to be asked for again."""
        led = {fact for fact, module in answers.items() if module in gone}
        keys = {key for key, facts in self._by_name.items() if key[0] in gone or not led.isdisjoint(facts)}
        for key in keys:
            del self._by_name[key]
        self._taken -= keys
        for module in gone:
            self._by_module.pop(module, None)
        return keys

    def facts(self) -> frozenset[Fact]:
        """Everything that was asked."""
        return frozenset(fact for facts in self._by_module.values() for fact in facts)

    def below(self, module: Hashable, answers: Mapping[Fact, Hashable | None]) -> frozenset[Fact]:
        """Every fact that the analysis of a module rests on."""
        facts: set[Fact] = set()
        seen, waiting = {module}, [module]
        while waiting:
            fresh = self._by_module.get(waiting.pop(), set()) - facts
            facts |= fresh
            for fact in fresh:
                found = answers[fact]
                if found is not None and found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return frozenset(facts)
