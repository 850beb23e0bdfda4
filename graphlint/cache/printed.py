"""What a run printed, for the same command over an unchanged tree, and for the parts of it that did not change.

    <exit status> <whether it may be repeated> <number of witnesses> <number of pieces>
    <what was seen> TAB <path>          one line a witness
    <key> <first> <last>                one line a piece: the characters of the output that tell of one file
    <output>

A witness is everything that the run looked at: the files it read, the folders it listed, where it looked for something
that was not there, and the files of graphlint and its rules themselves.  A piece is good for as long as its key is met,
whatever else has changed.
"""

from __future__ import annotations

from graphlint.cache import store, witness

TYPE_CHECKING = False  # as in `graphlint`: a repeated check imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ENDING = ".printed"
CODING = ("utf-8", "surrogateescape")


class Printed:
    """What a run wrote, how it ended, the pieces of that by their keys, and whether all that it saw still holds."""

    def __init__(self, status: int, text: str, pieces: Mapping[str, str] | None = None, holds: bool = True) -> None:
        self.status, self.text, self.pieces, self.holds = status, text, pieces or {}, holds


def load(folder: str, file: str) -> Printed | None:
    """The output of an earlier run; None if there was none."""
    body = store.read(folder, file)
    if body is None:
        return None
    try:
        head, _, rest = body.partition(b"\n")
        status, repeats, count, number = map(int, head.split(b" "))
        *rows, last = rest.split(b"\n", count + number)
        text = last.decode(*CODING)
        seen = {path: words for words, _, path in (row.decode(*CODING).partition("\t") for row in rows[:count])}
        if len(rows) != count + number:
            return None
        holds = bool(repeats) and next(witness.changed(seen), None) is None
        return Printed(status, text, {} if holds else _pieces(rows[count:], text), holds)
    except ValueError:
        return None


def _pieces(rows: Iterable[bytes], text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        key, first, last = row.decode("ascii").split(" ")
        found[key] = text[int(first) : int(last)]
    return found


def is_settled(seen: Mapping[str, str], when: int) -> bool:
    """Whether all that was seen, at a time in ns, had been so for long enough, and can be written down."""
    return all(witness.is_settled(words, when) for words in seen.values()) and not any("\n" in path for path in seen)


def save(folder: str, file: str, printed: Printed, seen: Mapping[str, str]) -> bool:
    """Keep an output, and what was seen if that holds; whether that could be done."""
    witnesses = [f"{words}\t{path}\n" for path, words in sorted(seen.items())] if printed.holds else []
    pieces = list(_places(printed))
    head = f"{printed.status} {int(printed.holds)} {len(witnesses)} {len(pieces)}\n"
    parts = (head, *witnesses, *pieces, printed.text)
    return store.write(folder, file, "".join(parts).encode(*CODING))


def _places(printed: Printed) -> Iterator[str]:
    """Where pieces are, which were written in their order."""
    last = 0
    for key, piece in printed.pieces.items():
        first = printed.text.find(piece, last)
        if first >= 0:
            last = first + len(piece)
            yield f"{key} {first} {last}\n"
