"""`torch.compile` on the emulated device: code stays as it is, and outputs live as long as a graph's pool lets them.

Nothing is traced.  What is kept of `mode="reduce-overhead"` is what its users meet at run time: the outputs of one
call are overwritten by the next.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch

from graphlint.confirm.trees import flat
from graphlint.emulate.streams import SESSIONS
from graphlint.emulate.tensor import DeviceTensor, outside

GRAPHED = ("reduce-overhead", "max-autotune")


def compiled(model: Any = None, *, mode: str | None = None, **options: Any) -> Any:
    """`torch.compile`, as a call or as a decorator."""
    if model is None:
        return functools.partial(compiled, mode=mode, **options)
    SESSIONS[-1].compiled += 1
    if mode in GRAPHED:
        return _reusing(model)
    return model if isinstance(model, torch.nn.Module) else _compiling(model)


def _compiling(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which compiles at its first call: no capture permits that."""
    called: list[bool] = []

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not called and SESSIONS[-1].tape is not None:
            SESSIONS[-1].refuse("torch.compile", "refused")
        called[:] = [True]
        return function(*args, **kwargs)

    return call


def _reusing(model: Callable[..., Any]) -> Callable[..., Any]:
    """The same callable, whose last outputs are overwritten by its next call."""
    last: list[weakref.ref[torch.Tensor]] = []

    @functools.wraps(model if not isinstance(model, torch.nn.Module) else model.forward)
    def call(*args: Any, **kwargs: Any) -> Any:
        if SESSIONS[-1].tape is not None:
            SESSIONS[-1].refuse("torch.compile", "refused")
        _overwrite([each() for each in last])
        output = model(*args, **kwargs)
        last[:] = [weakref.ref(each) for each in flat(_plain(output))]
        return output

    return call


def _plain(output: Any) -> Any:
    return list(output.values()) if isinstance(output, dict) else output


def _overwrite(outputs: list[torch.Tensor | None]) -> None:
    with outside():
        for each in outputs:
            if isinstance(each, DeviceTensor) and each.emulated.is_floating_point() and not each.requires_grad:
                each.emulated.fill_(float("nan"))
