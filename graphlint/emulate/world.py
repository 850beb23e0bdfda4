"""Entering the emulation: `with emulated_cuda() as session:` makes this process believe that it has a GPU.

Inside, `torch.cuda.is_available()` is true and tensors can be made on, and moved to, `cuda`.  Everything is put back
at the end, but tensors that were made inside are of no use outside.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch

from graphlint.emulate import standin
from graphlint.emulate.answers import CUDA, answers
from graphlint.emulate.compiled import compiled
from graphlint.emulate.dispatch import Dispatch
from graphlint.emulate.functions import Functions
from graphlint.emulate.generators import DeviceGenerator
from graphlint.emulate.loading import load_with
from graphlint.emulate.session import Session
from graphlint.emulate.streams import SESSIONS
from graphlint.emulate.tensor import CURRENT, DeviceTensor


@contextlib.contextmanager
def emulated_cuda() -> Iterator[Session]:
    """A session with its own memory, random numbers and streams; raises `EmulationUnavailable`."""
    standin.prepare()
    session = Session()
    functions, dispatch = Functions(session), Dispatch(session)
    with contextlib.ExitStack() as stack:
        for owner, name, value in (*_patches(session), *_engine(functions), *_threads(session)):
            stack.enter_context(mock.patch.object(owner, name, value, create=True))
        stack.enter_context(mock.patch.object(DeviceTensor, "dispatch", staticmethod(dispatch.run), create=True))
        stack.callback(torch._C._set_only_lift_cpu_tensors, torch._C._only_lift_cpu_tensors())
        torch._C._set_only_lift_cpu_tensors(True)
        stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        CURRENT.append(session.allocator)
        SESSIONS.append(session)
        stack.callback(CURRENT.pop)
        stack.callback(SESSIONS.pop)
        stack.enter_context(functions)
        stack.enter_context(dispatch)
        yield session


def _patches(session: Session) -> Iterator[tuple[Any, str, Any]]:
    """Every attribute that answers differently inside: owner, name, value."""
    told = answers(session)
    for name, value in told.items():
        yield torch.cuda, name, value
    for module in (torch.cuda.graphs, torch.cuda.streams, torch.cuda.random, torch.cuda.memory):
        for name in told:
            if name in vars(module):
                yield module, name, told[name]
    yield torch.cuda.graphs.graph, "default_capture_stream", None
    yield torch.cuda.graphs, "_cuda_isCurrentStreamCapturing", session.streams.is_capturing
    yield torch._C, "_cuda_isCurrentStreamCapturing", session.streams.is_capturing
    yield torch._C, "_host_emptyCache", lambda: None
    yield torch, "Generator", DeviceGenerator
    yield torch, "compile", compiled
    yield torch, "load", load_with(torch.load)
    yield torch.compiler, "cudagraph_mark_step_begin", lambda: None
    yield torch, "_has_compatible_shallow_copy_type", _compatible
    yield torch.version, "cuda", CUDA
    yield torch.backends.cudnn, "is_acceptable", lambda tensor: False
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        yield torch.cuda.nvtx, name, lambda *args: 0
    yield torch.backends.cuda, "is_built", lambda: True
    yield from _accelerator(told)


def _threads(session: Session) -> Iterator[tuple[Any, str, Any]]:
    """Torch's modes belong to a thread: new threads, such as a loader's, enter the session too."""
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]  # the one place all threads come through

    def inside(thread: threading.Thread) -> None:
        with Functions(session), Dispatch(session):
            begin(thread)

    yield threading.Thread, "_bootstrap_inner", inside


def _engine(functions: Functions) -> Iterator[tuple[Any, str, Any]]:
    """Backward passes start inside a torch function, where the function mode is off: it is entered again for them."""
    run = torch.autograd.graph._engine_run_backward

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        with functions:
            return run(*args, **kwargs)

    yield torch.autograd, "_engine_run_backward", run_backward
    yield torch.autograd.graph, "_engine_run_backward", run_backward


def _compatible(input: torch.Tensor, from_: torch.Tensor) -> bool:
    """A host and a CUDA tensor can trade places in torch, and `Functions` sees to it that they can here.

    Only a host tensor that C++ holds on to, such as a leaf of a graph that lives, cannot turn into another.
    """
    return (
        isinstance(input, DeviceTensor) or not isinstance(from_, DeviceTensor) or getattr(input, "_use_count", int)() <= 1
    )


def _accelerator(told: dict[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    yield accelerator, "is_available", lambda: True
    yield accelerator, "device_count", lambda: 1
    yield accelerator, "current_accelerator", lambda check_available=False: torch.device("cuda")
    yield accelerator, "set_device_index", lambda device: None
    yield accelerator, "current_device_index", lambda: 0
    for name in ("synchronize", "current_stream", "set_stream", "empty_cache"):
        yield accelerator, name, told[name]
