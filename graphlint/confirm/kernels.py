"""What one call launches, as the profiler (CUPTI) counts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

HOST_COPIES = ("Memcpy HtoD", "Memcpy DtoH")


@dataclass(frozen=True, slots=True)
class Kernels:
    """Device activities of one call: how many, their summed time in ms, the host calls that launched graphs and kernels,
    and the copies between host and device."""

    count: int
    gpu_ms: float
    graph_launches: int
    kernel_launches: int
    host_copies: int


def counted(step: Callable[[], object]) -> Kernels:
    """Profile one call: the second, as the first under a profiler pays for setting it up."""
    _profiled(step)
    return _profiled(step)


def _profiled(step: Callable[[], object]) -> Kernels:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=activities) as profile:
        step()
        torch.cuda.synchronize()
    results: Any = profile.profiler
    events = list(results.kineto_results.events())
    device = [each for each in events if each.device_type().name == "CUDA" and not _is_annotation(each)]
    names = [each.name() for each in events if each.device_type().name == "CPU"]
    launches = sum("LaunchKernel" in name for name in names)
    graphs = sum("GraphLaunch" in name for name in names)
    copies = sum(each.name().startswith(HOST_COPIES) for each in device)
    return Kernels(len(device), sum(each.duration_ns() for each in device) / 1e6, graphs, launches, copies)


def _is_annotation(event: Any) -> bool:
    """Whether an event only spans others, as those of `record_function` around an optimizer's step do."""
    return bool(getattr(event, "is_user_annotation", bool)())
