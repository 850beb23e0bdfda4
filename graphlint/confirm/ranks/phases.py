"""Which collectives belong to what a rank is doing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed as dist

from graphlint.confirm.ranks.calls import Watch
from graphlint.confirm.ranks.journal import Call
from graphlint.confirm.ranks.meeting import Meeting
from graphlint.confirm.ranks.post import Post

SPARE = 5.0
"""Seconds by which a rank waits longer for the others' words than it is let live: whoever ends it says why."""


class Phases:
    """Tells the journal which collectives belong to what, and keeps those of the phase under way."""

    def __init__(self, post: Post) -> None:
        self.journal = post.journal
        self.meeting = Meeting(dist.distributed_c10d._get_default_store(), post.rank, post.world, post.deadline + SPARE)
        self.calls: list[Call] = []
        self.phase = ""

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        self.begin(phase)
        try:
            with Watch(self.before, self.journal.after):
                yield
        finally:
            self.end()

    def begin(self, phase: str) -> None:
        self.end()
        self.phase = phase
        self.journal.say(phase=phase)
        self.calls.clear()

    def end(self) -> None:
        """No more collectives come in this phase."""

    def before(self, call: Call) -> None:
        self.calls.append(call)
        self.journal.before(call)
