"""The emulated GPU as a device that the confirming engine works with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

from graphlint.confirm.device import Captured
from graphlint.confirm.outcome import Machine
from graphlint.emulate.answers import NAME
from graphlint.emulate.graphs import CaptureRefused
from graphlint.emulate.session import Session
from graphlint.emulate.tape import Tape


class Emulated:
    """One session of the emulation."""

    name = "emulated"

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tape: Tape | None = None
        self.machine = Machine("emulated", NAME, torch.__version__)

    def synchronize(self) -> None:
        """Work is done at once."""

    @contextmanager
    def warming(self) -> Iterator[None]:
        """A side stream, as for a real warm-up: code may ask which stream is current."""
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            yield

    @contextmanager
    def believing(self) -> Iterator[None]:
        with mock.patch("torch.cuda.graphs._cuda_isCurrentStreamCapturing", lambda: True):
            yield

    def capture(self, step: Callable[[], object], pool: tuple[int, int] | None = None) -> Captured:
        """Capture one call; raises what the call raised, or `CaptureRefused` when anything was refused."""
        session, started = self.session, time.perf_counter()
        state, stream = session.random.state, session.streams.current
        session.streams.current = torch.cuda.Stream()  # type: ignore[assignment]  # patched: the emulation's own class
        tape = self.tape = session.begin()
        try:
            output = step()
        finally:
            session.end()
            session.random.state, session.streams.current = state, stream
        if session.first is not None:
            raise CaptureRefused("operation failed due to a previous error during capture")
        return Captured(lambda: tape.replay(session.random), output, time.perf_counter() - started, pool)

    def repair(self) -> None:
        """Nothing stays in capture mode."""

    def seed(self, seed: int) -> None:
        self.session.random.seed(seed)

    def draws(self) -> int:
        return self.session.random.draws

    def random(self) -> object:
        return self.session.random.state.clone()

    def set_random(self, state: Any) -> None:
        self.session.random.state = state.clone()
