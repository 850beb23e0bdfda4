"""Streams and events during a capture: which streams take part, and whether they come back before it ends."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from graphlint.emulate.standin import SHOWN


class Streams:
    """The current stream, and for a capture the streams in it with whether their last work was waited for."""

    def __init__(self) -> None:
        self.default = Stream.numbered(0)
        self.current: Stream = self.default
        self.origin: Stream | None = None
        self.pending: dict[int, bool] = {}
        self.strays: set[int] = set()
        self.serial = 0

    def begin(self) -> None:
        self.serial += 1
        self.origin, self.pending, self.strays = self.current, {self.current.number: False}, set()

    def end(self) -> None:
        self.origin, self.pending = None, {}

    def is_capturing(self) -> bool:
        return self.origin is not None and self.current.number in self.pending

    def unjoined(self) -> bool:
        origin = self.origin.number if self.origin is not None else -1
        return any(waits for number, waits in self.pending.items() if number != origin)

    def launch(self) -> bool:
        """Work on the current stream; false for the first on one that the capture under way does not include."""
        if self.origin is None or self.current.number in self.strays:
            return True
        if self.current.number not in self.pending:
            self.strays.add(self.current.number)
            return False
        self.pending[self.current.number] = True
        return True

    def settle(self) -> None:
        """A collective was the last work of the current stream: NCCL leaves nothing open behind it (seen on two H200s)."""
        if self.origin is not None and self.current.number in self.pending and self.current is not self.origin:
            self.pending[self.current.number] = False

    def join(self, waiting: Stream, waited: int) -> bool:
        """`waiting` goes on after what `waited` has done so far, and so takes part in its capture.

        False when the capture would come to depend on a stream that it does not include.
        """
        if waited in self.pending:
            self.pending.setdefault(waiting.number, False)
            self.pending[waiting.number] |= waited != waiting.number and self.pending[waited]
            self.pending[waited] = self.pending[waited] and waited == waiting.number
        return waited in self.pending or waiting.number not in self.pending


_NUMBERS = iter(range(1, 1 << 60))
SESSIONS: list[Any] = []
"""The sessions that are entered, the innermost last."""


def _refuse(op: str, effect: str = "sync") -> bool:
    """Note a refused host call during a capture, and say whether there is one."""
    if SESSIONS and SESSIONS[-1].tape is not None:
        SESSIONS[-1].refuse(op, effect)
        return True
    return False


class Stream:
    """A stream of the emulated device: work is done at once, so that only its order under capture is left to know."""

    device = SHOWN
    device_index = 0
    device_type = 1
    priority = 0

    def __init__(self, device: object = None, priority: int = 0, **kwargs: Any) -> None:
        self.number = next(_NUMBERS)
        self.priority = priority

    @classmethod
    def numbered(cls, number: int) -> Stream:
        made = cls()
        made.number = number
        return made

    @property
    def stream_id(self) -> int:
        return self.number

    @property
    def cuda_stream(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)

    def synchronize(self) -> None:
        _refuse("torch.cuda.Stream.synchronize")

    def query(self) -> bool:
        _refuse("torch.cuda.Stream.query")
        return True

    def is_capturing(self) -> bool:
        return self.number in _streams().pending

    def wait_stream(self, stream: Stream) -> None:
        if not _streams().join(self, stream.number):
            _refuse("torch.cuda.Stream.wait_stream", "isolation")
            SESSIONS[-1].strays.pop(stream.number, None)

    def wait_event(self, event: Event) -> None:
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        made = Event() if event is None else event
        made.record(self)
        return made

    def __enter__(self) -> Stream:
        self._context = StreamContext(self)
        self._context.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self._context.__exit__(kind, error, where)


class Event:
    """An event; `capture` is the serial number of the capture it was last recorded in, 0 for none."""

    device = SHOWN

    def __init__(self, enable_timing: bool = False, external: bool = False, **options: bool) -> None:
        self.is_external = external
        self.stream = -1
        self.capture = 0
        self.cuda_event = id(self)

    def record(self, stream: Stream | None = None) -> None:
        """Take up the work of a stream, the current one by default, as far as it was issued."""
        streams = _streams()
        on = stream or streams.current
        self.stream = on.number
        self.capture = streams.serial if on.number in streams.pending else 0

    def wait(self, stream: Stream | None = None) -> None:
        """Make a stream wait: inside a capture it joins it, and an event from outside is refused."""
        streams = _streams()
        waiting = stream or streams.current
        if self.stream < 0 or streams.origin is None:
            return
        if self.capture == streams.serial:
            streams.join(waiting, self.stream)
        elif waiting.number in streams.pending and not self.is_external:
            _refuse("torch.cuda.Stream.wait_event", "isolation")

    def query(self) -> bool:
        _refuse("torch.cuda.Event.query", "event" if self.capture else "sync")
        return True

    def synchronize(self) -> None:
        _refuse("torch.cuda.Event.synchronize", "event" if self.capture else "sync")

    def elapsed_time(self, end: Event) -> float:
        _refuse("torch.cuda.Event.elapsed_time", "event")
        return 1.0

    def ipc_handle(self) -> bytes:
        return b""


class StreamContext:
    """`with torch.cuda.stream(s)`."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.before: Stream | None = None

    def __enter__(self) -> None:
        if self.stream is not None:
            self.before, _streams().current = _streams().current, self.stream

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            _streams().current = self.before


def _streams() -> Streams:
    return SESSIONS[-1].streams if SESSIONS else Streams()
