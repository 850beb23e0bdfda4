"""Where dotted names are looked up: below the folder that the asking file's package lies in, then below those of the
other files of a run.

The roots belong to the run and not to a batch of its files, so what a name means does not depend on how files are
shared out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

DEEPEST_ROOT = 8
Parts = Callable[[str], Collection[str] | None]
"""The parts of a library, as far as they are known; None for what is no library whose calls are known."""


def no_library(name: str) -> None:
    """Knows no library but those of Python."""


class Roots:
    """The first folders upwards from some files that are no packages, sorted.

    What is a library by its name stands for itself where it is imported in a package, whatever lies beside.
    """

    def __init__(self, paths: Iterable[Path], libraries: Parts = no_library) -> None:
        self._libraries = libraries
        self._packages: dict[Path, tuple[Path, tuple[str, ...]]] = {}
        self._listed: dict[Path, frozenset[str]] = {}
        self._around: dict[tuple[Path, str], tuple[Path, ...]] = {}
        self._given: dict[Path, set[str]] = {}
        self._outer: dict[Path, Path | None] = {}
        beside: dict[str, set[str]] = {}
        for path in map(str, paths):
            beside.setdefault(os.path.dirname(path), set()).add(path)
        for folder, files in beside.items():
            root, parts = self._package(Path(folder))
            self._given.setdefault(root, set()).update(parts[:1] or map(_stem, files))
        self.folders = tuple(sorted(self._given))

    def package_of(self, path: Path) -> tuple[Path, list[str]]:
        """(root folder, dotted parts) of a file.

        A folder without an `__init__.py` inside a package is a part of it by name, and a root: its files may be scripts.
        """
        root, parts = self._package(path.parent)
        parts = parts or self._within(root)
        return root, [*parts, *([] if path.name == "__init__.py" else [path.stem])]

    def _package(self, folder: Path) -> tuple[Path, tuple[str, ...]]:
        if folder not in self._packages:
            if folder == folder.parent or not os.path.isfile(folder / "__init__.py"):
                self._packages[folder] = folder, ()
            else:
                root, parts = self._package(folder.parent)
                self._packages[folder] = root, (*parts, folder.name)
        return self._packages[folder]

    def _within(self, folder: Path) -> tuple[str, ...]:
        """The dotted parts of a folder that is no package, but lies in one."""
        outer = self._package_around(folder)
        parts = (*self._package(outer)[1], *folder.relative_to(outer).parts) if outer is not None else ()
        return parts if all(part.isidentifier() for part in parts) else ()

    def candidates(self, name: str, home: Path) -> Iterator[tuple[Path, Path]]:
        """The files that a dotted name can stand for, the likeliest first, each with its root."""
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return
        for root in self._holding(parts[0], home):
            file = root.joinpath(*parts)
            yield file / "__init__.py", root
            yield file.with_name(parts[-1] + ".py"), root

    def folders_of(self, names: Iterable[tuple[str, str]]) -> frozenset[str]:
        """The folders in which names, each with its home, come to stand for other files when an entry comes or goes."""
        found = {str(root) for root in self.folders}
        found.update(str(each) for root in self.folders for each in self._up_to_package(root))
        there: dict[Path, Path] = {}
        for home, name in names:
            for candidate, below in self.candidates(name, Path(home)):
                found.update((str(below), str(_nearest(candidate.parent, there))))
        return frozenset(found)

    def _holding(self, first: str, home: Path) -> tuple[Path, ...]:
        """The folders in which a name can begin."""
        key = (home, first)
        if key not in self._around:
            roots = dict.fromkeys((home, *self.folders))
            # What lies in a package is imported by the package's name, whatever a folder on the way lacks.
            open_ = (root for root in roots if self._is_open(root, root == home, first))
            # The folder around a namespace package: one above the files that is called what an import begins with.
            around = (folder for root in roots for folder in (root, *list(root.parents)[:DEEPEST_ROOT]))
            above = [folder.parent for folder in around if folder.name == first]
            inside = [root for root in open_ if not self._names(root).isdisjoint((first, f"{first}.py"))]
            found = dict.fromkeys((*inside, *above))
            self._around[key] = tuple(root for root in found if self._may_be(root / first))
        return self._around[key]

    def _may_be(self, folder: Path) -> bool:
        """Whether a folder may be what it is called like: one for code about a library has few of the library's parts."""
        parts = () if folder.name in sys.stdlib_module_names else self._libraries(folder.name) or ()
        names = self._names(folder) if parts else frozenset()
        return 2 * sum(each in names or f"{each}.py" in names for each in parts) >= len(parts)

    def _is_open(self, root: Path, is_home: bool, first: str) -> bool:
        """Whether an import may find what lies in a root: inside a package, what scripts of the same folder import."""
        is_inside = self._package_around(root) is not None
        if is_home:
            return not (is_inside and (first in sys.stdlib_module_names or self._libraries(first) is not None))
        return not (is_inside or first in sys.stdlib_module_names)

    def _package_around(self, root: Path) -> Path | None:
        """The package that a folder without an `__init__.py` lies in, if it lies in one."""
        if root not in self._outer:
            above = list(root.parents)[:DEEPEST_ROOT]
            self._outer[root] = next((each for each in above if os.path.isfile(each / "__init__.py")), None)
        return self._outer[root]

    def _up_to_package(self, root: Path) -> Iterator[Path]:
        """The folders that decide it."""
        outer = self._package_around(root)
        for each in root.parents if outer is not None else ():
            yield each
            if each == outer:
                return

    def _names(self, folder: Path) -> frozenset[str]:
        if folder not in self._listed:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            # What an editor holds need not be on disk yet.
            self._listed[folder] = frozenset((*names, *self._given.get(folder, ())))
        return self._listed[folder]


def _stem(path: str) -> str:
    """The name under which a file in no package is imported."""
    return os.path.splitext(os.path.basename(path))[0]


def _nearest(folder: Path, known: dict[Path, Path]) -> Path:
    """The innermost folder that is there, of one and those around it."""
    if folder not in known:
        known[folder] = folder if os.path.isdir(folder) or folder == folder.parent else _nearest(folder.parent, known)
    return known[folder]
