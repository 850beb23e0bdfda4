"""The process that runs user code: `python -m graphlint.confirm.child`, told what to do as JSON on its input.

    {"plans": [...], "parent": 7, "results": "...", "stages": "...", "traces": "...", "groups": "..."}

It appends one line to `results` for every plan and one to `stages` whenever something new begins, so that the parent
knows how far a child that died had come; `traces` takes the stack of a crash or of a hang, and `groups` the processes
that lead groups of their own.  What user code prints goes to this process's own output.  Torch is imported late, so
that a missing one is an outcome too.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from graphlint.confirm import codec, plan
from graphlint.confirm.descent import follow
from graphlint.confirm.frames import described
from graphlint.confirm.outcome import NOWHERE, Outcome
from graphlint.confirm.plan import Plan
from graphlint.errors import GraphlintError, UsageError

NO_DEVICE = "no device"
MARGIN = 2.0
"""Seconds before the time limit at which the stack is written, so that it is there when the parent reads it."""

Stage = Callable[[str], object]


class NoDevice(GraphlintError):
    """There is nothing to confirm on."""


def main() -> int:
    """Run all plans; 0 when each has a result line."""
    order = json.load(sys.stdin)
    follow(order["parent"])
    with open(order["results"], "a") as results, open(order["stages"], "a") as stages, open(order["traces"], "a") as traces:
        faulthandler.enable(traces)
        for place, each in enumerate(order["plans"]):
            one = plan.decode(each)
            faulthandler.dump_traceback_later(max(one.options.timeout - MARGIN, 0.5), file=traces)
            outcome = attempt(one, partial(_staged, stages, place), Path(order["groups"]))
            faulthandler.cancel_dump_traceback_later()
            healthy = _is_healthy()
            _say(results, {"plan": place, "outcome": codec.encode(outcome), "healthy": healthy})
            if not healthy:
                return 3
    return 0


def _staged(file: IO[str], place: int, word: str) -> None:
    _say(file, {"plan": place, "stage": word})


def _say(file: IO[str], message: dict[str, Any]) -> None:
    file.write(json.dumps(message) + "\n")
    file.flush()


def _is_healthy() -> bool:
    """Whether the CUDA context survived: after a bad address every later call fails, whatever it is."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return True
    try:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    except RuntimeError:
        return False
    return True


def attempt(one: Plan, stage: Stage, groups: Path) -> Outcome:
    """The outcome of one plan; whatever user code raises becomes a "not-run" with one clear line."""
    reached = ["starting"]

    def told(word: str) -> None:
        reached[0] = word
        sys.stdout.flush()
        stage(word)

    try:
        return _confirmed(one, told, groups)
    except KeyboardInterrupt:
        raise
    except NoDevice as error:
        return Outcome(one.target, "not-run", NOWHERE, reason=str(error).replace("\n  ", "; "), stage=NO_DEVICE)
    except UsageError as error:
        return Outcome(one.target, "not-run", NOWHERE, reason=str(error).replace("\n  ", "; "), stage=reached[0])
    except BaseException as error:
        return Outcome(one.target, "not-run", NOWHERE, reason=described(error, reached[0]), stage=reached[0])


def _confirmed(one: Plan, stage: Stage, groups: Path) -> Outcome:
    begun = time.monotonic()
    stage("importing torch")
    kind = backend(one.options.device)
    if one.options.ranks > 1:
        from graphlint.confirm.ranks import launch  # imports torch

        return _left_out(launch.confirm(one, kind, stage, begun, groups), one)
    if kind == "emulated":
        from graphlint import emulate  # only here: it replaces parts of torch

        return emulate.confirm(one, stage)
    from graphlint.confirm import target  # imports torch

    return target.confirm(one, stage)


def _left_out(outcome: Outcome, one: Plan) -> Outcome:
    """Says which parts were asked for that only a single process can show."""
    asked = {"--shapes": one.options.shapes, "--compile": one.options.compile, "--graphed": one.options.graphed}
    notes = tuple(f"`{name}` is for one rank and was left out" for name, wanted in asked.items() if wanted)
    return replace(outcome, notes=(*outcome.notes, *notes))


def backend(device: str) -> str:
    """ "cuda" or "emulated"; raises `NoDevice` with what can be done instead."""
    if find_spec("torch") is None:
        raise NoDevice(
            "torch is not installed here, and confirming imports it",
            "install it into this environment; `graphlint check` needs none",
        )
    import torch

    if device in ("auto", "cuda") and torch.cuda.is_available():
        return "cuda"
    emulator = find_spec("graphlint.emulate") is not None and hasattr(_emulate(), "confirm")
    if device == "cuda" or not emulator:
        instead = "`--device emulated` runs it without one" if emulator else "`graphlint check` needs none"
        raise NoDevice("no CUDA device is visible, so nothing can be captured", instead)
    return "emulated"


def _emulate() -> object:
    from graphlint import emulate

    return emulate


if __name__ == "__main__":
    sys.exit(main())
