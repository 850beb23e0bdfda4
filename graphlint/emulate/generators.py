"""Random numbers on the emulated device: one default generator, and generators of the user's own."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from graphlint.emulate.standin import SHOWN, on_device

_Generator = torch.Generator


class DeviceGenerator(_Generator):
    """What `torch.Generator(device="cuda")` makes: a host generator that says it is on the device."""

    graphs: set[int]

    def __new__(cls, device: object = "cpu") -> Any:
        if not on_device(device):
            return _Generator(device=device)  # type: ignore[arg-type]  # whatever torch accepts
        made: Any = super().__new__(cls, device="cpu")  # type: ignore[call-arg]  # the stub knows `__init__` only
        made.graphs = set()
        KNOWN[made._cdata] = made
        return made

    def __init__(self, device: object = "cpu") -> None:
        """Everything happens in `__new__`."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch declares an attribute
        return SHOWN

    def get_offset(self) -> int:
        return 0


KNOWN: weakref.WeakValueDictionary[int, DeviceGenerator] = weakref.WeakValueDictionary()
"""Device generators by the address of their implementation: the dispatcher makes a new Python object each time."""


class DeviceRandom:
    """The default generator of the device, kept beside the host's own."""

    def __init__(self) -> None:
        self.state = _Generator().manual_seed(0).get_state()
        self.seed_value = 0
        self.draws = 0

    def seed(self, value: int) -> None:
        self.seed_value = value
        self.state = _Generator().manual_seed(value).get_state()

    @contextmanager
    def drawing(self, really: bool) -> Iterator[None]:
        """Draws inside come from the device's generator; costs nothing when nothing is drawn."""
        if not really:
            yield
            return
        host = torch.default_generator.get_state()
        torch.default_generator.set_state(self.state)
        try:
            yield
        finally:
            self.state = torch.default_generator.get_state()
            self.draws += 1
            torch.default_generator.set_state(host)


def device_generator(arguments: list[Any]) -> DeviceGenerator | None:
    """The user's generator among the arguments of an operator on the device; raises what CUDA says of a host's."""
    for each in arguments:
        if isinstance(each, _Generator):
            found = KNOWN.get(getattr(each, "_cdata", 0))
            if found is None:
                raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
            return found
    return None
