"""What a capture recorded, and running it again.

A graph repeats kernels over the same addresses with the arguments they were launched with.  So does a tape: its steps
hold the very host tensors that stood behind the device tensors, the Python numbers of that moment and copies of host
operands, and a replay writes each result where the capture put it.  Whatever Python did in between is not there.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

from graphlint.confirm.trees import flat
from graphlint.emulate.generators import DeviceRandom
from graphlint.emulate.plan import Plan
from graphlint.emulate.tensor import Allocator, DeviceTensor, block_size, outside, storage_key
from graphlint.emulate.widen import run_widened

_UNFILLED = ("aten.empty", "aten.new_empty", "aten.empty_like", "aten.empty_strided")


@dataclass(frozen=True, slots=True)
class Step:
    """One launch; `outputs` are where its results went, empty when it wrote into its arguments."""

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[torch.Tensor, ...]
    plan: Plan


class Owned:
    """Memory that a graph reads without owning it; `died` is the allocator's clock when its last owner went."""

    def __init__(self, tensor: DeviceTensor, allocator: Allocator) -> None:
        self.value = tensor.emulated
        self.died = 0
        self._owner = weakref.ref(tensor.memory, lambda owner: setattr(self, "died", allocator.clock))

    def is_reused(self, allocator: Allocator) -> bool:
        """Whether a block of the same size was allocated since: the allocator serves it from the freed one."""
        return bool(self.died) and allocator.born.get(block_size(self.value), 0) > self.died


@dataclass
class Tape:
    """The steps of one capture; `serial` is what the allocator calls the memory allocated meanwhile.

    A graph's pool reuses memory between launches and a tape does not: one that would hold more than `budget` gives up
    on replaying (`is_full`), not on noting what is refused.
    """

    serial: int
    allocator: Allocator
    steps: list[Step] = field(default_factory=list)
    outside: dict[int, Owned] = field(default_factory=dict)
    before: dict[int, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)
    freed: list[tuple[int, ...]] = field(default_factory=list)
    held: int = 0
    is_full: bool = False

    def note_inputs(self, tensors: Iterator[DeviceTensor]) -> None:
        """Remember memory that the graph reads but does not own."""
        for each in tensors:
            if each.memory.capture != self.serial:
                key = storage_key(each.emulated)
                if key not in self.outside:
                    self.outside[key] = Owned(each, self.allocator)

    def save(self, tensor: DeviceTensor) -> None:
        """Keep what memory outside the capture held before the first write: a capture runs nothing."""
        key, value = storage_key(tensor.emulated), tensor.emulated
        if tensor.memory.capture != self.serial and key not in self.before and not value._is_zerotensor():
            self.before[key] = (_bytes(value), _bytes(value).clone())

    def orphans(self) -> int:
        """How many tensors outside the capture are read by the graph alone."""
        return len(self.freed) + sum(bool(each.died) for each in self.outside.values())

    def undo(self) -> None:
        """Put back what memory outside the capture held."""
        with torch.inference_mode(), outside():
            for live, kept in self.before.values():
                live.copy_(kept)

    def unset(self) -> None:
        """Results hold nothing before the first replay."""
        with torch.inference_mode(), outside():
            for each in (each for step in self.steps for each in step.outputs):
                if each.is_floating_point() and each.layout is torch.strided:
                    each.fill_(float("nan"))

    def append(self, step: Step) -> None:
        """Add a launch; memory that is only allocated holds nothing a replay could repeat."""
        if step.plan.name.startswith(_UNFILLED) or self.is_full:
            return
        self.steps.append(step)
        self.held += sum(each.numel() * each.element_size() for each in step.outputs)
        if self.held > budget():
            self.is_full = True
            self.steps.clear()

    def replay(self, random: DeviceRandom) -> None:
        """Run every step again on what the memory holds now."""
        with torch.inference_mode(), outside():
            self._reuse_freed()
            for step in self.steps:
                with random.drawing(step.plan.is_random):
                    results = run_widened(step.func, step.args, step.kwargs, step.plan)
                for kept, fresh in zip(step.outputs, flat(results)):
                    if kept is not fresh:
                        kept.copy_(fresh)

    def _reuse_freed(self) -> None:
        """Memory whose last owner is gone may hold another tensor by now."""
        for key, owned in list(self.outside.items()):
            if owned.is_reused(self.allocator):
                value = owned.value
                value.fill_(float("nan") if value.is_floating_point() or value.is_complex() else 1)
                self.freed.append(tuple(value.shape))
                del self.outside[key]


@lru_cache(maxsize=1)
def budget() -> int:
    """Bytes that the results of one capture may take: an eighth of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8
    except (AttributeError, OSError, ValueError):  # no such thing on Windows
        return 4 << 30


def _bytes(value: torch.Tensor) -> torch.Tensor:
    """The whole storage behind a tensor, as bytes; the tensor itself where it has none."""
    if value.layout is not torch.strided:
        return value
    return torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
