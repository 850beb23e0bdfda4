"""The device that C++ is told emulated tensors are on, while Python is told `cuda:0`.

A CPU build of torch knows the word `cuda` but has no *device guard* for it, and autograd asks a device's guard for a
stream at every node.  Reporting `cuda` to C++ therefore aborts the process (seen, torch 2.13), and reporting `meta`
takes shortcuts that a CUDA tensor does not take.  `xla` has neither fault: nothing in a plain torch registers it, no
operator shortcuts it, autograd does not count it among the accelerators whose streams it joins, and autocast for
`cuda` accepts it, as `is_autocast_eligible` names both.  All it lacks is a guard too, so `prepare` lends it the one of
the meta device, which does nothing, through libc10's exported table.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import torch

from graphlint.errors import GraphlintError

STANDIN = torch.device("xla", 0)
SHOWN = torch.device("cuda", 0)
HOST = torch.device("cpu")
DEVICE_TYPES = frozenset(("xla", "cuda"))

_XLA, _META, _SLOTS = 9, 14, 15  # c10/core/DeviceType.h; the numbers are serialised and do not change
_TABLE = "_ZN3c104impl26device_guard_impl_registryE"


class EmulationUnavailable(GraphlintError):
    """This build of torch cannot carry the emulation."""

    exit_code = 2


def prepare() -> None:
    """Lend the stand-in a guard; raises `EmulationUnavailable` where libc10 does not export its table."""
    table = _registry()
    if not table[_XLA]:
        table[_XLA] = table[_META]


def _registry() -> ctypes.Array[ctypes.c_void_p]:
    folder = Path(torch.__file__).parent / "lib"
    name = {"darwin": "libc10.dylib", "win32": "c10.dll"}.get(sys.platform, "libc10.so")
    try:
        return (ctypes.c_void_p * _SLOTS).in_dll(ctypes.CDLL(str(folder / name)), _TABLE)
    except (OSError, ValueError) as error:
        raise EmulationUnavailable(
            f"this build of torch cannot be told of an emulated device ({error})",
            "use a GPU (`--device cuda`) or a build of torch from its own package index",
        ) from error


def on_device(device: object) -> bool:
    """Whether what Python code calls a device means the emulated one."""
    if isinstance(device, torch.device):
        return device.type in DEVICE_TYPES
    if isinstance(device, str):
        return device.split(":")[0] in DEVICE_TYPES
    return isinstance(device, int) and not isinstance(device, bool)


def redirected(device: object) -> object:
    """The same device, the emulated one under the name that C++ is told."""
    return STANDIN if on_device(device) else device
