"""Where the random numbers of the host and the device stand, so that two runs can start from one place."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import Any

import torch

from graphlint.confirm.device import Device


@dataclass(frozen=True)
class Chance:
    """The states of Python's, NumPy's and torch's generators; the device's is left out when it is None."""

    python: Any
    numpy: Any
    host: torch.Tensor
    device: Any = None

    def restore(self, device: Device) -> None:
        random.setstate(self.python)
        numpy = sys.modules.get("numpy")
        if numpy is not None and self.numpy is not None:
            numpy.random.set_state(self.numpy)
        torch.set_rng_state(self.host)
        if self.device is not None:
            device.set_random(self.device)


def taken(device: Device | None = None) -> Chance:
    """The states now; NumPy's only where something has imported it."""
    numpy: Any = sys.modules.get("numpy")
    state = numpy.random.get_state() if numpy is not None else None
    return Chance(random.getstate(), state, torch.get_rng_state(), device.random() if device is not None else None)


def seed(device: Device, value: int) -> None:
    """Seed every generator."""
    random.seed(value)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(value)
    torch.manual_seed(value)
    device.seed(value)
