"""What a run printed, for the same command over an unchanged tree.

    <exit status> <bytes of output> <number of witnesses>
    <what was seen> TAB <path>          one line a witness
    <output>

A witness is everything that the run looked at: the files it read, the folders it listed, where it looked for something
that was not there, and the files of graphlint and its rules themselves.
"""

from __future__ import annotations

from graphlint.cache import store, witness

TYPE_CHECKING = False  # as in `graphlint`: a repeated check imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Mapping

ENDING = ".printed"
CODING = ("utf-8", "surrogateescape")


class Printed:
    """What a run wrote, and how it ended."""

    def __init__(self, status: int, text: str) -> None:
        self.status, self.text = status, text


def load(folder: str, file: str) -> Printed | None:
    """The output of an earlier run; None if there was none, or if anything it saw has changed."""
    body = store.read(folder, file)
    if body is None:
        return None
    try:
        head, _, rest = body.partition(b"\n")
        status, out, count = map(int, head.split(b" "))
        *rows, text = rest.split(b"\n", count)
        seen = {path: words for words, _, path in (row.decode(*CODING).partition("\t") for row in rows)}
        if len(rows) != count or len(text) != out or next(witness.changed(seen), None) is not None:
            return None
    except ValueError:
        return None
    return Printed(status, text.decode(*CODING))


def save(folder: str, file: str, printed: Printed, seen: Mapping[str, str], when: int) -> bool:
    """Keep an output if all that was seen, at a time in ns, was settled; whether it is kept."""
    if not all(witness.is_settled(words, when) for words in seen.values()) or any("\n" in path for path in seen):
        return False
    text = printed.text.encode(*CODING)
    rows = "".join(f"{words}\t{path}\n" for path, words in sorted(seen.items())).encode(*CODING)
    return store.write(folder, file, f"{printed.status} {len(text)} {len(seen)}\n".encode() + rows + text)
