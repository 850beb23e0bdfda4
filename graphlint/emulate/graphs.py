"""`torch.cuda.CUDAGraph` on the emulated device, and what libraries ask of `torch.cuda`.

Torch's own `torch.cuda.graph`, `make_graphed_callables` and optimizers run unchanged on top of these.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from graphlint.emulate.generators import DeviceGenerator
from graphlint.emulate.session import Session
from graphlint.emulate.standin import SHOWN
from graphlint.emulate.streams import Event, Stream, StreamContext
from graphlint.emulate.tape import Tape

NAME = "NVIDIA H200 (emulated)"
CAPABILITY = (9, 0)
MEMORY = 141 << 30
CUDA = "13.0"


class CaptureRefused(RuntimeError):
    """Raised where a capture ends that would have been refused."""


def graph_class(session: Session) -> type:
    """`CUDAGraph` for one session."""

    class CUDAGraph:
        def __init__(self, keep_graph: bool = False) -> None:
            self.tape: Tape | None = None
            self.generators: list[DeviceGenerator] = []
            self.refused = 0

        def capture_begin(self, pool: object = None, capture_error_mode: str = "global", **options: object) -> None:
            self.refused = len(session.refusals)
            self.tape = session.begin()
            for each in self.generators:
                each.graphs.add(session.graph)

        def capture_end(self) -> None:
            session.end()
            if len(session.refusals) > self.refused:
                raise CaptureRefused("CUDA error: operation failed due to a previous error during capture")

        def replay(self) -> None:
            if session.tape is not None:
                session.refuse("torch.cuda.CUDAGraph.replay", "refused")
            elif self.tape is not None:
                self.tape.replay(session.random)

        def register_generator_state(self, generator: DeviceGenerator) -> None:
            self.generators.append(generator)

        def pool(self) -> tuple[int, int]:
            return (0, 1)

        def reset(self) -> None:
            self.tape = None

        def instantiate(self) -> None: ...
        def enable_debug_mode(self) -> None: ...
        def debug_dump(self, path: str) -> None: ...

    return CUDAGraph


def answers(session: Session) -> dict[str, Any]:
    """Attributes of `torch.cuda` while the emulation is entered."""
    streams, random = session.streams, session.random

    def refused(op: str, effect: str, answer: Any = None) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if session.tape is not None:
                session.refuse(op, effect)
            return answer(*args, **kwargs) if callable(answer) else answer

        return call

    def seeded(op: str) -> Callable[[int], None]:
        """A capture allows seeding only with the seed that is there already."""

        def call(seed: int) -> None:
            if session.tape is not None and seed != random.seed_value:
                session.refuse(op, "seed")
            random.seed(seed)

        return call

    def constant(answer: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: answer

    def set_stream(stream: Stream | None) -> None:
        streams.current = stream or streams.current

    return {
        "is_available": constant(True),
        "device_count": constant(1),
        "_device_count_nvml": constant(1),
        "current_device": constant(0),
        "set_device": constant(None),
        "init": constant(None),
        "_lazy_init": constant(None),
        "_lazy_call": lambda callable, **kwargs: callable(),
        "is_initialized": constant(True),
        "_is_in_bad_fork": constant(False),
        "is_bf16_supported": constant(True),
        "is_tf32_supported": constant(True),
        "get_device_name": constant(NAME),
        "get_device_capability": constant(CAPABILITY),
        "get_device_properties": constant(_properties()),
        "get_arch_list": constant(["sm_90"]),
        "can_device_access_peer": constant(False),
        "synchronize": refused("torch.cuda.synchronize", "sync"),
        "current_stream": lambda device=None: streams.current,
        "default_stream": lambda device=None: streams.default,
        "set_stream": set_stream,
        "stream": StreamContext,
        "StreamContext": StreamContext,
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "device": _Device,
        "_DeviceGuard": _Device,
        "device_of": _Device,
        "is_current_stream_capturing": streams.is_capturing,
        "CUDAGraph": graph_class(session),
        "graph_pool_handle": constant((0, 1)),
        "empty_cache": constant(None),
        "ipc_collect": constant(None),
        "set_sync_debug_mode": constant(None),
        "get_sync_debug_mode": constant(0),
        "_sleep": constant(None),
        "memory_stats": lambda device=None: OrderedDict(defaultdict(int)),
        "memory_stats_as_nested_dict": lambda device=None: {},
        "memory_summary": constant(""),
        "memory_snapshot": constant([]),
        "mem_get_info": constant((MEMORY, MEMORY)),
        **dict.fromkeys(_COUNTERS, constant(0)),
        **dict.fromkeys(_RESETS, constant(None)),
        "manual_seed": seeded("torch.cuda.manual_seed"),
        "manual_seed_all": seeded("torch.cuda.manual_seed_all"),
        "seed": refused("torch.cuda.seed", "seed", lambda: random.seed(torch.default_generator.initial_seed())),
        "initial_seed": lambda: random.seed_value,
        "get_rng_state": lambda device="cuda": random.state.clone(),
        "get_rng_state_all": lambda: [random.state.clone()],
        "set_rng_state": lambda state, device="cuda": setattr(random, "state", state.clone()),
        "set_rng_state_all": lambda states: setattr(random, "state", states[0].clone()),
        "default_generators": (_DefaultGenerator(session),),
    }


_COUNTERS = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
             "max_memory_cached", "utilization", "temperature", "power_draw", "clock_rate")  # fmt: skip
_RESETS = ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
           "reset_accumulated_memory_stats", "set_per_process_memory_fraction")  # fmt: skip


class _Device:
    """`with torch.cuda.device(0)`: there is one device."""

    def __init__(self, device: object = None) -> None:
        self.idx = 0

    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...


class _DefaultGenerator:
    """The entry of `torch.cuda.default_generators`."""

    device = SHOWN

    def __init__(self, session: Session) -> None:
        self._random = session.random

    def get_state(self) -> torch.Tensor:
        return self._random.state.clone()

    def set_state(self, state: torch.Tensor) -> _DefaultGenerator:
        self._random.state = state.clone()
        return self

    def manual_seed(self, seed: int) -> _DefaultGenerator:
        self._random.seed(seed)
        return self

    def initial_seed(self) -> int:
        return self._random.seed_value

    def get_offset(self) -> int:
        return self._random.draws


def _properties() -> SimpleNamespace:
    return SimpleNamespace(
        name=NAME, major=CAPABILITY[0], minor=CAPABILITY[1], total_memory=MEMORY, multi_processor_count=132,
        max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32, regs_per_multiprocessor=65536,
        shared_memory_per_block=49152, shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472,
        L2_cache_size=50 << 20, is_integrated=0, is_multi_gpu_board=0, gcnArchName="", uuid="emulated",
    )  # fmt: skip
