"""Confirming inside the process that asks, for test suites: no child, no comparison with `check`.

A second, independent build is made by copying: modules, optimizers and what a function's closure holds are copied
together, so that an optimizer's copy steps the copied parameters.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map

from graphlint.case import Case, varied
from graphlint.confirm import engine, show
from graphlint.confirm.child import backend
from graphlint.confirm.device import Cuda
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.plan import Options
from graphlint.confirm.reconcile import Reconciled
from graphlint.confirm.trial import Setting


class NotCapturable(AssertionError):
    """A step does not capture, or its replays are wrong; says everything that is known."""


def observed(build: Callable[[], Case], device: str, warmup: int, replays: int, target: str) -> Outcome:
    """The outcome of a case on the GPU, or on the emulator; raises `NoDevice` where there is neither."""
    if backend(device) == "emulated":
        from graphlint import emulate  # only here: it replaces parts of torch

        return emulate.emulate(build, target=target, warmup=warmup, replays=replays)
    options = Options(device="cuda", warmup=warmup, replays=replays, worth=False)
    gpu = Cuda(options.mode)
    outcome, _, _ = engine.confirm(Setting(target, build, gpu, options))
    return outcome


def hold(outcome: Outcome) -> None:
    """Raise `NotCapturable` unless the outcome is that it captures."""
    __tracebackhide__ = True  # by which pytest shows the test, and not how graphlint works
    if outcome.result != "captures":
        raise NotCapturable(show.text(outcome, Reconciled(), "", Path.cwd()))


def copies(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], vary: Any) -> Callable[[], Case]:
    """A factory of independent copies of a step and its inputs, on the device."""
    kept = _copied(fn, args, kwargs)

    def build() -> Case:
        new, new_args, new_kwargs = _copied(*kept)
        moved = new.to("cuda") if isinstance(new, torch.nn.Module) else new
        fresh = None if vary is None else lambda: _moved(varied(vary()))
        return Case(moved, _moved(new_args), _moved(new_kwargs), fresh, name=getattr(fn, "__name__", type(fn).__name__))

    return build


def _moved(values: Any) -> Any:
    return tree_map(lambda each: each.to("cuda") if isinstance(each, torch.Tensor) else each, values)


def _copied(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    memo: dict[int, Any] = {}
    new = _function(fn, memo) if isinstance(fn, types.FunctionType) else copy.deepcopy(fn, memo)
    return new, copy.deepcopy(args, memo), copy.deepcopy(dict(kwargs), memo)


def _function(fn: types.FunctionType, memo: dict[int, Any]) -> types.FunctionType:
    """A function over copies of what its closure holds; `copy.deepcopy` gives the function itself."""
    cells = tuple(types.CellType(_held(cell.cell_contents, memo)) for cell in fn.__closure__ or ())
    new = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, copy.deepcopy(fn.__defaults__, memo), cells)
    new.__kwdefaults__ = copy.deepcopy(fn.__kwdefaults__, memo)
    return new


def _held(value: Any, memo: dict[int, Any]) -> Any:
    return _function(value, memo) if isinstance(value, types.FunctionType) else copy.deepcopy(value, memo)
