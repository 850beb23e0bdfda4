"""Which files say that they were generated, and which classes their templates have: read anew only where a file changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphlint import generated
from graphlint.cache import witness
from graphlint.cache.looks import Looks
from graphlint.cache.tree import Tree
from graphlint.discover import Found
from graphlint.generated import Made


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
