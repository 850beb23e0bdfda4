"""What a statement can leave behind for the whole process, and putting it back.

A process for each statement would set CUDA up anew a thousand times.  What a statement does to modules and objects of
its own is gone with its names; what is in the table here is not, and decides what later statements do.
"""

from __future__ import annotations

import decimal
import gc
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn.modules import module as modules

Setting = tuple[Callable[[], Any], Callable[[Any], object]]
"""What reads a setting, and what sets it to what was read."""


def _attribute(owner: Any, name: str) -> Setting:
    return partial(getattr, owner, name), partial(setattr, owner, name)


def _default_device() -> torch.device | None:
    """None where nothing was set: a default of the host is another mode than no default."""
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return None if context is None else context.device


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _table(held: MutableMapping[Any, Any]) -> Setting:
    """A table that is read whole, and changed in place."""

    def put_back(before: Mapping[Any, Any]) -> None:
        held.clear()
        held.update(before)

    return lambda: dict(held), put_back


def _collect(is_on: bool) -> None:
    gc.enable() if is_on else gc.disable()


SETTINGS: dict[str, Setting] = {
    "default device": (_default_device, torch.set_default_device),
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "anomalies": (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    "determinism": (_deterministic, lambda both: torch.use_deterministic_algorithms(both[0], warn_only=both[1])),
    "precision of products": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "warnings of torch": (torch.is_warn_always_enabled, torch.set_warn_always),
    "threads": (torch.get_num_threads, torch.set_num_threads),
    "validation of distributions": _attribute(torch.distributions.Distribution, "_validate_args"),
    "tf32 of cublas": _attribute(torch.backends.cuda.matmul, "allow_tf32"),
    "tf32 of cudnn": _attribute(torch.backends.cudnn, "allow_tf32"),
    "cudnn": _attribute(torch.backends.cudnn, "enabled"),
    "search of cudnn": _attribute(torch.backends.cudnn, "benchmark"),
    "determinism of cudnn": _attribute(torch.backends.cudnn, "deterministic"),
    "flash attention": (torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp),
    "plain attention": (torch.backends.cuda.math_sdp_enabled, torch.backends.cuda.enable_math_sdp),
    "small attention": (torch.backends.cuda.mem_efficient_sdp_enabled, torch.backends.cuda.enable_mem_efficient_sdp),
    "hooks before every module": _table(modules._global_forward_pre_hooks),
    "hooks behind every module": _table(modules._global_forward_hooks),
    "errors of numpy": (np.geterr, lambda before: np.seterr(**before)),
    "decimal numbers": (lambda: decimal.getcontext().copy(), decimal.setcontext),
    "filters of warnings": (lambda: warnings.filters[:], lambda before: warnings.filters.__setitem__(slice(None), before)),  # type: ignore[index]  # a list, whatever typeshed says
    "level of the root logger": (lambda: logging.root.level, logging.root.setLevel),
    "environment": _table(os.environ),
    "collector": (gc.isenabled, _collect),
    "depth of calls": (sys.getrecursionlimit, sys.setrecursionlimit),
}
CUDA: dict[str, Setting] = {
    "device": (torch.cuda.current_device, torch.cuda.set_device),
    "stream": (torch.cuda.current_stream, torch.cuda.set_stream),
    "warnings of waits": (torch.cuda.get_sync_debug_mode, torch.cuda.set_sync_debug_mode),
}
"""The same where there is a GPU; the device first, as its streams are its own."""


@contextmanager
def kept() -> Iterator[None]:
    """Put back whatever differs afterwards from what it was."""
    settings = {**SETTINGS, **(CUDA if torch.cuda.is_available() else {})}
    before = {name: read() for name, (read, _) in settings.items()}
    try:
        yield
    finally:
        for name, (read, put_back) in settings.items():
            if not _same(read(), before[name]):
                put_back(before[name])


def _same(now: Any, before: Any) -> bool:
    """Contexts of decimal numbers are compared by what they say: they have no equality of their own."""
    return repr(now) == repr(before) if isinstance(now, decimal.Context) else bool(now == before)
