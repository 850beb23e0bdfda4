"""What a rank writes down while it runs: one JSON object a line, flushed, so that a rank that hangs has told all.

{"pid": 7}            the process, first of all
{"stage": word}       something new begins
{"phase": word}       collectives that follow belong to it: "warming up", "capture", "replay 2", "eager"
{"call": [...]}       a collective is issued
{"back": true}        its call came back to the host
{"limit": seconds}    from now on this rank waits no longer than that
{"outcome": {...}}    what came out; the last one counts, and has `"done": true` beside it
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import IO, Any

CAPTURE = "capture"


@dataclass(frozen=True, slots=True)
class Call:
    """One collective: `group` holds global ranks, `count` elements (0 where they may differ), `peer` a global rank or -1.

    `name` tells groups of the same ranks apart; torch gives a group the same name on all of them.
    `splits` are what an all-to-all sends to each rank, `wants` what it expects of each, both empty when equal.
    """

    op: str
    group: tuple[int, ...]
    count: int = 0
    dtype: str = ""
    detail: str = ""
    peer: int = -1
    splits: tuple[int, ...] = ()
    wants: tuple[int, ...] = ()
    file: str = ""
    line: int = 0
    function: str = ""
    name: str = ""

    def __str__(self) -> str:
        size = f"{self.dtype}[{self.count}]" if self.count else self.dtype
        peer = {"send": f"to rank {self.peer}", "recv": f"from rank {self.peer}"}.get(self.op, "")
        return f"{self.op}({', '.join(each for each in (size, self.detail, peer) if each)})"


def encode(call: Call) -> list[Any]:
    return list(astuple(call))


def decode(plain: Sequence[Any]) -> Call:
    values: list[Any] = [tuple(each) if isinstance(each, list) else each for each in plain]
    return Call(*values)


class Journal:
    """What a rank says of its collectives, a line of JSON each, flushed at once: it may hang or die in the next."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def say(self, **message: object) -> None:
        self.file.write(json.dumps(message) + "\n")
        self.file.flush()

    def before(self, call: Call) -> None:
        self.say(call=encode(call))

    def after(self) -> None:
        self.say(back=True)


@dataclass
class Account:
    """A journal as read: collectives by phase in the order of phases; `waits` says that the last call never came back."""

    pid: int = 0
    stage: str = ""
    phases: dict[str, list[Call]] = field(default_factory=dict)
    phase: str = ""
    waits: bool = False
    limit: float = 0.0
    outcome: Mapping[str, Any] | None = None
    done: bool = False

    @property
    def captured(self) -> list[Call] | None:
        """The collectives of the capture, or None where it was not begun."""
        return self.phases.get(CAPTURE)

    @property
    def has_captured(self) -> bool:
        """Whether a capture went through: replays come after it, and nothing else does."""
        return CAPTURE in self.phases and self.phase != CAPTURE

    @property
    def last(self) -> Call | None:
        """The last collective of the phase under way."""
        calls = self.phases.get(self.phase)
        return calls[-1] if calls else None


def read(path: Path) -> Account:
    """What a rank has told so far; a line cut short by its end is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return Account()
    return told(json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}"))


def told(messages: Iterable[Mapping[str, Any]]) -> Account:
    """The account that some messages make."""
    found = Account()
    for each in messages:
        if "call" in each:
            found.phases.setdefault(found.phase, []).append(decode(each["call"]))
            found.waits = True
        elif "back" in each:
            found.waits = False
        elif "phase" in each:
            found.phase = each["phase"]
            found.phases[found.phase] = []
        for name in ("pid", "stage", "limit", "outcome", "done"):
            if name in each:
                setattr(found, name, each[name])
    return found
