"""Trees of files that others import: functions, classes and long tables are parsed when somebody looks into them.

A model imports a hundred thousand lines and runs a few hundred, so a file in which names are only looked up is cut at
its margins first, and the body of a function stays text until it is needed.  Nothing else has to know: a node whose
fields are missing parses its own lines at the first access and is an ordinary node of `ast` from then on.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphlint.errors import Unreadable
from graphlint.record import NamedTuple
from graphlint.source import Source, content, decode, normalized, tree_of
from graphlint.syntax import BLOCKS, nested

SMALLEST = 2048
"""Characters below which a file is parsed at once: cutting it would take as long."""

LONG = 1024
"""Characters from which on what a name is bound to is left out until somebody asks for it."""

VALUE = "="
UNREADABLE = {
    "class": "class {}: pass",
    "def": "def {}(*args, **kwargs): return __unreadable__",
    VALUE: "_ = __unreadable__",
}
"""What stands for text that does not parse."""

TOKEN = re.compile(
    r"\"\"\"[^\"\\]*(?:(?:\\.|\"(?!\"\"))[^\"\\]*)*\"\"\"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r"|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|#[^\n]*",
    re.DOTALL,
)
"""Strings and comments: only a string can hold a line that looks like the beginning of a statement."""

TOP = re.compile(r"\n(?=[^\s#)\]}])")
BEGIN = re.compile(r"[ \t]*(?:(@)|(async[ \t]+def|def|class)[ \t]+(\w+))")
STORE = re.compile(
    r"\.(\w+)[ \t]*(?:(?:[-+*/%&|^@]|//|\*\*|>>|<<)?=(?!=)|:|in\b"
    r"|([,)\]])(?=[^\n]*[^=!<>\n]=(?!=)|[^\n]*\bin\b|[^\n]*:$))",
    re.MULTILINE,
)
"""An attribute that is bound; what another name follows is one only if what stands before is a list of targets."""

PARTS = re.compile(
    r"[ \t]*(?:for[ \t]|async[ \t]for[ \t]|with[ \t].*\bas[ \t])?"
    r"[(\[*\s]*(?:[\w.\[\]]+[ \t]*,[ \t]*[(\[*\s]*)*[\w.]*"
)
ATTRIBUTE = re.compile(r"\.(\w+)")
# These begin with a line feed and not with `^`: such a search need not try every character.
LONG_TARGET = re.compile(r"\n[ \t]*[)\]][ \t,)\]]*=(?!=)")
METHOD = re.compile(r"\n([ \t]+)(?:@|def[ \t]|async[ \t]+def[ \t])")
TABLE = re.compile(r"\w+[ \t]*(?::[^=\n]*)?=[ \t]*(?=[^=\n]*[(\[{][ \t]*\n)")
TABLE_END = re.compile(r"\n[)\]}]+[ \t]*(?=\n|$)")
MARK = re.compile(r"^[ \t]*@[ \t]*([^\W\d]\w*(?:\.[^\W\d]\w*)*)", re.MULTILINE)
CLOSING = re.compile(r"\n[)\]}]")


def outlined(path: Path, name: str) -> Source:
    """Read a file for what others import from it; raises `Unreadable`."""
    text = normalized(decode(content(path)))
    return Source(path, name, text, outline(text))


def outline(text: str) -> ast.Module:
    """The tree of a file, with functions and classes that parse themselves; raises `Unreadable`."""
    if len(text) < SMALLEST:
        return tree_of(text)
    file = File(text)
    try:
        return file.split(Cut("", "", "", 0, -1, len(text), 0), TOP)
    except Unreadable:
        # Cut at the wrong place, or broken: the whole says which.
        return tree_of(text)


def mentions(node: ast.AST, word: str) -> bool:
    """Whether a word may stand below a node; asking does not parse it."""
    pending: Pending | None = node.__dict__.get("pending")
    if pending is None:
        return True
    return pending.file.text.find(word, pending.cut.start, pending.cut.end) >= 0


def marks(node: ast.ClassDef) -> list[ast.expr]:
    """What a class is decorated with, calls without what they are given where it was not parsed yet."""
    pending: Pending | None = node.__dict__.get("pending")
    if pending is None:
        return node.decorator_list
    above = pending.file.text[pending.cut.start : pending.cut.at]
    return [ast.parse(name, mode="eval").body for name in MARK.findall(above)]


def may_bind(node: ast.AST) -> frozenset[str] | None:
    """The attributes that code below a node may bind, which is not parsed for that; None if it has been parsed."""
    pending: Pending | None = node.__dict__.get("pending")
    return None if pending is None else frozenset(_assigned(pending.file.text, pending.cut))


def _assigned(text: str, cut: Cut) -> Iterator[str]:
    if LONG_TARGET.search(text, cut.start, cut.end):
        yield from (found[1] for found in ATTRIBUTE.finditer(text, cut.start, cut.end))
        return
    for found in STORE.finditer(text, cut.start, cut.end):
        if not found[2] or PARTS.fullmatch(text, text.rfind("\n", 0, found.start()) + 1, found.start()):
            yield found[1]


class Cut(NamedTuple):
    """A definition in a text: characters `start` to `end`, its keyword on character `at`, `above` lines before it."""

    kind: str
    name: str
    margin: str
    start: int
    at: int
    end: int
    above: int


class File:
    """The text of one file, cut into definitions."""

    def __init__(self, text: str) -> None:
        self.text = text
        strings = [found.span() for found in TOKEN.finditer(text) if "\n" in found[0]]
        self._opens = [start for start, _ in strings]
        self._closes = [end for _, end in strings]
        self._whole: ast.Module | None = None

    def split(self, whole: Cut, edge: re.Pattern[str]) -> ast.Module:
        """Parse a stretch of text without the definitions that begin at `edge`, and put nodes for those in."""
        cuts = {cut.above + 1: cut for cut in self._cuts(whole, edge)}
        parts, last = ["\n" * whole.above], whole.start
        for cut in cuts.values():
            kept = self.text[cut.start : cut.at] + "0" if cut.kind == VALUE else f"{cut.margin}pass"
            parts += (self.text[last : cut.start], kept, "\n" * self.text.count("\n", cut.start, cut.end))
            last = cut.end
        tree = tree_of("".join((*parts, self.text[last : whole.end])))
        for body in _bodies(tree):
            body[:] = [self._node(cuts[node.lineno], node) if node.lineno in cuts else node for node in body]
        return tree

    def _cuts(self, whole: Cut, edge: re.Pattern[str]) -> Iterator[Cut]:
        """The definitions of a stretch, with their decorators."""
        begins = (whole.start, *(found.end() for found in edge.finditer(self.text, whole.start, whole.end)))
        edges = [start for start in begins if self._is_code(start)]
        first, above, counted = -1, whole.above, whole.start
        for start, end in zip(edges, [*edges[1:], whole.end]):
            found = BEGIN.match(self.text, start)
            if found is None or start == whole.at:
                first = -1
                if end - start > LONG and whole.at < 0 and (at := self._table(start, end)):
                    above, counted = above + self.text.count("\n", counted, start), start
                    yield Cut(VALUE, "", "", start, at, end, above)
            elif found[1]:
                first = start if first < 0 else first
            else:
                first = start if first < 0 else first
                above, counted = above + self.text.count("\n", counted, first), first
                margin = self.text[start : found.start(2)]
                yield Cut(found[2][:5], found[3], margin, first, start, end, above)
                first = -1

    def _is_code(self, at: int) -> bool:
        inside = bisect_left(self._opens, at) - 1
        return inside < 0 or self._closes[inside] <= at

    def _table(self, start: int, end: int) -> int:
        """Where the value begins in a stretch that is one assignment to a name and nothing else; 0 if it is not."""
        found = TABLE.match(self.text, start, end)
        closed = CLOSING.search(self.text, start, end)
        if not found or not closed or not TABLE_END.match(self.text, closed.start(), end):
            return 0
        return 0 if CLOSING.search(self.text, closed.end(), end) else found.end()

    def _node(self, cut: Cut, stands: ast.stmt) -> ast.stmt:
        """The node for a definition that is still text, and for what stands in its place."""
        if isinstance(stands, (ast.Assign, ast.AnnAssign)) and cut.kind == VALUE:
            for name in ("value", "end_lineno", "end_col_offset"):
                delattr(stands, name)
            stands.__class__ = TABLES[type(stands)]
            stands.__dict__["pending"] = Pending(self, cut)
            return stands
        if not isinstance(stands, ast.Pass):
            return stands
        # Called, the class would complain of the fields that are still missing.
        node = ast.AST.__new__(KINDS[cut.kind])
        node.name = cut.name
        node.lineno = cut.above + 1 + self.text.count("\n", cut.start, cut.at)
        node.col_offset = len(cut.margin)
        node.__dict__["pending"] = Pending(self, cut)
        return node

    def parsed(self, cut: Cut) -> ast.stmt:
        """The node of a definition; what does not parse is a function that nothing is known of."""
        try:
            if cut.kind == "class":
                found = self._class(cut).body
            elif cut.margin:
                text = "\n" * (cut.above - 1) + "if 1:\n" + self.text[cut.start : cut.end]
                found = tree_of(text).body[0].body  # type: ignore[attr-defined]  # the `if` of the line above
            else:
                found = tree_of("\n" * cut.above + self.text[cut.start : cut.end]).body
            if len(found) == 1 and (cut.kind == VALUE or getattr(found[0], "name", "") == cut.name):
                return found[0]
        except Unreadable:
            pass
        return self._from_whole(cut)

    def _class(self, cut: Cut) -> ast.Module:
        """A class whose methods are still text."""
        margins = [found[1] for found in METHOD.finditer(self.text, cut.at, cut.end) if self._is_code(found.start())]
        width = min(map(len, margins), default=0)
        edge = re.compile(rf"\n(?=[ \t]{{0,{width}}}[^\s#)\]}}])")
        tree = self.split(cut, edge)
        node = tree.body[0]
        if isinstance(node, ast.ClassDef) and "pending" in node.body[-1].__dict__:
            node.end_lineno, node.end_col_offset = self._last(cut)
        return tree

    def _last(self, cut: Cut) -> tuple[int, int]:
        """Line and column where the code of a definition ends."""
        lines = self.text[cut.start : cut.end].split("\n")
        while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
            lines.pop()
        code = lines[-1].rstrip()
        return cut.above + len(lines), len(code.encode())

    def _from_whole(self, cut: Cut) -> ast.stmt:
        line = cut.above + 1 + self.text.count("\n", cut.start, cut.at)
        try:
            self._whole = self._whole or tree_of(self.text)
            for node in nested(self._whole.body):
                if isinstance(node, ast.stmt) and getattr(node, "name", "") == cut.name and node.lineno == line:
                    return node
        except Unreadable:
            pass
        return tree_of("\n" * (line - 1) + UNREADABLE.get(cut.kind, UNREADABLE["def"]).format(cut.name)).body[0]


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Every list of statements of a tree."""
    for node in (tree, *nested(tree.body)):
        for field in BLOCKS[type(node)]:
            found = getattr(node, field, None)
            if isinstance(found, list):
                yield found


