"""What libraries ask of `torch.cuda`, and the emulated device's answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from graphlint.emulate import legacy
from graphlint.emulate.graphs import graph_class
from graphlint.emulate.session import Session
from graphlint.emulate.standin import SHOWN
from graphlint.emulate.streams import Event, Stream, StreamContext

NAME = "NVIDIA H200 (emulated)"
CAPABILITY = (9, 0)
MEMORY = 141 << 30
CUDA = "13.0"


def answers(session: Session) -> dict[str, Any]:
    """Attributes of `torch.cuda` while the emulation is entered."""
    return {
        **{name: _constant(value) for name, value in CONSTANTS.items()},
        **dict.fromkeys(COUNTERS, _constant(0)),
        **dict.fromkeys(RESETS, _constant(None)),
        **_streams(session),
        **_random(session),
        **legacy.classes(),
        "_lazy_call": lambda callable, **kwargs: callable(),
        "get_device_properties": _constant(_properties()),
        "memory_stats": lambda device=None: OrderedDict(),
        "device": _Device,
        "_DeviceGuard": _Device,
        "device_of": _Device,
        "CUDAGraph": graph_class(session),
        "default_generators": (_DefaultGenerator(session),),
    }


CONSTANTS: dict[str, Any] = {
    "is_available": True, "device_count": 1, "_device_count_nvml": 1, "current_device": 0, "set_device": None,
    "init": None, "_lazy_init": None, "is_initialized": True, "_is_in_bad_fork": False, "is_bf16_supported": True,
    "is_tf32_supported": True, "get_device_name": NAME, "get_device_capability": CAPABILITY,
    "get_arch_list": ["sm_90"], "can_device_access_peer": False, "graph_pool_handle": (0, 1), "empty_cache": None,
    "ipc_collect": None, "set_sync_debug_mode": None, "get_sync_debug_mode": 0, "_sleep": None,
    "memory_stats_as_nested_dict": {}, "memory_summary": "", "memory_snapshot": [], "mem_get_info": (MEMORY, MEMORY),
}  # fmt: skip
COUNTERS = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
             "max_memory_cached", "utilization", "temperature", "power_draw", "clock_rate")  # fmt: skip
RESETS = ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
           "reset_accumulated_memory_stats", "set_per_process_memory_fraction")  # fmt: skip


def _constant(answer: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: answer


def _streams(session: Session) -> dict[str, Any]:
    """The current stream, and waiting for all of them."""
    streams = session.streams

    def synchronize(device: object = None) -> None:
        if session.tape is not None:
            session.refuse("torch.cuda.synchronize", "sync")

    def set_stream(stream: Stream | None) -> None:
        streams.current = stream or streams.current

    return {
        "synchronize": synchronize,
        "current_stream": lambda device=None: streams.current,
        "default_stream": lambda device=None: streams.default,
        "set_stream": set_stream,
        "stream": StreamContext,
        "StreamContext": StreamContext,
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "is_current_stream_capturing": streams.is_capturing,
    }


def _random(session: Session) -> dict[str, Any]:
    """The default generator; a capture allows seeding only with the seed that is there already."""
    random = session.random

    def manual_seed(seed: int) -> None:
        if session.tape is not None and seed != random.seed_value:
            session.refuse("torch.cuda.manual_seed", "seed")
        random.seed(seed)

    return {
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed,
        "seed": lambda: manual_seed(torch.default_generator.seed()),
        "seed_all": lambda: manual_seed(torch.default_generator.seed()),
        "initial_seed": lambda: random.seed_value,
        "get_rng_state": lambda device="cuda": random.state.clone(),
        "get_rng_state_all": lambda: [random.state.clone()],
        "set_rng_state": lambda state, device="cuda": setattr(random, "state", state.clone()),
        "set_rng_state_all": lambda states: setattr(random, "state", states[0].clone()),
    }


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
