"""Where one process stands among the ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from graphlint.confirm.plan import Plan
from graphlint.confirm.ranks.journal import Journal


@dataclass(frozen=True)
class Post:
    """Where this process stands among the ranks, and what it has to write with."""

    rank: int
    world: int
    folder: Path
    plan: Plan
    deadline: float
    journal: Journal


def seeded(post: Post) -> Plan:
    """The plan with this rank's own seed."""
    return replace(post.plan, options=replace(post.plan.options, seed=post.plan.options.seed + post.rank))
