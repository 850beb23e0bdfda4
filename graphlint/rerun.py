"""A run that starts from what an earlier one found: exactly the files whose result rests on a change are judged anew.

    stale      files that are new, that changed, or that rest on a name or a file that did
    entries    the accounts that still hold, and new ones for the stale files
    pages      told anew where an account that went or came says something; the others stay

What is kept holds for the same command, rules and settings; everything else is compared, never assumed.  Accounts and
pages are read one by one, and only where something is to be told anew.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from graphlint import pages
from graphlint.account import Part, needed, only_compiled, parts
from graphlint.asked import Fact
from graphlint.cache import looks, rows, store, tree
from graphlint.cache.looks import Looks, Writing
from graphlint.cache.shelf import Shelf
from graphlint.cache.tree import Entry, Slip, Told, Tree
from graphlint.check import (
    accepted,
    accounts_of,
    check,
    found,
    judged,
    read_found,
    said_of,
    together,
    unlisted,
    unparsed,
    validate,
    with_doubts,
)
from graphlint.config import Config
from graphlint.discover import Discovery, Found
from graphlint.generated import without_templates
from graphlint.judge import Interpreter, Judge
from graphlint.ledger import Ledger
from graphlint.merge import Place, place, stands
from graphlint.pages import Chooser
from graphlint.record import NamedTuple
from graphlint.registry import Registry
from graphlint.retold import Retold
from graphlint.roots import Roots
from graphlint.spread import Texts, spread
from graphlint.types import Report

MOST_FACTS = 2
"""Times as many facts as are needed, from which on those that nobody needs are dropped."""


class Kept(NamedTuple):
    """Where a tree is kept, what all of it rests on, and which choices what was told of it rests on."""

    folder: str
    file: str
    basis: str
    choices: str


class Rechecked(NamedTuple):
    """A report, with the files it was read from, what it rests on, and what was seen of the files as the run began."""

    report: Report
    discovery: Discovery
    tree: Tree
    seen: Mapping[str, str]


def recheck(paths: Sequence[str], config: Config, registry: Registry, interpret: Interpreter, kept: Kept) -> Rechecked:
    """Check files and folders like `check`, from what is kept, and keep what has become of it."""
    validate(config, registry)
    when = time.time_ns()
    given = found(paths, config)
    before = tree.load(kept.folder, kept.file, kept.basis) or Tree(kept.basis)
    shelf = Shelf(kept.folder, kept.file.removesuffix(tree.ENDING))

    def anew() -> Report:
        """What is kept turns out to be damaged when it is to be shown."""
        store.remove(kept.folder, kept.file)
        return check(paths, config, registry, interpret)

    def begun(before: Tree, broken: Collection[str] = ()) -> Run:
        looks = Looks(before.looks, (str(each.path) for each in given.files), when)
        writing = Writing(before, looks, when)
        discovery = without_templates(given, writing.made, writing.classes, broken)
        judge = judged(discovery.files, config, registry, interpret)
        return Run(discovery, judge, kept.choices, before, when, shelf, looks, writing)

    try:
        run = begun(before)
        report = run.report(anew)
        if broken := unparsed(said_of(report, run.discovery)):
            run = begun(before, broken)
            report = run.report(anew)
    except rows.WRONG:
        # Damaged in a way that the checksum could not show, or written by somebody else.
        before = Tree(kept.basis)
        run = begun(before)
        report = run.report(anew)
    after = run.after()
    if after != before:
        tree.save(kept.folder, kept.file, after, before, shelf)
    report = with_doubts(said_of(report, run.discovery), config, paths)
    return Rechecked(report, run.discovery, after, run.looks.seen)


def analysed(files: Sequence[Found], judge: Judge, elsewhere: frozenset[str] | None) -> tuple[list[Slip], Ledger]:
    """The account of each file as it is kept, and what they rest on; `elsewhere` is what a ledger says of it."""
    slips: list[Slip] = []
    ledger = Ledger(judge.roots)
    for batch, notes in spread(files, partial(_slips, judge, elsewhere)):
        slips += batch
        ledger.add(notes)
    return slips, ledger


def _slips(judge: Judge, elsewhere: frozenset[str] | None, group: Sequence[Found]) -> tuple[list[Slip], Ledger]:
    accounts, notes = accounts_of(judge, MappingProxyType({}), elsewhere, group)
    return list(map(tree.slip, accounts)), notes


@dataclass
class Run:
    """One run over given files; `entries` and `pages` are what is kept and told at its end."""

    discovery: Discovery
    judge: Judge
    choices: str
    before: Tree
    when: int
    shelf: Shelf
    looks: Looks
    writing: Writing
    pages: dict[str, Told] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.roots = self.judge.roots or Roots(())
        self.files = {each.name: each for each in self.discovery.files}
        self.around = parts(unlisted(self.discovery))
        before = self.before
        self.facts, stale = self._stale()
        self.entries = {n: each for n, each in before.entries.items() if n in self.files and n not in stale}
        if stale:
            self._analyse(stale, None)
        only = only_compiled(self.entries.values())
        otherwise = self._misjudged(only, only == only_compiled(before.entries.values()))
        if otherwise:
            self._analyse(otherwise, only)
        self.entries = {name: self.entries[name] for name in self.files}

    def _stale(self) -> tuple[dict[Fact, str], frozenset[str]]:
        """The facts as they are now, and the files that are new or rest on something that changed."""
        before, changed = self.before, self.looks.changed
        here = looks.settled(before.folders, self.when)
        same = before.folders == here and before.entries.keys() == self.files.keys()
        self.folders = here if same else {}
        facts = before.facts if same else looks.answers(before.facts, self.roots)
        # What was found in a file that is not of the run is not told, so it counts who is.
        other = {str(each.path) for each in self.files.values()} ^ {each.path for each in before.entries.values()}
        bad = {
            number
            for number, (fact, path) in enumerate(facts.items())
            if path in changed or path in other or before.facts[fact] != path
        }
        return facts, frozenset(
            name
            for name, each in self.files.items()
            if (entry := before.entries.get(name)) is None
            or entry.path in changed
            or (bad and not bad.isdisjoint(tree.needs(entry)))
            or not (same or (entry.path, tuple(entry.home)) == (str(each.path), self._home(each.path)))
        )

    def _home(self, path: Path) -> Fact:
        root, parts = self.roots.package_of(path)
        return str(root), ".".join(parts)

    def _analyse(self, stale: Collection[str], elsewhere: frozenset[str] | None) -> None:
        """Judge some files; `elsewhere` are the classes that all files together only compile, once that is known."""
        slips, ledger = analysed([self.files[name] for name in sorted(stale)], self.judge, elsewhere)
        used = sorted(set[Fact]().union(*ledger.needs.values()))
        self.facts = {**self.facts, **{fact: ledger.facts[fact] for fact in used}}
        numbers = {fact: number for number, fact in enumerate(self.facts)}
        for each in slips:
            path = self.files[each.name].path
            needs = " ".join(map(str, sorted(map(numbers.__getitem__, ledger.needs.get(each.name, ())))))
            self.entries[each.name] = Entry(
                each.name,
                str(path),
                self._home(path),
                needs,
                each.found_in,
                each.compiled,
                each.captured,
                each.used,
                each.cells,
                each.regions,
                self.writing.said[each.name],
                self.shelf.add(each.text),
            )

    def _misjudged(self, only: frozenset[str], as_before: bool) -> frozenset[str]:
        """The files that have a class of which another file says now how it is run; of those that are kept, if any did."""
        return frozenset(
            each.name
            for each in (self._fresh() if as_before else self.entries.values())
            if (only or each.used) and only.intersection(row[0] for row in each.regions) != frozenset(each.used)
        )

    def _fresh(self) -> list[Entry]:
        """The entries that are new."""
        before = self.before.entries
        return [each for name, each in self.entries.items() if before.get(name) is not each]

    def report(self, anew: Callable[[], Report]) -> Report:
        """The report on everything, where `anew` makes one from nothing; raises `rows.WRONG`."""
        texts = Texts(self.discovery.files, read_found)
        chooser = Chooser(self.judge.config, self.judge.registry, texts.path, texts)
        again = self._told_again()
        told = {file: each for file, each in self.before.pages.items() if file not in again}
        told.update(self._pages(again, chooser))
        self.pages = dict(sorted(told.items()))
        retold = Retold(self.pages, self.entries, self.shelf, self.before.basis, anew)
        if not self.judge.config.baseline:
            self._put_regions(retold.has, chooser)
            return retold.report()
        fresh = accepted(retold.findings(), self.files, chooser)
        self._put_regions({place(each) for each in fresh.findings}.__contains__, chooser)
        return retold.compared(fresh)

    def _is_chosen_anew(self) -> bool:
        """Whether what was told before tells nothing now: a baseline may be another, though its name is the same."""
        return bool(self.judge.config.baseline) or self.before.choices != self.choices

    def _told_again(self) -> frozenset[str]:
        """The files of which something else may be told than before."""
        here, before = self.entries, self.before.entries
        around = {*self.before.around, *self.around}
        if self._is_chosen_anew():
            return frozenset(around.union(*(each.found_in for each in (*here.values(), *before.values()))))
        gone = [each.found_in for name, each in before.items() if name not in here]
        come = [self._says_else(each) for each in self._fresh()]
        return frozenset(around.union(*gone, *come))

    def _says_else(self, entry: Entry) -> set[str]:
        """The files of which the account of one says something else than before; of itself it may always."""
        old = self.before.entries.get(entry.name)
        if old is None:
            return set(entry.found_in)
        said, before = self._said(entry), self._said(old)
        other = {file for file in (*said, *before) if said.get(file) != before.get(file)}
        return {entry.name, *(file for file in other if not self._stands(file, before.get(file), said.get(file)))}

    def _stands(self, file: str, before: bytes | None, now: bytes | None) -> bool:
        """Whether a page is what it was although one account says something else of its file; raises `rows.WRONG`."""
        told = self.before.pages.get(file)
        if told is None or before is None or now is None:
            return False
        page, old, new = tree.page(self.shelf.read(told.text))[0], tree.part(before), tree.part(now)
        return (old.broken, old.marks) == (new.broken, new.marks) and stands(page.findings, old.found, new.found)

    def _said(self, entry: Entry) -> dict[str, bytes]:
        return dict(zip(entry.found_in, tree.part_texts(self.shelf.read(entry.text))))

    def _pages(self, again: frozenset[str], chooser: Chooser) -> Iterator[tuple[str, Told]]:
        """The pages of some files, from every account that has something to say there."""
        speak: dict[str, list[tuple[Entry, int]]] = {}
        for each in self.entries.values():
            for number, file in enumerate(each.found_in):
                if file in again:
                    speak.setdefault(file, []).append((each, number))
        for file in sorted({*speak, *self.around}):
            said = [tree.part(tree.part_texts(self.shelf.read(each.text))[number]) for each, number in speak.get(file, ())]
            yield file, self._page(file, [*said, *([self.around[file]] if file in self.around else [])], chooser)

    def _page(self, file: str, said: Sequence[Part], chooser: Chooser) -> Told:
        lines = together(each.lines for each in said)
        page = chooser.page(file, pages.inside(said), lines)
        text = self.shelf.add(tree.page_text(page, needed(page.findings, lines)))
        effects = Counter(each.effect.value for each in page.findings)
        unread = any(place(each) in page.unchecked for each in page.findings)
        codes = sorted({each.code for each in page.findings})
        told = Told(text, page.suppressed, page.hidden, page.limits, unread, effects, codes)
        old = self.before.pages.get(file)
        # The same as before stays where it lies.
        return old if old is not None and old.text.digest == text.digest and old._replace(text=text) == told else told

    def _put_regions(self, kept: Callable[[Place], bool], chooser: Chooser) -> None:
        """Predict the regions of every file that is new.

        Which findings of a region are kept is decided by its own file and by those its findings are in, and all of these
        are among what its file rests on; so the regions of an account that still holds are as they were.
        """
        for each in list(self.entries.values()) if self._is_chosen_anew() else self._fresh():
            account = tree.account(self.shelf.read(each.text))
            regions = [rows.region_row(region, each.name) for region in chooser.regions(account, kept)]
            self.entries[each.name] = each._replace(regions=regions)

    def after(self) -> Tree:
        """The tree that the next run starts from."""
        facts, entries = self._numbered()
        paths = {each.path for each in entries.values()} | {path for path in facts.values() if path}
        return Tree(
            self.before.basis,
            self.choices,
            facts,
            self.looks.after(paths),
            self._folders(facts),
            sorted(self.around),
            entries,
            self.pages,
            self.writing.templates(),
        )

    def _numbered(self) -> tuple[dict[Fact, str], dict[str, Entry]]:
        """The facts that are needed, and the entries with their numbers; a few that nobody needs do no harm."""
        if len(self.facts) == len(self.before.facts):
            return self.facts, self.entries
        used = set[int]().union(*map(tree.needs, self.entries.values()))
        if len(self.facts) < MOST_FACTS * len(used) + 1:
            return self.facts, self.entries
        place = {number: index for index, number in enumerate(sorted(used))}
        facts = {fact: path for number, (fact, path) in enumerate(self.facts.items()) if number in used}
        entries = {
            name: each._replace(needs=" ".join(str(place[number]) for number in tree.needs(each)))
            for name, each in self.entries.items()
        }
        return facts, entries

    def _folders(self, facts: Collection[Fact]) -> dict[str, str]:
        """The folders on which the facts rest; those of facts that were known are looked at as the run begins."""
        here, before = self.folders, self.before
        names = {fact for fact in facts if not here or fact not in before.facts}
        homes = (each.home for each in (self._fresh() if here else self.entries.values()))
        names.update((root, name) for root, name in homes)
        fresh = self.roots.folders_of(names).difference(here)
        return {**here, **looks.settled(fresh, self.when)}
