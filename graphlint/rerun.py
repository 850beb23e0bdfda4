"""A run that starts from what an earlier one found: exactly the files whose result rests on a change are judged anew.

    stale      files that are new, that changed, or that rest on a name or a file that did
    entries    the accounts that still hold, and new ones for the stale files
    pages      told anew where an account that went or came says something; the others stay

What is kept holds for the same command, rules and settings; everything else is compared, never assumed.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphlint import pages
from graphlint.account import Account, only_compiled
from graphlint.asked import Fact
from graphlint.cache import looks, rows, tree
from graphlint.cache.looks import Looks
from graphlint.cache.tree import Told, Tree, Whole
from graphlint.check import (
    accepted,
    analysed,
    assembled,
    found,
    judged,
    needed,
    read_found,
    remarks,
    together,
    unlisted,
    validate,
)
from graphlint.config import Config
from graphlint.discover import Discovery
from graphlint.judge import Interpreter, Judge
from graphlint.merge import Place, place
from graphlint.pages import Chooser
from graphlint.record import NamedTuple
from graphlint.registry import Registry
from graphlint.roots import Roots
from graphlint.spread import Texts
from graphlint.types import RegionReport, Report


class Kept(NamedTuple):
    """Where a tree is kept, what all of it rests on, and which choices what was told of it rests on."""

    folder: str
    file: str
    basis: str
    choices: str


class Rechecked(NamedTuple):
    """A report, with the files it was read from, what it rests on, and when the run began (in ns)."""

    report: Report
    discovery: Discovery
    tree: Tree
    when: int


def recheck(paths: Sequence[str], config: Config, registry: Registry, interpret: Interpreter, kept: Kept) -> Rechecked:
    """Check files and folders like `check`, from what is kept, and keep what has become of it."""
    validate(config, registry)
    when = time.time_ns()
    discovery = found(paths, config)
    before = tree.load(kept.folder, kept.file, kept.basis) or Tree(kept.basis)
    judge = judged(discovery.files, config, registry, interpret)
    try:
        run = Run(discovery, judge, kept.choices, before, when)
        report = run.report()
    except rows.WRONG:
        # Damaged in a way that the checksum could not show, or written by somebody else.
        before = Tree(kept.basis)
        run = Run(discovery, judge, kept.choices, before, when)
        report = run.report()
    run.accounts.clear()
    after = run.after()
    if after != before:
        tree.save(kept.folder, kept.file, after)
    return Rechecked(replace(report, remarks=remarks(discovery)), discovery, after, when)


@dataclass
class Run:
    """One run over given files; `accounts` are those that were needed, `whole` is what was told."""

    discovery: Discovery
    judge: Judge
    choices: str
    before: Tree
    when: int
    accounts: dict[str, Account] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.roots = self.judge.roots or Roots(())
        self.whole = self.before.whole
        self.files = {each.name: each for each in self.discovery.files}
        self.around = unlisted(self.discovery)
        self.looks = Looks(self.before.looks, (str(each.path) for each in self.discovery.files), self.when)
        self.facts, stale = self._stale()
        self.entries = {n: each for n, each in self.before.entries.items() if n in self.files and n not in stale}
        if stale:
            self._analyse(stale, None)
        only = only_compiled(self.entries.values())
        otherwise = self._misjudged(only)
        if otherwise:
            self._analyse(otherwise, only)

    def _stale(self) -> tuple[dict[Fact, str], frozenset[str]]:
        """The facts as they are now, and the files that are new or rest on something that changed."""
        before, changed = self.before, self.looks.changed
        here = looks.settled(before.folders, self.when)
        same = before.folders == here and before.entries.keys() == self.files.keys()
        self.folders = here if same else {}
        facts = before.facts if same else looks.answers(before.facts, self.roots)
        # What was found in a file that is not of the run is not told, so it counts who is.
        other = {str(each.path) for each in self.files.values()} ^ {each.path for each in before.entries.values()}
        bad = {fact for fact, path in facts.items() if path in changed or path in other or before.facts[fact] != path}
        return facts, frozenset(
            name
            for name, each in self.files.items()
            if (entry := before.entries.get(name)) is None
            or entry.path in changed
            or not bad.isdisjoint(entry.needs)
            or not (same or (entry.path, entry.home) == (str(each.path), self._home(each.path)))
        )

    def _home(self, path: Path) -> Fact:
        root, parts = self.roots.package_of(path)
        return str(root), ".".join(parts)

    def _analyse(self, stale: Collection[str], elsewhere: frozenset[str] | None) -> None:
        """Judge some files; `elsewhere` are the classes that all files together only compile, once that is known."""
        files = [self.files[name] for name in sorted(stale)]
        fresh, ledger = analysed(files, self.judge, elsewhere=elsewhere)
        self.facts = {**self.facts, **ledger.facts}
        for name, account in fresh.items():
            path = self.files[name].path
            needs = ledger.needs.get(name, frozenset())
            self.accounts[name] = account
            self.entries[name] = tree.entry(account, str(path), self._home(path), needs)

    def _misjudged(self, only: frozenset[str]) -> frozenset[str]:
        """The files that have a class of which another file says now how it is run."""
        return frozenset(
            name for name, each in self.entries.items() if (only or each.used) and only & self._names(name) != each.used
        )

    def _names(self, name: str) -> frozenset[str]:
        known = self.accounts.get(name)
        regions = self.before.whole.regions.get(name, ()) if known is None else known.regions
        return frozenset(each.region.name for each in regions)

    def _account(self, name: str) -> Account:
        if name not in self.accounts:
            self.accounts[name] = self.entries[name].account()
        return self.accounts[name]

    def report(self) -> Report:
        """The report on everything; raises `rows.WRONG`."""
        config = self.judge.config
        texts = Texts(self.discovery.files, read_found)
        chooser = Chooser(config, self.judge.registry, texts.path, texts)
        again = self._told_again()
        told = {file: each for file, each in self.before.whole.pages.items() if file not in again}
        told.update(self._pages(again, chooser))
        whole = [told[file] for file in sorted(told)]
        fresh = accepted([each for one in whole for each in one.page.findings], self.files, chooser)
        regions = self._regions({place(each) for each in fresh.findings}, chooser)
        self.whole = Whole(self.choices, told, regions)
        lines = together(each.lines for each in whole)
        cells = {name: each.cells for name, each in self.entries.items() if each.cells}
        every = [each for own in regions.values() for each in own]
        return assembled([each.page for each in whole], fresh, every, len(self.entries), cells, lines)

    def _is_chosen_anew(self) -> bool:
        """Whether what was told before tells nothing now: a baseline may be another, though its name is the same."""
        return bool(self.judge.config.baseline) or self.before.whole.choices != self.choices

    def _told_again(self) -> frozenset[str]:
        """The files of which something else may be told than before."""
        here, before = self.entries, self.before.entries
        around = {*self.before.around, *tree.found_in(self.around)}
        if self._is_chosen_anew():
            return frozenset(around.union(*(each.found_in for each in (*here.values(), *before.values()))))
        gone = [each.found_in for name, each in before.items() if name not in here]
        come = [self._says_else(name) for name, each in here.items() if before.get(name) is not each]
        return frozenset(around.union(*gone, *come))

    def _says_else(self, name: str) -> set[str]:
        """The files of which the account of one says something else than before; of itself it may always."""
        now, old = self._account(name), self.before.entries.get(name)
        if old is None:
            return set(tree.found_in(now))
        was = old.account()
        said, before = pages.by_file(now), pages.by_file(was)
        same = {
            file
            for file, found in said.items()
            if found == before.get(file) and needed(found, now.lines) == needed(found, was.lines)
        }
        return (said.keys() | before.keys() | {name}) - (same - {name})

    def _pages(self, again: frozenset[str], chooser: Chooser) -> dict[str, Told]:
        """The pages of some files, from every account that has something to say there."""
        names = [name for name, each in sorted(self.entries.items()) if not again.isdisjoint(each.found_in)]
        accounts = [*map(self._account, names), self.around]
        by_file = pages.entries(accounts)
        lines = together(each.lines for each in accounts)
        found = {file: chooser.page(file, by_file[file], lines) for file in again if file in by_file}
        return {file: Told(page, needed(page.findings, lines)) for file, page in found.items()}

    def _regions(self, kept: Collection[Place], chooser: Chooser) -> dict[str, tuple[RegionReport, ...]]:
        """The regions of every file.

        Which findings of a region are kept is decided by its own file and by those its findings are in, and all of these
        are among what its file rests on; so the regions of an account that still holds are as they were.
        """
        before = {} if self._is_chosen_anew() else self.before.whole.regions
        return {
            name: before[name]
            if name in before and self.before.entries.get(name) is each
            else tuple(chooser.regions(self._account(name), kept.__contains__))
            for name, each in self.entries.items()
        }

    def after(self) -> Tree:
        """What is to be kept."""
        needed = {fact for each in self.entries.values() for fact in each.needs}
        facts = {fact: path for fact, path in self.facts.items() if fact in needed}
        paths = {each.path for each in self.entries.values()} | {path for path in facts.values() if path}
        return Tree(
            self.before.basis,
            facts,
            self.looks.after(paths),
            self._folders(facts),
            tree.found_in(self.around),
            dict(sorted(self.entries.items())),
            self.whole,
        )

    def _folders(self, facts: Collection[Fact]) -> dict[str, str]:
        """The folders on which the facts rest; those of facts that were known are looked at as the run begins."""
        here, before = self.folders, self.before
        names = {fact for fact in facts if not here or fact not in before.facts}
        names.update(each.home for name, each in self.entries.items() if before.entries.get(name) is not each)
        fresh = self.roots.folders_of(names).difference(here)
        return {**here, **looks.settled(fresh, self.when)}
