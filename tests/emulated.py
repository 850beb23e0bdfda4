"""Entries of marked files on the emulator, as the recordings enter them on a GPU."""

from __future__ import annotations

import inspect
from functools import cache, partial
from pathlib import Path

from graphlint.case import as_case
from graphlint.confirm.build import from_file
from graphlint.confirm.outcome import Outcome
from graphlint.emulate import emulate, emulate_script
from graphlint.errors import UsageError
from tests.gpu.entries import entry_case
from tests.gpu.record import captures_itself


@cache
def outcome_of(path: Path, entry: str) -> Outcome:
    """What the emulator makes of a function, a module class or a program of a file; two tests ask for most of them."""
    if not captures_itself(path, entry):
        return emulate(partial(entry_case, "cuda", str(path), entry), target=entry)

    def made() -> object:
        program = getattr(from_file(path), entry)
        return program(*(("cuda",) if inspect.signature(program).parameters else ()))

    given: list[object] = []
    outcome = emulate_script(lambda: given.append(made()), target=entry)
    # What captures nothing and gives back a function with its arguments is a case.
    is_case = outcome.result == "not-run" and given and _is_case(given[0])
    return emulate(lambda: as_case(made()), target=entry) if is_case else outcome


def _is_case(given: object) -> bool:
    try:
        as_case(given)
    except UsageError:
        return False
    return True
