"""What names say of the things they stand for, where nothing better is known.

A name is weak evidence: it lowers what is believed, or decides between arms of which nobody knows which one runs.
"""

from __future__ import annotations

import functools
import re

HOST = frozenset({"cpu", "host", "np", "numpy", "pinned"})
"""Words by which programs tell host tensors from their twins on the device: `seq_lens_cpu`, `pinned_ids`."""

DEVICE = frozenset({"device", "dev", "gpu", "cuda", "rank"})
"""Words for a device that a tensor is brought to."""

CAPTURING = re.compile(r"_*(get_)?(is|in|is_in)_(\w+_)?captur(e|ing)(_mode|_graph|_stream)*|_*(\w+_)?capturing(_\w+)?")
"""Questions of projects that note for themselves when they capture."""

PINNING = re.compile(r"_*(is_|use_|can_|should_)?_*pin(ned|ning)?(_memory)?(_available|_supported)?")
"""Flags and questions that decide whether memory is page-locked: it is, wherever there is a device to copy to."""


@functools.cache
def is_host(name: str) -> bool:
    """Whether a name says that a tensor lives on the host."""
    return not HOST.isdisjoint(name.lower().split("_"))


@functools.cache
def is_mask(name: str) -> bool:
    """Whether a name says that a tensor used as an index selects by truth: `pad_mask`, not `mask_index`."""
    return name.lower().rstrip("_").endswith(("mask", "masks"))


@functools.cache
def is_capturing(name: str) -> bool:
    """Whether a name asks if a graph is being captured."""
    return CAPTURING.fullmatch(name.lower()) is not None


@functools.cache
def is_pinning(name: str) -> bool:
    """Whether a name asks if memory is, or can be, page-locked."""
    return PINNING.fullmatch(name.lower()) is not None


@functools.cache
def is_device(name: str) -> bool:
    """Whether a name says that it stands for a device other than the host."""
    words = name.lower().split("_")
    return not DEVICE.isdisjoint(words) and HOST.isdisjoint(words)