class Pending(NamedTuple):
    """Where the text of a node is."""

    file: File
    cut: Cut


class Late:
    """What a node is as long as its fields are missing."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        pending: Pending = self.__dict__["pending"]
        if name == "decorator_list" and pending.cut.start == pending.cut.at:
            return []
        if name in self._fields or name in ("end_lineno", "end_col_offset"):
            return getattr(fill(self), name)
        raise AttributeError(name)


def fill(node: Any) -> Any:
    """Parse the lines of a node and make it an ordinary one."""
    pending: Pending = node.__dict__["pending"]
    found = pending.file.parsed(pending.cut)
    node.__class__ = type(found)
    # What stood there already may be known to somebody, such as the names that a table is bound to.
    kept = {name: part for name, part in node.__dict__.items() if name != "pending"}
    node.__dict__.clear()
    node.__dict__.update({**found.__dict__, **kept})
    return node


def _late(name: str) -> property:
    """A field that `ast` gives a default, so that asking for it would not be noticed."""
    return property(lambda node: getattr(fill(node), name))


class FunctionDef(ast.FunctionDef, Late):
    """A function still to be parsed; called as in `ast`, for visitors go by the name of the class."""

    __slots__ = ()
    returns, type_comment, end_lineno, end_col_offset = map(
        _late, ("returns", "type_comment", "end_lineno", "end_col_offset")
    )


class AsyncFunctionDef(ast.AsyncFunctionDef, Late):
    """An asynchronous function still to be parsed."""

    __slots__ = ()
    returns, type_comment, end_lineno, end_col_offset = map(
        _late, ("returns", "type_comment", "end_lineno", "end_col_offset")
    )


class ClassDef(ast.ClassDef, Late):
    """A class still to be parsed."""

    __slots__ = ()
    end_lineno, end_col_offset = _late("end_lineno"), _late("end_col_offset")


class Assign(ast.Assign, Late):
    """A name bound to a table that is still to be parsed."""

    __slots__ = ()
    end_lineno, end_col_offset = _late("end_lineno"), _late("end_col_offset")


class AnnAssign(ast.AnnAssign, Late):
    """The same with an annotation."""

    __slots__ = ()
    value, end_lineno, end_col_offset = _late("value"), _late("end_lineno"), _late("end_col_offset")


TABLES: dict[type[ast.stmt], type[Assign | AnnAssign]] = {ast.Assign: Assign, ast.AnnAssign: AnnAssign}
KINDS: dict[str, type[FunctionDef | AsyncFunctionDef | ClassDef]] = {
    "def": FunctionDef,
    "async": AsyncFunctionDef,
    "class": ClassDef,
}
