"""What a rule is: a function from one event to findings, with its page as the module docstring.

    @rule("GL101", on=HostRead, predicts="breaks")
    def host_read(event: HostRead) -> Finding | None:
        return finding(event, f"`{event.text}` reads a device value back to the host", help="...")

The module's file name, the function's name and the rule's name are one word (`host_read` -> `host-read`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from graphlint.events import Event
from graphlint.record import Record, frozen
from graphlint.types import Confidence, Effect, Finding, Fix, Target

E = TypeVar("E", bound=Event)
WORDS = tuple(each.value for each in Effect)
Judge = Callable[[Any], "Finding | None"]


@frozen
class Rule(Record):
    """A rule as the registry holds it.

    `predicts` is the effect under raw capture, `compile` the one under `torch.compile` with graphs; None means the
    rule has nothing to say about that target.  `gpu` is empty, or the reason why one GPU cannot show the rule.
    """

    code: str
    name: str
    on: type[Event]
    predicts: Effect | None
    compile: Effect | None
    judge: Judge
    page: str
    gpu: str = ""

    @property
    def summary(self) -> str:
        return self.page.strip().split("\n", 1)[0]


def rule(
    code: str, *, on: type[E], predicts: str | None, compile: str | None = None, gpu: str = ""
) -> Callable[[Callable[[E], Finding | None]], Callable[[E], Finding | None]]:
    """Declare a rule; the decorated function keeps working as a plain function and carries `rule`."""

    def declare(judge: Callable[[E], Finding | None]) -> Callable[[E], Finding | None]:
        if not (isinstance(on, type) and issubclass(on, Event)):
            raise TypeError(f"`on` takes a class of events, not {on!r}")
        page = sys.modules[judge.__module__].__doc__ or ""
        name = judge.__name__.replace("_", "-")
        declared = Rule(code, name, on, _effect(predicts), _effect(compile), judge, page, gpu)
        setattr(judge, "rule", declared)  # noqa: B010
        return judge

    return declare


def _effect(word: str | None) -> Effect | None:
    if word is not None and word not in WORDS:
        raise ValueError(f"an effect is one of {', '.join(WORDS)}, not {word!r}")
    return None if word is None else Effect(word)


def finding(
    event: Event,
    message: str,
    *,
    help: str = "",
    confidence: Confidence | None = None,
    targets: Target = Target.BOTH,
    fix: Fix | None = None,
) -> Finding:
    """A finding at the event's place; the registry fills in the code, name and effects of the rule.

    `confidence` can only lower the event's own; `targets` narrows the targets spoken of.
    """
    sure = event.confidence if confidence is None else min(confidence, event.confidence)
    live = event.targets & targets
    marks = tuple((name, Effect.NOTE) for name, bit in (("graph", Target.GRAPH), ("compile", Target.COMPILE)) if live & bit)
    return Finding("", "", event.span, message, Effect.NOTE, marks, sure, help, "", event.trail, fix)
