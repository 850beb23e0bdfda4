"""What one emulated device knows: its memory, its random numbers, its streams and the capture that is under way."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import torch

from graphlint.confirm.frames import Frame, stack
from graphlint.confirm.outcome import Refusal
from graphlint.emulate.generators import DeviceRandom
from graphlint.emulate.rows import EFFECTS
from graphlint.emulate.streams import Streams
from graphlint.emulate.tape import Tape
from graphlint.emulate.tensor import Allocator, storage_key

UNJOINED = "end of capture"
"""The operation that is refused when a forked stream was not joined."""


class Pinned:
    """Host storages in page-locked memory."""

    def __init__(self) -> None:
        self._held: dict[int, weakref.ref[torch.Tensor]] = {}

    def add(self, value: torch.Tensor) -> None:
        self._held[storage_key(value)] = weakref.ref(value)

    def has(self, value: torch.Tensor) -> bool:
        return bool(self._held) and storage_key(value) in self._held


class Session:
    """The state behind the two modes.

    `calling` names the torch function that user code is in, `first` is what this capture, or the last, was refused first.
    """

    def __init__(self) -> None:
        self.allocator = Allocator()
        self.random = DeviceRandom()
        self.pinned = Pinned()
        self.streams = Streams()
        self.tape: Tape | None = None
        self.graph = 0
        self.serial = 0
        self.nested = 0
        self.compiled = 0
        self.calling: Callable[..., object] | None = None
        self.refusals: dict[tuple[str, int, str], Refusal] = {}
        self.first: Refusal | None = None
        self.strays: dict[int, Refusal] = {}
        self.libraries: set[tuple[str, bool]] = set()
        self.unknown: dict[str, None] = {}

    def begin(self) -> Tape:
        """Start a capture; a second one inside it is refused and goes into the first one's tape."""
        if self.tape is not None:
            self.nested += 1
            self.refuse("torch.cuda.CUDAGraph.capture_begin", "refused")
            return self.tape
        self.serial += 1
        self.graph = self.allocator.capture = self.serial
        self.tape = Tape(self.serial, self.allocator)
        self.strays.clear()
        self.first = None
        self.streams.begin()
        return self.tape

    def end(self) -> None:
        """End the capture and put back the memory that it appeared to write."""
        if self.tape is None:
            raise RuntimeError("CUDA error: no capture is under way")
        if self.nested:
            self.nested -= 1
            return
        if self.streams.unjoined():
            self.calling = None
            self.refuse(UNJOINED, "unjoined")
        for each in self.strays.values():
            self.note(each)
        tape, self.tape, self.allocator.capture = self.tape, None, 0
        self.streams.end()
        tape.undo()
        tape.unset()

    def use(self, library: str) -> bool:
        """Whether a library has been set up; it is from now on.  On a GPU, autograd's thread has handles of its own."""
        handle = library, torch._C._current_graph_task_id() >= 0
        was_ready = handle in self.libraries
        self.libraries.add(handle)
        return was_ready

    def refuse(self, op: str, effect: str) -> None:
        """Note that a capture refuses this here; the first operation of a line that is refused names it."""
        self.note(self.refusal(op, effect))

    def note(self, found: Refusal) -> None:
        self.first = self.first or found
        self.refusals.setdefault((found.file, found.line, found.op), found)

    def refusal(self, op: str, effect: str) -> Refusal:
        """What a capture would say of the operation that is under way."""
        frames = stack()
        place = frames[-1] if frames else Frame("", 0, "")
        error, message = EFFECTS[effect]
        trail = tuple(each.step for each in frames)
        name = public_name(self.calling) or op
        return Refusal(place.file, place.line, place.function, name, error, message, trail, place.text)

    def launch(self) -> None:
        """Work on the current stream; on one that the capture does not include it is refused unless it is joined."""
        if not self.streams.launch():
            self.strays[self.streams.current.number] = self.refusal("torch.cuda.stream", "sync")


def public_name(function: Callable[..., object] | None) -> str:
    """The name under which users know a torch function, or an empty string."""
    if function is None:
        return ""
    return (torch.overrides.resolve_name(function) or "").replace("torch.functional.", "torch.")
