"""Which files a run reads: the given files as they are, and the Python files below the given folders.

Stubs hold no code and are never read.  Below a folder these are left out: hidden folders, virtual environments, what
`.gitignore` files and `exclude` patterns name, and folders that are symbolic links (their target is read where it lies,
and a loop cannot form).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from graphlint.errors import UsageError, why
from graphlint.record import NamedTuple

SUFFIXES = (".py", ".ipynb")
STUB = ".pyi"
IGNORE_FILE = ".gitignore"
REPOSITORY = ".git"
SKIPPED = frozenset({"__pycache__", "node_modules", "__pypackages__"})
VENV_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})


class Found(NamedTuple):
    """A file to read, and its name in reports: relative to the working folder if below it, else as given."""

    path: Path
    name: str


class Refused(NamedTuple):
    """A folder that could not be listed, and why."""

    name: str
    reason: str


class Discovery(NamedTuple):
    """What is to be read, sorted by name; `empty` are the given folders in which nothing was found.

    `looked` are the folders that were listed, and the ignore files and repositories that were looked for, there or not;
    `passed` are files that were given and are not read, with the reason; `templates` are those that are left to the files
    that were generated from them.
    """

    files: tuple[Found, ...]
    refused: tuple[Refused, ...]
    empty: tuple[str, ...]
    looked: tuple[str, ...] = ()
    passed: tuple[Refused, ...] = ()
    templates: tuple[str, ...] = ()


class Spec(Protocol):
    """A compiled list of gitignore patterns."""

    def check_file(self, file: str) -> Verdict: ...


class Verdict(Protocol):
    """True: left out; False: kept by a `!` pattern; None: no pattern matches."""

    @property
    def include(self) -> bool | None: ...


class Patterns(NamedTuple):
    """Patterns and the folder they are relative to, as a prefix ending in a separator."""

    base: str
    spec: Spec


def discover(paths: Sequence[str], exclude: Sequence[str] = (), base: Path | None = None) -> Discovery:
    """The files under `paths`; `exclude` holds gitignore patterns relative to `base`, the working folder by default.

    Raises `UsageError` for a path that is not there.
    """
    here = os.path.join(os.path.abspath(base or "."), "")
    excluded = (Patterns(here, compiled(exclude)),) if exclude else ()
    files: dict[str, Found] = {}
    refused: list[Refused] = []
    empty: list[str] = []
    looked: list[str] = []
    passed: list[Refused] = []
    for path in paths:
        if os.path.isdir(path):
            found = list(_walk(path, excluded, refused, looked))
            if not found:
                empty.append(reported(path))
        else:
            found = [(_given(path), os.path.realpath(path))]
            if path.endswith(STUB):
                passed.append(Refused(found.pop()[0].name, "is a stub, which holds no code"))
        for each, real in found:
            # Of several names for one file the one that is no link is reported.
            if real not in files or str(each.path) == real:
                files[real] = each
    ordered = sorted(files.values(), key=lambda each: each.name)
    return Discovery(tuple(ordered), tuple(sorted(refused)), tuple(empty), tuple(looked), tuple(passed))


def excludes(found: Found, exclude: Sequence[str], base: Path) -> bool:
    """Whether the patterns leave out a file that was named on the command line."""
    here = os.path.join(os.path.abspath(base), "")
    return _left_out(os.path.abspath(found.path), (Patterns(here, compiled(exclude)),))


def _given(path: str) -> Found:
    if not path:
        raise UsageError("an empty path was given", "`.` stands for the working folder")
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        hint = "give files or folders, such as `graphlint check src`"
        raise UsageError(f"`{reported(path)}` does not exist", hint) from None
    except (OSError, ValueError):
        pass  # it is there as far as anybody can see, and that it cannot be read is told like any other that cannot
    return Found(Path(path), reported(path))


def reported(path: str) -> str:
    """A path as reports name it; bytes that are not UTF-8 are replaced."""
    here = os.getcwd()
    full, below = os.path.abspath(path), os.path.join(here, "")
    name = full.removeprefix(below) if full.startswith(below) else "." if full == here else os.path.normpath(path)
    return _told(name)


def _told(name: str) -> str:
    return (name if name.isascii() else os.fsencode(name).decode(errors="replace")).replace(os.sep, "/")


def _walk(
    root: str, excluded: tuple[Patterns, ...], refused: list[Refused], looked: list[str]
) -> Iterator[tuple[Found, str]]:
    """The files below a folder, each with its real path."""
    stack = [(os.path.abspath(root), (*excluded, *_above(os.path.abspath(root), looked)))]
    prefix, start = reported(root), os.path.join(stack[0][0], "")
    real = os.path.join(os.path.realpath(root), "")
    here = os.path.join(os.getcwd(), "")
    while stack:
        folder, patterns = stack.pop()
        looked.append(folder)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            refused.append(Refused(reported(folder), f"cannot be listed: {why(error)}"))
            continue
        names = {entry.name for entry in entries}
        if VENV_MARKS & names and folder + os.sep != start:
            continue
        if IGNORE_FILE in names:
            patterns = (*patterns, *_ignore_file(folder, looked))
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not _is_skipped(entry.name) and not _left_out(entry.path + os.sep, patterns):
                    stack.append((entry.path, patterns))
            elif entry.name.endswith(SUFFIXES) and not _is_passed_over(entry) and not _left_out(entry.path, patterns):
                below = entry.path.removeprefix(start)
                # Folders behind links are not entered, so only the last part of a path can be one.
                # The folder may contain the working folder, below which names are relative to it all the same.
                name = _told(entry.path.removeprefix(here)) if entry.path.startswith(here) else _joined(prefix, below)
                yield Found(Path(entry.path), name), _real(entry, real + below)


def _real(entry: os.DirEntry[str], path: str) -> str:
    return os.path.realpath(entry.path) if entry.is_symlink() else path


def _joined(prefix: str, below: str) -> str:
    name = _told(below)
    return name if prefix == "." else f"{prefix.rstrip('/')}/{name}"


def _is_passed_over(entry: os.DirEntry[str]) -> bool:
    """Folders behind links, and hidden links, such as the locks that editors leave."""
    if entry.name.startswith(".") and entry.is_symlink():
        return True
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads nowhere is told when it is read


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in SKIPPED


def _left_out(path: str, patterns: tuple[Patterns, ...]) -> bool:
    """The innermost pattern that speaks of a path decides, as in git."""
    for base, spec in reversed(patterns):
        if path.startswith(base):
            verdict = spec.check_file(path[len(base) :].replace(os.sep, "/")).include
            if verdict is not None:
                return verdict
    return False


def _above(folder: str, looked: list[str]) -> tuple[Patterns, ...]:
    """The ignore files of the folders that contain `folder`, up to the repository's root, outermost first.

    Where they leave out the folder itself they do not hold: who names it wants to see it, as a library in an environment.
    """
    found: list[Patterns] = []
    parent = folder
    while not os.path.exists(_looked_at(os.path.join(parent, REPOSITORY), looked)):
        parent, below = os.path.dirname(parent), parent
        if parent == below:
            return ()
        found[:0] = _ignore_file(parent, looked)
    return () if _left_out(os.path.join(folder, ""), tuple(found)) else tuple(found)


def _looked_at(path: str, looked: list[str]) -> str:
    looked.append(path)
    return path


def _ignore_file(folder: str, looked: list[str]) -> tuple[Patterns, ...]:
    path = _looked_at(os.path.join(folder, IGNORE_FILE), looked)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return ()
    return (Patterns(os.path.join(folder, ""), _tolerant(lines)),)


def compiled(patterns: Sequence[str]) -> Spec:
    """Compile gitignore patterns; raises `UsageError` for a line that is none."""
    try:
        return _spec(patterns)
    except ValueError:
        said = next(each for each in patterns if not _is_pattern(each))
        hint = "`exclude` and `per-file-ignores` take patterns as in a .gitignore file"
        raise UsageError(f"`{said}` is no pattern for files", hint) from None


def _spec(patterns: Sequence[str]) -> Spec:
    """Compile patterns; raises `ValueError` for a line that is none."""
    import re  # these here because they take 20 ms and only folders with patterns need them

    import pathspec

    try:
        spec: Spec = pathspec.GitIgnoreSpec.from_lines(patterns)
    except re.error as error:  # a range that runs backwards
        raise ValueError(str(error)) from None
    return spec


def _tolerant(patterns: Sequence[str]) -> Spec:
    """Compile what is a pattern and skip what is none, as git does."""
    try:
        return _spec(patterns)
    except ValueError:
        return _spec([pattern for pattern in patterns if _is_pattern(pattern)])


def _is_pattern(line: str) -> bool:
    try:
        _spec([line])
    except ValueError:
        return False
    return True
