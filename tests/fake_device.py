"""A device for tests without a GPU: it refuses what it is told to refuse, and replays a tape of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from graphlint.confirm.device import Captured
from graphlint.confirm.outcome import Machine
from graphlint.confirm.recording import mutated

REFUSED = ("aten._local_scalar_dense.default", "aten.nonzero.default", "aten.index.Tensor")
MESSAGE = "operation not permitted when stream is capturing"


class Tape(TorchDispatchMode):
    """Notes every operator, and raises for those that are refused."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> object:
        if str(func) in REFUSED:
            raise RuntimeError(MESSAGE)
        for each in mutated(func, args, kwargs or {}):
            self.before.setdefault(id(each), (each, each.clone()))
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, result))
        return result

    def undo(self) -> None:
        """A capture computes nothing: what was written meanwhile is as it was."""
        with torch.no_grad():
            for tensor, content in self.before.values():
                tensor.copy_(content)

    def replay(self) -> None:
        with torch.no_grad():
            for func, args, kwargs, result in self.calls:
                again = func(*args, **kwargs)
                for old, new in zip(tree_leaves(result), tree_leaves(again)):
                    if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                        old.copy_(new)


class FakeDevice:
    """Captures on the host."""

    name = "fake"
    machine = Machine("fake", "test", torch.__version__)

    def synchronize(self) -> None:
        return None

    @contextmanager
    def warming(self) -> Iterator[None]:
        yield

    @contextmanager
    def believing(self) -> Iterator[None]:
        with mock.patch("torch.cuda.graphs._cuda_isCurrentStreamCapturing", lambda: True):
            yield

    def capture(self, step: Callable[[], object], pool: tuple[int, int] | None = None) -> Captured:
        tape = Tape()
        with self.believing(), tape:
            output = step()
        tape.undo()
        return Captured(tape.replay, output, 0.0)

    def repair(self) -> None:
        return None

    def seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def draws(self) -> int:
        return 0

    def random(self) -> object:
        return torch.get_rng_state()

    def set_random(self, state: Any) -> None:
        torch.set_rng_state(state)
