"""What a capture did, whether a GPU or the emulator tried it.

Both backends fill in the same `Outcome`, so that reconciling, reporting and recording know nothing of either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphlint.types import Step


@dataclass(frozen=True, slots=True)
class Machine:
    """Where an outcome was observed; `kind` is "cuda" or "emulated"."""

    kind: str
    name: str
    torch: str
    driver: str = ""
    cuda: str = ""


NOWHERE = Machine("none", "", "")
"""Where an outcome comes from that was not observed."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One operation that a capture refused, at the innermost user line; `trail` runs from the region inwards.

    `text` is the source of the refused expression, where the interpreter knows its columns (Python 3.11 and later).
    """

    file: str
    line: int
    function: str
    op: str
    error: str
    message: str
    trail: tuple[Step, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """An output (or a state tensor) in which a replay and the eager twin disagree; `size` is the largest gap."""

    output: str
    replay: int
    size: float
    tolerance: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class StateChange:
    """Python state that the captured call changed, with the line that wrote it (0 when unknown)."""

    what: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result`: "captures" (and replays equal to eager), "refused", "stale" or "not-run"; `reason` explains the last.

    `executed` maps a file to the lines that ran under capture; `complete` says that no refused line is missing on the
    path taken; `unknown_ops` are operations the backend could not judge.  `replays` has one word for each replay,
    "match", "values" or "random" (equal in distribution); `stage` is where a run that did not finish stood; `figures`
    are named numbers (`eager_ms`, `kernels`, ...), `notes` sentences that go with them.  `sections` holds what was
    asked for besides (`shapes`, `compile`, `ranks`), in the form each defines.
    """

    target: str
    result: str
    machine: Machine
    refusals: tuple[Refusal, ...] = ()
    differences: tuple[Difference, ...] = ()
    state_changes: tuple[StateChange, ...] = ()
    executed: dict[str, tuple[int, ...]] = field(default_factory=dict)
    complete: bool = True
    reason: str = ""
    unknown_ops: tuple[str, ...] = ()
    figures: dict[str, float] = field(default_factory=dict)
    replays: tuple[str, ...] = ()
    stage: str = ""
    notes: tuple[str, ...] = ()
    sections: dict[str, Any] = field(default_factory=dict)
