"""Two watchers over one call: of operators (below autograd) and of functions (what hides its operators).

A *mark* names an operation by what it is and the user line it stands on.  `Recorder` keeps what each mark gave in an
eager pass; `Answerer` gives the recorded results for the marks it is told to answer, lets all others run, and notes
the first operation that raised.  `torch.tensor`, `repr(tensor)` and indexing with lists copy inside C++ without an
operator that a dispatch mode sees, which is why both levels are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from graphlint.confirm import frames

SMALL = 1 << 16
"""Bytes up to which a result is kept even when the budget of a recording is spent."""
STORES = ("torch.Tensor.__setitem__", "torch.Tensor.copy_", "torch.Tensor.fill_")
INDEXING = "torch.Tensor.__getitem__"
CALLS: tuple[tuple[Any, str, str], ...] = (
    (torch.cuda, "synchronize", "torch.cuda.synchronize"),
    (torch.cuda.Stream, "synchronize", "torch.cuda.Stream.synchronize"),
    (torch.cuda.Stream, "query", "torch.cuda.Stream.query"),
    (torch.cuda.Stream, "wait_event", "torch.cuda.Stream.wait_event"),
    (torch.cuda.Event, "synchronize", "torch.cuda.Event.synchronize"),
    (torch.cuda.Event, "query", "torch.cuda.Event.query"),
    (torch.cuda.Event, "elapsed_time", "torch.cuda.Event.elapsed_time"),
)
"""What waits for the device or asks for its state without an operator: owner, attribute, public name."""


class Mark(NamedTuple):
    """An operation on a line; `level` is "op" or "function"."""

    level: str
    name: str
    file: str
    line: int


class Failure(NamedTuple):
    """The first operation that raised, and the user frames it was called from."""

    mark: Mark
    error: BaseException
    trail: tuple[frames.Frame, ...]


class Rerun:
    """Stands in a recording for a result that was not kept because it is a view of an argument: it is computed anew."""


class Missing(RuntimeError):
    """An operation is to be answered and the recording has no result for it: the path differs."""


@dataclass
class Recording:
    """What each mark gave, in order; `raised` holds marks whose operation raises in eager too; `budget` is in bytes."""

    budget: int
    results: dict[Mark, list[Any]] = field(default_factory=dict)
    raised: set[Mark] = field(default_factory=set)
    kept: int = 0

    def keep(self, mark: Mark, result: object) -> None:
        self.results.setdefault(mark, []).append(tree_map(self._copy, result))

    def _copy(self, value: object) -> object:
        if not isinstance(value, torch.Tensor):
            return value
        if is_functorch_wrapped_tensor(value):
            return Missing
        size = value.numel() * value.element_size()
        if size > SMALL and self.kept + size > self.budget:
            return Missing
        self.kept += size
        copied = value.detach().clone()
        return copied.pin_memory() if value.device.type == "cpu" and value.is_pinned() else copied


def mutated(op: Any, args: Sequence[object], kwargs: Mapping[str, object]) -> list[torch.Tensor]:
    """The tensors an operator's schema says it writes."""
    found = []
    for place, argument in enumerate(op._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            found += tree_leaves(args[place] if place < len(args) else kwargs.get(argument.name))
    return [each for each in found if isinstance(each, torch.Tensor)]


def is_view(op: Any) -> bool:
    """Whether an operator only gives another view of an argument."""
    aliases = [each.alias_info for each in op._schema.returns]
    return bool(aliases) and all(each is not None and not each.is_write for each in aliases)


class _Ops(TorchDispatchMode):
    def __init__(self, handle: Callable[..., object]) -> None:
        super().__init__()
        self.handle = handle

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> object:
        return self.handle(func, args, kwargs or {})


class _Functions(TorchFunctionMode):
    def __init__(self, handle: Callable[..., object]) -> None:
        super().__init__()
        self.handle = handle

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> object:
        return self.handle(func, args, kwargs or {})


def watching(watcher: Recorder | Answerer) -> AbstractContextManager[object]:
    """Both modes around a call, and the calls that neither sees."""
    every = ExitStack()
    for owner, attribute, name in CALLS:
        every.enter_context(mock.patch.object(owner, attribute, _told(watcher, getattr(owner, attribute), name)))
    every.enter_context(_Functions(watcher.function))
    every.enter_context(_Ops(watcher.op))
    return every


def _told(watcher: Recorder | Answerer, call: Callable[..., object], name: str) -> Callable[..., object]:
    def told(*args: object, **kwargs: object) -> object:
        return watcher.call(name, call, args, kwargs)

    return told


class Recorder:
    """Keeps the results of an eager pass."""

    def __init__(self, budget: int) -> None:
        self.recording = Recording(budget)
        self.seen = 0

    def op(self, func: Any, args: Any, kwargs: Any) -> object:
        mark = Mark("op", str(func), *frames.caller())
        result = self._ran(mark, func, args, kwargs)
        self.seen += not is_view(func)
        if func._schema.is_mutable:
            self.recording.keep(mark, mutated(func, args, kwargs))
        else:
            self.recording.keep(mark, Rerun if is_view(func) else result)
        return result

    def function(self, func: Any, args: Any, kwargs: Any) -> object:
        return self.call(named(func), func, args, kwargs)

    def call(self, name: str, func: Any, args: Any, kwargs: Any) -> object:
        """Kept is what hides its work: what ran operators can be answered there, but for indexing, which copies first."""
        mark, before = Mark("function", name, *frames.caller()), self.seen
        result = self._ran(mark, func, args, kwargs)
        if name in STORES:
            self.recording.keep(mark, args[0])
        elif self.seen - before <= 1 or name == INDEXING:
            self.recording.keep(mark, Rerun if _shares(result, args) else result)
        return result

    def _ran(self, mark: Mark, func: Any, args: Any, kwargs: Any) -> object:
        try:
            return func(*args, **kwargs)
        except Exception:
            self.recording.raised.add(mark)
            raise


class Answerer:
    """Runs what may run, answers `answers` from a recording, and notes the first failure."""

    def __init__(self, recording: Recording, answers: set[Mark], stream: Callable[[], int] | None = None) -> None:
        self.recording = recording
        self.answers = answers
        self.names = {mark.name for mark in answers}
        self.served: Counter[Mark] = Counter()
        self.failure: Failure | None = None
        self.stream = stream
        self.last: dict[int, tuple[frames.Frame, ...]] = {}

    def op(self, func: Any, args: Any, kwargs: Any) -> object:
        name = str(func)
        if self.stream is not None:
            self.last[self.stream()] = frames.stack()
        if name in self.names:
            mark = Mark("op", name, *frames.caller())
            if mark in self.answers:
                return self._op_answer(mark, func, args, kwargs)
        return self._run("op", name, func, args, kwargs)

    def function(self, func: Any, args: Any, kwargs: Any) -> object:
        return self.call(named(func), func, args, kwargs)

    def call(self, name: str, func: Any, args: Any, kwargs: Any) -> object:
        if name in self.names:
            mark = Mark("function", name, *frames.caller())
            if mark in self.answers:
                return self._call_answer(mark, func, args, kwargs)
        return self._run("function", name, func, args, kwargs)

    def _run(self, level: str, name: str, func: Any, args: Any, kwargs: Any) -> object:
        try:
            return func(*args, **kwargs)
        except Exception as error:
            mark = Mark(level, name, *frames.caller())
            if self.failure is None and mark not in self.recording.raised:
                self.failure = Failure(mark, error, frames.stack())
            raise

    def _next(self, mark: Mark) -> Any:
        results, place = self.recording.results.get(mark, []), self.served[mark]
        self.served[mark] += 1
        if place >= len(results) or any(each is Missing for each in tree_leaves(results[place])):
            raise Missing(f"no recorded result for `{mark.name}` at line {mark.line}, call {place + 1}")
        return results[place]

    def _op_answer(self, mark: Mark, func: Any, args: Any, kwargs: Any) -> object:
        recorded = self._next(mark)
        if recorded is Rerun:
            return self._run("op", mark.name, func, args, kwargs)
        if not func._schema.is_mutable:
            return tree_map(_fresh, recorded)
        written = mutated(func, args, kwargs)
        for target, value in zip(written, recorded):
            target.copy_(value)
        return written[0] if len(func._schema.returns) == 1 else tuple(written)

    def _call_answer(self, mark: Mark, func: Any, args: Any, kwargs: Any) -> object:
        recorded = self._next(mark)
        if recorded is Rerun:
            return self._run("function", mark.name, func, args, kwargs)
        if mark.name not in STORES:
            return tree_map(_fresh, recorded)
        with torch.no_grad():
            args[0].copy_(recorded)
        return None if mark.name.endswith("__setitem__") else args[0]


def _fresh(value: object) -> object:
    """A device tensor is copied, which a capture records; a host tensor is given as it is, page-locked or not."""
    return value.clone() if isinstance(value, torch.Tensor) and value.device.type != "cpu" else value


def named(func: Any) -> str:
    """The public name of a function or method of torch."""
    try:
        return str(resolve_name(func) or getattr(func, "__name__", func))
    except (AttributeError, TypeError):
        return str(getattr(func, "__name__", func))


def _shares(result: object, args: object) -> bool:
    """Whether a result is one of the arguments or a view of one."""
    made = [each for each in tree_leaves(result) if isinstance(each, torch.Tensor)]
    given = {_storage(each) for each in tree_leaves(args) if isinstance(each, torch.Tensor)}
    return any(_storage(each) in given for each in made)


def _storage(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # sparse tensors, and those of `vmap`, have none
        return id(tensor)
