"""The seam between the engine and a GPU: what capturing needs, as a protocol, and CUDA's way of doing it.

Facts about CUDA that shaped it (H200, torch 2.11): `torch.cuda.graph` leaves its stream current when ending the
capture raises, so the stream is put back here; after a failed capture the default generator can stay in capture mode
until another capture ends well, which is what `repair` does.  Destroying the graph of an earlier attempt while another
capture is under way invalidates that one, so garbage is collected before a capture and not during it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast
from unittest import mock

import torch

from graphlint.confirm.outcome import Machine

LEFT_OVER = 4


@dataclass
class Captured:
    """A capture that went through: `replay()` runs it, `output` is what the call returned during capture."""

    replay: Callable[[], object]
    output: Any
    seconds: float
    pool: tuple[int, int] | None = None
    reserved: int = 0


class Device(Protocol):
    """What the engine asks of a device."""

    machine: Machine
    name: str

    def synchronize(self) -> None: ...
    def warming(self) -> AbstractContextManager[object]: ...
    def believing(self) -> AbstractContextManager[object]: ...
    def capture(self, step: Callable[[], object], pool: tuple[int, int] | None = None) -> Captured: ...
    def repair(self) -> None: ...
    def seed(self, seed: int) -> None: ...
    def draws(self) -> int: ...
    def random(self) -> object: ...
    def set_random(self, state: Any) -> None: ...


class Cuda:
    """The current CUDA device; `mode` is CUDA's stream capture mode."""

    name = "cuda"

    def __init__(self, mode: str = "global") -> None:
        self.mode = mode
        self.machine = machine()

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    @contextmanager
    def warming(self) -> Iterator[None]:
        """A side stream that waits for the current one, and is waited for."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            yield
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()

    @contextmanager
    def believing(self) -> Iterator[None]:
        """Code that asks whether it is being captured is told that it is."""
        with mock.patch("torch.cuda.graphs._cuda_isCurrentStreamCapturing", lambda: True):
            yield

    def capture(self, step: Callable[[], object], pool: tuple[int, int] | None = None) -> Captured:
        """Capture one call; raises what the body or the end of the capture raised, the body's as `__context__`."""
        graph, before = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        gc.collect()
        started, reserved = time.perf_counter(), torch.cuda.memory_reserved()
        gc.disable()
        try:
            with torch.cuda.graph(graph, pool=cast(Any, pool), capture_error_mode=self.mode):
                output = step()
        finally:
            gc.enable()
            _end(graph)
            torch.cuda.set_stream(before)
        seconds = time.perf_counter() - started
        grown = max(torch.cuda.memory_reserved() - reserved, 0)
        return Captured(graph.replay, output, seconds, graph.pool(), grown)

    def repair(self) -> None:
        """A small capture that ends well; an error left over from a refused one may show once more, and is then gone."""
        for _ in range(LEFT_OVER):
            with suppress(RuntimeError), torch.no_grad():
                self.capture(lambda: torch.rand(1, device="cuda"))
                return

    def seed(self, seed: int) -> None:
        torch.cuda.manual_seed_all(seed)

    def draws(self) -> int:
        """The default generator's offset, which grows with every random number drawn."""
        return int(torch.cuda.default_generators[torch.cuda.current_device()].get_offset())

    def random(self) -> object:
        return torch.cuda.get_rng_state()

    def set_random(self, state: Any) -> None:
        torch.cuda.set_rng_state(state)


def _end(graph: torch.cuda.CUDAGraph) -> None:
    """End a capture that its context manager could not end, or every later call would be refused."""
    stream = torch.cuda.graph.default_capture_stream
    if stream is None:
        return
    with torch.cuda.stream(stream), suppress(RuntimeError):
        if torch.cuda.is_current_stream_capturing():
            graph.capture_end()


def stream() -> int:
    """The current stream's number."""
    return int(torch.cuda.current_stream().cuda_stream)


def spare() -> int:
    """Bytes of device memory that results of a recording may take."""
    return int(torch.cuda.mem_get_info()[0]) // 3 if torch.cuda.is_initialized() else 2 << 30


def machine() -> Machine:
    """The GPU and the versions an outcome belongs to."""
    return Machine("cuda", torch.cuda.get_device_name(), torch.__version__, _driver(), torch.version.cuda or "")


def _driver() -> str:
    """The driver's version as `nvidia-smi` shows it, or nothing where the kernel does not say."""
    try:
        with open("/proc/driver/nvidia/version") as file:
            words = file.readline().split()
    except OSError:
        return ""
    return next((word for word in words if word[:1].isdigit() and "." in word), "")
