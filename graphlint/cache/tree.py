"""What each file of a tree led to, kept from one run to the next.

One JSON value a line: the head, what was told of the whole, then one account a file, in the order of the head.

The head holds the *facts* that results rest on (which file a dotted name stood for), the *looks* of files, and for each
file of the run the numbers of its facts.  An account is read only when something it found is to be told anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphlint.account import Account
from graphlint.asked import Fact
from graphlint.cache import rows, store
from graphlint.pages import Page
from graphlint.types import RegionReport

ENDING = ".tree"
Look = tuple[str, str]
"""What was seen of a file, and the digest of its content; an empty digest is like none."""


@dataclass(slots=True)
class Told:
    """A page with the lines that it shows, by file and number."""

    page: Page
    lines: dict[str, dict[int, str]]


@dataclass(slots=True)
class Whole:
    """What was told of a tree, after certain choices: a page a file, and the regions of each file."""

    choices: str = ""
    pages: dict[str, Told] = field(default_factory=dict)
    regions: dict[str, tuple[RegionReport, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class Entry:
    """One file of a run, with its account as text.

    `home` is the name under which the file is a module, `needs` are the facts that its result rests on, `found_in` the
    files in which it found something; the rest is as in an account.
    """

    path: str
    home: Fact
    needs: frozenset[Fact]
    compiled: frozenset[str]
    captured: frozenset[str]
    used: frozenset[str]
    cells: tuple[tuple[int, int], ...]
    found_in: tuple[str, ...]
    text: bytes

    def account(self) -> Account:
        """The account itself; raises `rows.WRONG`."""
        return rows.account(json.loads(self.text))


@dataclass(slots=True)
class Tree:
    """Everything that is kept of one tree, for one command; `basis` is what all of it rests on.

    `folders` are those in which a name can come to stand for another file, `around` the pages that no file led to.
    """

    basis: str
    facts: dict[Fact, str] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    around: tuple[str, ...] = ()
    entries: dict[str, Entry] = field(default_factory=dict)
    whole: Whole = field(default_factory=Whole)


def entry(account: Account, path: str, home: Fact, needs: frozenset[Fact]) -> Entry:
    """What is kept of one file."""
    classes = (account.compiled, account.captured, account.used)
    return Entry(path, home, needs, *classes, account.cells, found_in(account), _dump(rows.account_row(account)))


def found_in(account: Account) -> tuple[str, ...]:
    """The files of which an account tells something."""
    own = [account.file] if account.marks is not None and any(account.marks) else []
    return tuple(sorted({each.span.file for each in (*account.found, *account.broken)} | set(own)))


def save(folder: str, file: str, tree: Tree) -> bool:
    """Keep a tree; whether that could be done."""
    facts = {fact: number for number, fact in enumerate(sorted(tree.facts))}
    head = {
        "basis": tree.basis,
        "facts": [[*fact, tree.facts[fact]] for fact in facts],
        "looks": [[path, *look] for path, look in tree.looks.items()],
        "folders": list(tree.folders.items()),
        "around": tree.around,
        "files": [[name, *_entry_row(each, facts)] for name, each in tree.entries.items()],
    }
    accounts = (part for each in tree.entries.values() for part in (b"\n", each.text))
    return store.write(folder, file, _dump(head), b"\n", _dump(_whole_row(tree.whole)), *accounts)


def load(folder: str, file: str, basis: str) -> Tree | None:
    """What was kept; None if there is nothing, nothing that can be read, or nothing that rests on the same."""
    body = store.read(folder, file)
    if body is None:
        return None
    try:
        head, whole, *texts = body.split(b"\n")
        table = json.loads(head)
        return _tree(table, whole, texts) if table["basis"] == basis else None
    except rows.WRONG:
        return None


def _tree(table: Mapping[str, Any], whole: bytes, texts: list[bytes]) -> Tree:
    facts = [(root, name) for root, name, _ in table["facts"]]
    return Tree(
        table["basis"],
        dict(zip(facts, (path for _, _, path in table["facts"]))),
        {path: (look, digest) for path, look, digest in table["looks"]},
        dict(map(tuple, table["folders"])),
        tuple(table["around"]),
        {row[0]: _entry(facts, text, *row[1:]) for row, text in zip(table["files"], texts, strict=True)},
        _whole(*json.loads(whole)),
    )


def _entry_row(each: Entry, facts: Mapping[Fact, int]) -> rows.Row:
    needs = sorted(map(facts.__getitem__, each.needs))
    classes = map(sorted, (each.compiled, each.captured, each.used))
    return [each.path, each.home, needs, *classes, each.cells, each.found_in]


def _entry(
    facts: list[Fact],
    text: bytes,
    path: str,
    home: rows.Row,
    needs: rows.Row,
    compiled: rows.Row,
    captured: rows.Row,
    used: rows.Row,
    cells: rows.Row,
    found_in: rows.Row,
) -> Entry:
    root, name = home
    classes = (frozenset(compiled), frozenset(captured), frozenset(used))
    starts = tuple((line, cell) for line, cell in cells)
    return Entry(path, (root, name), frozenset(map(facts.__getitem__, needs)), *classes, starts, tuple(found_in), text)


def _whole_row(whole: Whole) -> rows.Row:
    table = rows.Table()
    pages = [[file, table.page_row(told.page), table.lines_row(told.lines)] for file, told in whole.pages.items()]
    regions = [[file, list(map(table.region_row, told))] for file, told in whole.regions.items()]
    return [table.texts, whole.choices, pages, regions]


def _whole(texts: rows.Row, choices: str, pages: rows.Row, regions: rows.Row) -> Whole:
    table = rows.Table(texts)
    return Whole(
        choices,
        {file: Told(table.page(page), table.lines(lines)) for file, page, lines in pages},
        {file: tuple(map(table.region, told)) for file, told in regions},
    )


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
