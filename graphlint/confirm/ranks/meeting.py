"""Words that ranks exchange through the agent's store, beside the collectives under test."""

from __future__ import annotations

import json
import time
from typing import Any

TICK = 0.005


class Absent(RuntimeError):
    """A rank did not come to a meeting in time; `ranks` says which."""

    def __init__(self, name: str, ranks: list[int]) -> None:
        super().__init__(f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))} did not come to `{name}`")
        self.ranks = ranks


class PartnersDiffer(RuntimeError):
    """Another rank issued something else where this one issued a collective, or had ended; only emulation looks ahead."""


class Meeting:
    """One rank's side; `store` has `set`, `check` and `get`, `deadline` is of `time.time()`."""

    def __init__(self, store: Any, rank: int, world: int, deadline: float) -> None:
        self.store = store
        self.rank = rank
        self.world = world
        self.deadline = deadline

    def say(self, name: str, word: object) -> None:
        self.store.set(f"{name}/{self.rank}", json.dumps(word))

    def heard(self, name: str, rank: int) -> Any:
        """What a rank said under a name, or None when it has not yet."""
        key = f"{name}/{rank}"
        return json.loads(self.store.get(key)) if self.store.check([key]) else None

    def exchanged(self, name: str, word: object) -> dict[int, Any]:
        """Every rank's word, once all have said one; raises `Absent` at the deadline."""
        self.say(name, word)
        found: dict[int, Any] = {self.rank: word}
        while len(found) < self.world:
            missing = [rank for rank in range(self.world) if rank not in found]
            for rank in missing:
                said = self.heard(name, rank)
                if said is not None:
                    found[rank] = said
            if len(found) < self.world:
                if time.time() > self.deadline:
                    raise Absent(name, missing)
                time.sleep(TICK)
        return found
