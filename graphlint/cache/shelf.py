"""Texts of a tree that are seldom asked for: they lie in packs beside it, and a run adds a pack with what is new.

A text is read by itself, and believed only if it has the digest that the tree knows.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphlint.cache import store, witness
from graphlint.record import NamedTuple

ENDING = ".rows"
MOST = 12
"""Packs of a tree from which on the small ones become one."""


class Text(NamedTuple):
    """Where a text lies; one without a pack is new."""

    digest: str
    pack: str = ""
    start: int = 0
    length: int = 0


class Shelf:
    """The texts of one tree."""

    def __init__(self, folder: str, stem: str) -> None:
        self._folder = folder
        self._stem = stem
        self._fresh: dict[str, bytes] = {}

    def add(self, text: bytes) -> Text:
        """Take in a text, which is written when the shelf settles; gives where it will be found."""
        digest = witness.digest(text)
        self._fresh[digest] = text
        return Text(digest)

    def read(self, text: Text) -> bytes:
        """What was taken in; raises `ValueError` for what is no longer there, or not as it was."""
        if not text.pack:
            return self._fresh[text.digest]
        found = store.part(self._folder, text.pack, text.start, text.length)
        if witness.digest(found) != text.digest:
            raise ValueError(f"`{text.pack}` is damaged")
        return found

    def settle(self, texts: Iterable[Text]) -> dict[Text, Text]:
        """Write what is new, and give the places of all texts that have another one then; raises `ValueError`."""
        every = list(texts)
        crowded = self._crowded(every)
        moved = [each for each in dict.fromkeys(every) if not each.pack or each.pack in crowded]
        if not moved:
            return {}
        parts = list(map(self.read, moved))
        name = f"{self._stem}-{witness.digest(''.join(each.digest for each in moved).encode())[:16]}{ENDING}"
        if not store.write(self._folder, name, *parts):
            raise ValueError("nothing can be kept")
        places: dict[Text, Text] = {}
        start = 0
        for each, part in zip(moved, parts):
            places[each] = Text(each.digest, name, start, len(part))
            start += len(part)
        return places

    def tidy(self, texts: Iterable[Text]) -> None:
        """Remove the packs in which nothing is used any more."""
        store.sweep(self._folder, self._stem + "-", {each.pack for each in texts})

    def _crowded(self, texts: Iterable[Text]) -> set[str]:
        """The packs to be put together: all but the largest, if there are too many."""
        used: dict[str, int] = {}
        for each in texts:
            if each.pack:
                used[each.pack] = used.get(each.pack, 0) + each.length
        if len(used) < MOST:
            return set()
        largest = max(used, key=used.__getitem__)
        is_empty = store.size(self._folder, largest) > 2 * used[largest]
        return {pack for pack in used if pack != largest or is_empty}
