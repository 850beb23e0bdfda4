"""Factories for the recordings: an entry of a marked file, and a model of a zoo."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import torch

from graphlint.case import Case
from graphlint.confirm.build import from_file

SHAPES = ((4, 4), (8,), (4,), (2, 8), (2, 3, 8, 8))
"""Shapes tried for a lone `x`, the first that the entry takes."""


def entry_case(device: str, file: str, entry: str) -> Case:
    """A function or a module class of a file, on what its `inputs()` gives; one tensor where it has none."""
    module = from_file(Path(file))
    if hasattr(module, "inputs"):
        return Case(_entered(module, entry, device), module.inputs())
    for shape in SHAPES:
        try:
            _entered(module, entry, device)(torch.zeros(shape, device=device))
        except (RuntimeError, IndexError, ValueError):
            continue
        return Case(_entered(module, entry, device), (torch.randn(shape, device=device),))
    raise RuntimeError(f"`{entry}` takes no single tensor; give the file an `inputs()`")


def _entered(module: object, entry: str, device: str) -> Callable[..., Any]:
    made: Any = getattr(module, entry)
    return made().to(device) if isinstance(made, type) and issubclass(made, torch.nn.Module) else made


def zoo_case(device: str, folder: str, case_id: str) -> Case:
    """A model of the zoo in a folder: its `zoo.py` gives a program with static inputs, fresh ones, and a cache's set-up."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import zoo  # type: ignore[import-not-found]  # from that folder

    program: Any = zoo.build_program(case_id, device)
    seeds: Iterator[int] = count(2)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (), program.fresh(next(seeds))

    if program.seq:
        return Case(
            _decode(program),
            (),
            dict(program.static),
            fresh,
            program.prepare,
            lambda: program.restore(program.box["cache"]),
        )
    if case_id.startswith("hf:"):
        return Case(program.model, (), dict(program.static), fresh)
    return Case(program.model, tuple(program.static.values()), {}, lambda: tuple(fresh()[1].values()))


def _decode(program: Any) -> Callable[..., object]:
    def step(input_ids: torch.Tensor) -> object:
        return program.model(input_ids=input_ids, past_key_values=program.box["cache"], use_cache=True)

    return step
