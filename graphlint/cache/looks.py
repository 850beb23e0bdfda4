"""Which files have another content than before, and which names stand for other files.

Which files say that they were generated, and which classes their templates have: read anew only where a file changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphlint import generated
from graphlint.asked import Fact
from graphlint.cache import witness
from graphlint.cache.tree import Tree
from graphlint.discover import Found
from graphlint.generated import Made
from graphlint.roots import Roots

Look = tuple[str, str]
"""What was seen of a file, and the digest of its content; empty where it proves nothing."""


class Looks:
    """The files of a run as they were when it began, beside what an earlier run saw of them.

    `seen` is what was seen of them, `changed` are those of another content, of none, or of which nothing certain was known.
    """

    def __init__(self, before: Mapping[str, Look], paths: Iterable[str], when: int) -> None:
        self._when = when
        self._before = before
        self._digests: dict[str, str] = {}
        self.seen: dict[str, str] = {}
        self.changed = frozenset(path for path in dict.fromkeys((*paths, *before)) if self._is_changed(path))

    def _is_changed(self, path: str) -> bool:
        look = self.seen[path] = witness.look(path)
        seen, digest = self._before.get(path, ("", ""))
        if look == seen:
            return False
        if digest or not witness.is_settled(look, self._when):
            self._digests[path] = witness.content(path)
        return not digest or self._digests[path] != digest

    def after(self, paths: Iterable[str]) -> dict[str, Look]:
        """What is known of files for certain when the run ends, which may have been written while it went on."""
        return {path: self._known(path) for path in sorted(paths)}

    def _known(self, path: str) -> Look:
        if path in self._before and path not in self.changed and path not in self._digests:
            return self._before[path]
        look = witness.look(path)
        if witness.is_settled(look, self._when):
            return look, self._digests.get(path) or witness.content(path)
        digest = witness.content(path)
        return "", digest if digest == self._digests.get(path) else ""


def settled(paths: Iterable[str], when: int) -> dict[str, str]:
    """What is seen of folders; of those that may change unseen, nothing."""
    looks = ((path, witness.look(path)) for path in sorted(paths))
    return {path: look if witness.is_settled(look, when) else "" for path, look in looks}


def answers(facts: Iterable[Fact], roots: Roots) -> dict[Fact, str]:
    """Which file each name stands for now."""
    is_file: dict[Path, bool] = {}

    def there(path: Path) -> bool:
        if path not in is_file:
            is_file[path] = os.path.isfile(path)
        return is_file[path]

    return {fact: _answer(fact, roots, there) for fact in facts}


def _answer(fact: Fact, roots: Roots, there: Callable[[Path], bool]) -> str:
    root, name = fact
    return next((str(path) for path, _ in roots.candidates(name, Path(root)) if there(path)), "")


@dataclass
class Writing:
    """What is known from an earlier run over a tree, and what is `said` of every file of this one."""

    before: Tree
    looks: Looks
    when: int
    said: dict[str, Made] = field(init=False, default_factory=dict)
    read: dict[str, Sequence[str]] = field(init=False, default_factory=dict)

    def made(self, found: Found) -> Made:
        """What a file says of being generated."""
        entry = self.before.entries.get(found.name)
        is_kept = entry is not None and entry.path == str(found.path) and entry.path not in self.looks.changed
        said = self.said[found.name] = Made(*entry.made) if entry is not None and is_kept else generated.made(found)
        return said

    def classes(self, found: Found) -> Sequence[str]:
        """The classes of a template."""
        path = str(found.path)
        seen, known = self.before.templates.get(path, ("", ()))
        names = self.read[path] = known if seen and seen == self.looks.seen[path] else generated.classes(found)
        return names

    def templates(self) -> dict[str, tuple[str, Sequence[str]]]:
        """What is to be kept of the templates that are left to others; of one that may change unseen, nothing."""
        looks = ((path, self.looks.seen[path]) for path in self.read)
        return {path: (look, self.read[path]) for path, look in looks if witness.is_settled(look, self.when)}
