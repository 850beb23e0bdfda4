"""Entries of marked files on the emulator, as the recordings enter them on a GPU."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path

from graphlint.confirm.build import from_file
from graphlint.confirm.outcome import Outcome
from graphlint.emulate import emulate, emulate_script
from tests.gpu.entries import entry_case
from tests.gpu.record import captures_itself


def outcome_of(path: Path, entry: str) -> Outcome:
    """What the emulator makes of a function, a module class or a program of a file."""
    if not captures_itself(path, entry):
        return emulate(partial(entry_case, "cuda", str(path), entry), target=entry)

    def run() -> None:
        program = getattr(from_file(path), entry)
        program(*(("cuda",) if inspect.signature(program).parameters else ()))

    return emulate_script(run, target=entry)
