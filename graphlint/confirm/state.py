"""Python state that a call can reach and change: a snapshot, the difference of two, and putting one back.

A *slot* is one attribute, entry or cell, named by its path from the captured callable (`model.layers.0.step`).
Tensors count as changed when they are replaced; a device tensor written in place is what a replay repeats, so it does
not count, but a host tensor does, since no graph writes it again.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from graphlint.confirm.frames import hidden

PLAIN = (int, float, complex, str, bytes, bool, type(None))
LIMIT, LARGE = 200_000, 20_000
"""Slots of one snapshot, and entries above which a container is taken for data."""
MUTABLE = (dict, set, OrderedDict, defaultdict)
"""Exact types that are refilled: subclasses (a model's output) may forbid it."""
NOBODYS = ("torch._", "torch.cuda", "torch.autograd", "builtins", "functools", "logging")
QUIET = ("_backward_hooks", "_forward_hooks", "_forward_pre_hooks", "_hooked", "_compiled_call_impl")


@dataclass
class Snapshot:
    """`slots` maps a path to what stood there; `holders` keeps each container with a shallow copy of its content."""

    slots: dict[str, object] = field(default_factory=dict)
    holders: list[tuple[Any, Any]] = field(default_factory=list)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def restore(self) -> None:
        """Put every container's content back; what tensors hold is left alone."""
        for holder, content in self.holders:
            _refill(holder, content)


def snapshot(roots: Mapping[str, object]) -> Snapshot:
    """What is reachable from the roots through modules, containers, objects and closures."""
    taken, seen = Snapshot(), set[int]()
    waiting: deque[tuple[str, object]] = deque(roots.items())
    while waiting and len(taken.slots) < LIMIT:
        path, value = waiting.popleft()
        taken.slots[path] = _token(value)
        if isinstance(value, torch.Tensor):
            taken.tensors[path] = value
            taken.versions[path] = version(value)
            if value.grad is not None and value.is_leaf:
                waiting.append((f"{path}.grad", value.grad))
            continue
        if id(value) in seen or isinstance(value, PLAIN):
            continue
        seen.add(id(value))
        for holder, content, children in _open(value):
            taken.holders.append((holder, content))
            waiting.extend((path + name, child) for name, child in children)
    return taken


def _token(value: object) -> object:
    """What tells one content of a slot from another."""
    if isinstance(value, torch.Tensor):
        host = version(value) if value.device.type == "cpu" else 0
        return ("tensor", _address(value), tuple(value.shape), host)
    if isinstance(value, PLAIN):
        return ("value", repr(value))
    if isinstance(value, (list, dict, set, deque, tuple)):
        return ("container", type(value).__name__, len(value))
    return ("object", type(value).__name__)


def version(value: torch.Tensor) -> int:
    """How often a tensor was written in place; inference tensors do not count."""
    return 0 if value.is_inference() else value._version


def _address(value: torch.Tensor) -> int:
    plain = value.layout == torch.strided and type(value) in (torch.Tensor, torch.nn.Parameter)
    return value.data_ptr() if plain else id(value)


Children = list[tuple[str, object]]


def _open(value: object) -> Iterator[tuple[Any, Any, Children]]:
    """Each container of an object with its content and its named children; what holds data is not looked into."""
    if isinstance(value, (dict, list, tuple, set, deque)) and len(value) > LARGE:
        return
    if isinstance(value, types.MethodType):
        yield from _opened_object(value.__self__)
    elif isinstance(value, types.FunctionType):
        yield from _opened_function(value)
    elif isinstance(value, dict):
        yield value, dict(value), _entries(value)
    elif isinstance(value, (list, deque)):
        yield value, list(value), [(f"[{place}]", each) for place, each in enumerate(value)]
    elif isinstance(value, tuple):
        yield None, None, [(f"[{place}]", each) for place, each in enumerate(value)]
    elif isinstance(value, set):
        yield value, set(value), []
    elif _is_state(value):
        yield from _opened_object(value)


def _entries(value: Mapping[Any, object]) -> Children:
    """By key, or by place where keys are objects, such as the parameters in an optimizer's state."""
    names = [repr(key) if isinstance(key, PLAIN) else f"#{place}" for place, key in enumerate(value)]
    return [(f"[{name}]", each) for name, each in zip(names, value.values())]


def _is_state(value: object) -> bool:
    kind = type(value)
    if not hasattr(value, "__dict__") or isinstance(value, (type, types.ModuleType, torch.device, torch.dtype)):
        return False
    return isinstance(value, (torch.nn.Module, torch.optim.Optimizer)) or _is_users(kind)


def _is_users(kind: type) -> bool:
    return kind.__module__ != "torch" and not kind.__module__.startswith(NOBODYS)


def _opened_object(value: object) -> Iterator[tuple[Any, Any, Children]]:
    content = vars(value)
    children: Children = []
    for name, each in content.items():
        if name in QUIET:
            continue
        if isinstance(value, torch.nn.Module) and name in ("_parameters", "_buffers", "_modules"):
            yield each, dict(each), [(f".{key}", child) for key, child in each.items()]
        else:
            children.append((f".{name}", each))
    yield content, dict(content), children


def _opened_function(value: types.FunctionType) -> Iterator[tuple[Any, Any, Children]]:
    names = value.__code__.co_freevars
    for name, cell in zip(names, value.__closure__ or ()):
        try:
            held = cell.cell_contents
        except ValueError:
            continue
        yield cell, held, [(f"<{name}>", held)]
    if not hidden(value.__code__.co_filename):
        wanted = {name: value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__}
        kept = {name: each for name, each in wanted.items() if not isinstance(each, (types.ModuleType, type))}
        yield _Globals(value.__globals__, tuple(kept)), kept, [(f"<global {name}>", each) for name, each in kept.items()]


@dataclass(frozen=True)
class _Globals:
    """Some names of a module, so that putting them back leaves the others alone."""

    space: dict[str, Any]
    names: tuple[str, ...]


def _refill(holder: Any, content: Any) -> None:
    match holder:
        case None:
            return
        case types.CellType():
            holder.cell_contents = content
        case _Globals():
            holder.space.update(content)
        case deque() | list():
            holder.clear()
            holder.extend(content)
        case set() | dict() if type(holder) in MUTABLE:
            holder.clear()
            holder.update(content)


def changed(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Paths whose slot appeared, vanished or holds something else, the shortest first."""
    every = {**before.slots, **after.slots}
    found = [path for path in every if before.slots.get(path) != after.slots.get(path)]
    return tuple(sorted(_outermost(found), key=lambda path: (len(path), path)))


def _outermost(paths: list[str]) -> Iterator[str]:
    """Leaves out what lies inside a container that is named already."""
    known = set(paths)
    for path in paths:
        if not any(path[:cut] in known for cut in range(1, len(path)) if path[cut] in ".[<"):
            yield path


def roots(fn: Callable[..., object], args: object, kwargs: object) -> dict[str, object]:
    """Where a step's state hangs: the callable and its arguments."""
    name = getattr(fn, "__name__", "") or type(fn).__name__
    return {name: fn, "args": args, "kwargs": kwargs}
