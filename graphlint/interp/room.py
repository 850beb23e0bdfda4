"""How much of a region is gone through: calls of calls, rounds of a recursion, and the work in all.

Functions that call one another on objects made of objects can lead to more and more sets of arguments, each run anew.
What takes more than its share is read as far as the analysis came, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence

DEEPEST_CALL = 60
DEEPEST_CONSTRUCTION = 30
MOST_ROUNDS = 3
MOST_WORK = 6000
"""Activations for one region: in 22 projects all but 3 of 8,000 take less than 4,300."""


def refusal(depth: int, rounds: Sequence[int], work: int) -> str:
    """The limit that keeps a function from being entered once more, "" if none does."""
    if work >= MOST_WORK:
        return "work"
    if depth >= DEEPEST_CALL or len(rounds) >= MOST_ROUNDS:
        return "recursion" if rounds else "call depth"
    return ""
