"""Files that are generated from others: what runs is the generated file, so its template is not checked beside it.

A generated file says so in the comments or the docstring it begins with: "generated from `models/modular_x.py`".  Where
every class of a template stands in files of the run that were made from it, the template is left to them, or everything
would be told twice, and half of it about code that nobody runs.  Otherwise it is checked as any file.  Whether a generated
file parses shows only when it is read, so the rare run in which one does not is made again without it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from graphlint.discover import Discovery, Found
from graphlint.record import NamedTuple

HEAD = 4096
"""Bytes of a file in which it may say that it was generated."""

_CODE = re.compile(
    rb"^(?:import\s+\w|from\s+[\w.]+\s+import\b|class\s+\w+\s*[(:]|(?:async\s+)?def\s+\w+\s*\(|try:|\w+\s*=)", re.M
)
_SAID = re.compile(r"\bgenerated\b[^.;]{0,60}?\bfrom\s+(?:the\s+)?[`'\"<(]?([\w./\\-]+\.py)\b", re.IGNORECASE)
_CLASS = re.compile(rb"^class\s+(\w+)", re.M)


class Made(NamedTuple):
    """A generated file: what it was generated from, as it is named there, and its classes."""

    origin: str
    classes: Sequence[str]


WRITTEN = Made("", ())
"""A file that does not say it was generated."""


def made(found: Found, unsaved: Mapping[str, bytes] = MappingProxyType({})) -> Made:
    """What a file says of itself; of one that cannot be read nothing, as that is told elsewhere."""
    data = unsaved.get(os.path.abspath(found.path)) if unsaved else None
    named = origin(_begin(found) if data is None else data)
    return Made(named, classes(found, unsaved)) if named else WRITTEN


def classes(found: Found, unsaved: Mapping[str, bytes] = MappingProxyType({})) -> list[str]:
    """The names of the classes of a file."""
    data = unsaved.get(os.path.abspath(found.path)) if unsaved else None
    return [each.decode() for each in _CLASS.findall(_lines(_begin(found, -1) if data is None else data))]


def _lines(text: bytes) -> bytes:
    """A text whose lines all end as those of expressions do."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _begin(found: Found, size: int = HEAD) -> bytes:
    try:
        with open(found.path, "rb", 0, opener=_without_waiting) as stream:
            return stream.read(size) or b""
    except (OSError, ValueError):
        return b""


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe to which nobody writes would be waited for without end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def origin(text: bytes) -> str:
    """The file from which a text says that it was generated, as it is named there; empty if it says nothing of it."""
    head = text[:HEAD]
    if b"enerated" not in head and b"GENERATED" not in head:
        return ""
    head = _lines(head)
    code = _CODE.search(head)
    said = (head[: code.start()] if code else head).decode(errors="replace")
    found = _SAID.search(" ".join(line.lstrip("# \t") for line in said.splitlines()))
    return found[1].replace("\\", "/") if found else ""


def without_templates(
    discovery: Discovery,
    say: Callable[[Found], Made],
    define: Callable[[Found], Collection[str]],
    broken: Collection[str] = (),
) -> Discovery:
    """Leave the templates among the files to what was generated from them; `say` and `define` are `made` and `classes`.

    Nothing is left to a `broken` file, which an earlier pass over the same files could not parse.
    """

    def told(found: Found) -> Made:
        said = say(found)
        return WRITTEN if found.name in broken else said

    # A template without classes may capture by other means, which nothing shows to be in what was made from it.
    templates = [(found, there, define(found)) for found, there in _templates(discovery.files, told)]
    left = {found.name for found, there, names in templates if names and there.issuperset(names)}
    files = tuple(each for each in discovery.files if each.name not in left)
    return discovery._replace(files=files, templates=tuple(sorted(left)))


def _templates(files: Sequence[Found], say: Callable[[Found], Made]) -> Iterator[tuple[Found, set[str]]]:
    """The files from which others were generated, with the classes that stand in these."""
    paths = {str(each.path): each for each in files}
    there: dict[str, set[str]] = {}
    origins: dict[str, str] = {}
    for each in files:
        said = say(each)
        if said.origin and (path := _template(str(each.path), said.origin, paths)):
            there.setdefault(path, set()).update(said.classes)
            origins[str(each.path)] = path
    return ((paths[path], names) for path, names in there.items() if not _comes_back(path, origins))


def _comes_back(path: str, origins: Mapping[str, str]) -> bool:
    """Whether files say that they were generated from one another: none of them is a template then."""
    seen: set[str] = set()
    here = origins.get(path, "")
    while here and here != path and here not in seen:
        seen.add(here)
        here = origins.get(here, "")
    return here == path


def _template(path: str, named: str, paths: Collection[str]) -> str:
    """The file that is meant: below a folder around the generated file, or beside it under the same name."""
    return next((each for each in _meant(path, os.path.normpath(named)) if each != path and each in paths), "")


def _meant(path: str, named: str) -> Iterator[str]:
    """The innermost folder comes first.  Texts, and no paths made of them: every generated file is asked about."""
    inner = folder = os.path.dirname(path)
    while True:
        joined = os.path.join(folder, named)
        yield os.path.normpath(joined) if named.startswith(os.pardir) else joined
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            break
    yield os.path.join(inner, os.path.basename(named))
