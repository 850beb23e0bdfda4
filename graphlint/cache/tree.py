"""What each file of a tree led to, kept from one run to the next.

One JSON value a line: the head, then one entry a file.  Accounts and pages lie on the shelf beside it, and are read only
when they are needed; entries that did not change are written as they were read.

The head holds the *facts* that results rest on (which file a dotted name stood for), the *looks* of files, and what was
told of each page in numbers.  Entries refer to facts by their places in the head.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphlint.account import Account, Part, parts
from graphlint.asked import Fact
from graphlint.cache import rows, store
from graphlint.cache.shelf import Shelf, Text
from graphlint.pages import Page
from graphlint.record import NamedTuple

ENDING = ".tree"
Look = tuple[str, str]
"""What was seen of a file, and the digest of its content; an empty digest is like none."""


class Told(NamedTuple):
    """A page in numbers: what it leaves out, whether it is unread, its findings by effect, and their codes."""

    text: Text
    suppressed: int
    hidden: int
    limits: int
    unread: bool
    effects: Mapping[str, int]
    codes: Sequence[str]


class Slip(NamedTuple):
    """An account as it is kept: `found_in` are the files of which it says something, each with a line of `text`.

    `regions` has a row for each, of which only the name is known yet.
    """

    name: str
    found_in: Sequence[str]
    compiled: Sequence[str]
    captured: Sequence[str]
    used: Sequence[str]
    cells: Sequence[Sequence[int]]
    regions: Sequence[rows.Row]
    text: bytes


class Entry(NamedTuple):
    """One file of a run.

    `home` is the name under which the file is a module, `needs` are the facts that its result rests on, as words, `regions`
    the rows of what was predicted, `made` is what it says of being generated; the rest is as in a slip.
    """

    name: str
    path: str
    home: Sequence[str]
    needs: str
    found_in: Sequence[str]
    compiled: Sequence[str]
    captured: Sequence[str]
    used: Sequence[str]
    cells: Sequence[Sequence[int]]
    regions: Sequence[rows.Row]
    made: Sequence[Any]
    text: Text


@dataclass(slots=True)
class Tree:
    """Everything that is kept of one tree, for one command; `basis` is what all of it rests on.

    `choices` are those after which pages and regions were told.  `folders` are those in which a name can come to stand for
    another file, `around` the pages that no file led to, `templates` the files that are left to those generated from them,
    with what was seen of them and their classes.  `lines` are the entries as they were read.
    """

    basis: str
    choices: str = ""
    facts: dict[Fact, str] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    around: Sequence[str] = ()
    entries: dict[str, Entry] = field(default_factory=dict)
    pages: dict[str, Told] = field(default_factory=dict)
    templates: dict[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    lines: dict[str, bytes] = field(default_factory=dict, compare=False)


def needs(entry: Entry) -> map[int]:
    """The numbers of the facts that a file rests on; they are read only when some fact has changed."""
    return map(int, entry.needs.split())


def slip(account: Account) -> Slip:
    """What is kept of an account beside its texts."""
    said = parts(account)
    return Slip(
        account.file,
        list(said),
        sorted(account.compiled),
        sorted(account.captured),
        sorted(account.used),
        account.cells,
        [[each.region.name] for each in account.regions],
        b"\n".join(map(_dump, rows.account_rows(account, said))),
    )


def account(text: bytes) -> Account:
    """The regions and findings of a slip; raises `rows.WRONG`."""
    head, *rest = text.split(b"\n")
    return rows.account(json.loads(head), (rows.part(json.loads(each)) for each in rest))


def part(text: bytes) -> Part:
    """What a slip says of one of its files, of those of `part_texts`; raises `rows.WRONG`."""
    return rows.part(json.loads(text))


def part_texts(text: bytes) -> list[bytes]:
    """The parts of a slip as they are kept, in the order of its files."""
    return text.split(b"\n")[1:]


def page(text: bytes) -> tuple[Page, dict[str, dict[int, str]]]:
    """A page and the lines that it shows; raises `rows.WRONG`."""
    return rows.page(json.loads(text))


def page_text(page: Page, lines: Mapping[str, Mapping[int, str]]) -> bytes:
    return _dump(rows.page_row(page, lines))


def save(folder: str, file: str, tree: Tree, before: Tree, shelf: Shelf) -> bool:
    """Keep a tree in the place of another; whether that could be done."""
    texts = [*(each.text for each in tree.entries.values()), *(each.text for each in tree.pages.values())]
    try:
        places = shelf.settle(texts)
    except rows.WRONG:
        return False
    head = {
        "basis": tree.basis,
        "choices": tree.choices,
        "facts": [[*fact, path] for fact, path in tree.facts.items()],
        "looks": [[path, *look] for path, look in tree.looks.items()],
        "folders": list(tree.folders.items()),
        "around": tree.around,
        "templates": [[path, *each] for path, each in tree.templates.items()],
        "pages": [[name, *each._replace(text=places.get(each.text, each.text))] for name, each in tree.pages.items()],
    }
    is_kept = store.write(folder, file, _dump(head), *_entry_lines(tree, before, places))
    if is_kept:
        # Only now does nothing lead to what lay elsewhere.
        shelf.tidy(places.get(each, each) for each in texts)
    return is_kept


def _entry_lines(tree: Tree, before: Tree, places: Mapping[Text, Text]) -> Iterable[bytes]:
    for name, each in tree.entries.items():
        yield b"\n"
        is_same = before.entries.get(name) is each and each.text not in places
        yield before.lines[name] if is_same else _dump(each._replace(text=places.get(each.text, each.text)))


def load(folder: str, file: str, basis: str) -> Tree | None:
    """What was kept; None if there is nothing, nothing that can be read, or nothing that rests on the same."""
    body = store.read(folder, file)
    if body is None:
        return None
    try:
        head, *lines = body.split(b"\n")
        table = json.loads(head)
        return _tree(table, lines) if table["basis"] == basis else None
    except rows.WRONG:
        return None


def _tree(table: Mapping[str, Any], lines: Sequence[bytes]) -> Tree:
    entries = {each[0]: _entry(each) for each in json.loads(b"[%s]" % b",".join(lines))}
    return Tree(
        table["basis"],
        table["choices"],
        {(root, name): path for root, name, path in table["facts"]},
        {path: (look, digest) for path, look, digest in table["looks"]},
        dict(map(tuple, table["folders"])),
        table["around"],
        entries,
        {name: Told(Text(*text), *rest) for name, text, *rest in table["pages"]},
        {path: (seen, classes) for path, seen, classes in table["templates"]},
        dict(zip(entries, lines, strict=True)),
    )


def _entry(row: rows.Row) -> Entry:
    row[-1] = Text(*row[-1])
    return Entry(*row)


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
