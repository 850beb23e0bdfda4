"""A case on its way through a confirmation: what it starts from, and what ran."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphlint.case import Case
from graphlint.confirm import frames, state
from graphlint.confirm.compare import Step
from graphlint.confirm.device import Device
from graphlint.confirm.lines import Lines
from graphlint.confirm.plan import Options

Inputs = list[tuple[tuple[Any, ...], dict[str, Any]]]


@dataclass(frozen=True)
class Setting:
    """What one confirmation works with.

    `stage` is told what is being done, for whoever watches from outside; `seen` is given what the replays and the
    eager twin computed, for whoever compares it with more.  `together` makes one answer of those of several ranks.
    """

    target: str
    build: Callable[[], Case]
    device: Device
    options: Options
    stage: Callable[[str], object] = field(default=lambda word: None)
    seen: Callable[[list[Step], list[Step]], object] = field(default=lambda got, expected: None)
    together: Callable[[bool], bool] = field(default=lambda mine: mine)


@dataclass
class Trial:
    """A case after its warm-up, with new inputs for every replay and the state before its capture."""

    case: Case
    inputs: Inputs
    before: state.Snapshot
    lines: Lines = field(default_factory=dict)

    def step(self) -> object:
        return self.case.fn(*self.case.args, **self.case.kwargs)

    def prepare(self) -> None:
        if self.case.prepare is not None:
            self.case.prepare()


frames.BOUNDARIES.add(Trial.step.__code__)
