"""A case: one step of a program that is to be captured, with its inputs.

    def make_case(device):
        model = Decoder().to(device)
        return Case(model, (torch.randn(1, 64, device=device),), vary=lambda: (torch.randn(1, 64, device=device),))

A factory may also return `(fn, args)`, `(fn, args, kwargs)` or a mapping with the same words as keys.  Nothing here
imports torch, so a project can import it anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphlint.errors import UsageError

WORDS = ("fn", "args", "kwargs", "vary", "prepare", "restore", "name", "agree")
SHAPE = "return `(fn, args)`, `(fn, args, kwargs)`, a mapping with `fn` and `args`, or a `graphlint.Case`"


@dataclass(frozen=True, slots=True)
class Case:
    """One step `fn(*args, **kwargs)` over static inputs.

    `vary()` gives new inputs of the same shapes: a tuple of arguments, or `(args, kwargs)`.  `prepare()` runs before
    every call of `fn` outside a replay, for steps that want fresh state (a cache); `restore()` runs before every
    replay and puts that state back in place, at the same addresses.  `agree` names outputs (`output`, `output[0]`) that
    are to be the same on all ranks, for `confirm --ranks`; those that eager makes the same need not be named.
    """

    fn: Callable[..., Any]
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    vary: Callable[[], Any] | None = None
    prepare: Callable[[], object] | None = None
    restore: Callable[[], object] | None = None
    name: str = ""
    agree: tuple[str, ...] = ()


def as_case(made: object) -> Case:
    """The case a factory meant by what it returned; raises `UsageError` naming the accepted forms."""
    match made:
        case Case():
            found = made
        case Mapping() if "fn" in made and not set(made) - set(WORDS):
            found = Case(**{str(key): value for key, value in made.items() if value is not None})
        case (fn, tuple() | list() as args) if callable(fn):
            found = Case(fn, args)
        case (fn, tuple() | list() as args, Mapping() as kwargs) if callable(fn):
            found = Case(fn, args, kwargs)
        case _:
            raise UsageError(f"the factory returned `{type(made).__name__}`, which is not a case", SHAPE)
    if not callable(found.fn) or not isinstance(found.args, (tuple, list)):
        raise UsageError("the case's `fn` is not callable or its `args` are not a tuple", SHAPE)
    return found


def varied(made: object) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments and keyword arguments meant by what `vary()` returned."""
    match made:
        case (tuple() | list() as args, Mapping() as kwargs):
            return tuple(args), dict(kwargs)
        case Mapping():
            return (), dict(made)
        case tuple() | list():
            return tuple(made), {}
        case _:
            return (made,), {}
