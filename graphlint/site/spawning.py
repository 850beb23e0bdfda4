"""What other threads run: the target of a thread, the `run` of a class of threads, what a pool of threads is handed.

A function that a thread runs is walked where the thread is started, as if it were called there: nobody else calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from graphlint.project import Outside
from graphlint.record import NamedTuple
from graphlint.site.acts import Act, Frame, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.members import attribute
from graphlint.site.names import POOLS, THREADS
from graphlint.site.story import Story
from graphlint.site.things import Kind, Thing
from graphlint.site.walker import Walker
from graphlint.syntax import last_called, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HANDING = frozenset({"submit", "map", "apply_async", "map_async", "imap", "imap_unordered", "starmap_async"})
"""Methods of pools that hand a function to a thread and go on."""
WAITING = frozenset({"concurrent.futures.wait", "concurrent.futures.as_completed"})


class Run(NamedTuple):
    """A function, known or not, that a thread runs, and what it is given there."""

    function: Thing
    places: tuple[Thing, ...]
    names: Mapping[str, Thing]


def run_by(walker: Walker, receiver: Thing, name: str, places: Sequence[Thing], names: Mapping[str, Thing]) -> Run | None:
    """What a method of something makes another thread run; None for any other method."""
    if name == "start":
        return _of_thread(walker, receiver)
    if name not in HANDING or receiver.name not in POOLS or not places:
        return None
    if name == "submit":
        return Run(places[0], tuple(places[1:]), names)
    return Run(places[0], (), {})


def _of_thread(walker: Walker, thread: Thing) -> Run | None:
    if thread.decl is not None:
        bases = walker.project.mro(thread.decl)
        if not any(isinstance(base, Outside) and base.name in THREADS for base in bases):
            return None
        return Run(attribute(walker, thread, "run", thread.decl.node), (), {})
    if thread.name not in THREADS:
        return None
    target = argument(thread, THREADS[thread.name], 1) or Thing(Kind.UNKNOWN, thread.node)
    given, named = (argument(thread, each, place) for each, place in (("args", 3), ("kwargs", 4)))
    places = tuple(given.slots.values()) if given is not None else ()
    names = {key[2:-2]: part for key, part in named.slots.items() if key[1:2] in "'\""} if named is not None else {}
    return Run(target, places, names)


class Beside(NamedTuple):
    """A function that may run in another thread, by the name one knows it by, and the act that started it."""

    name: str
    function: Thing
    started: int


def beside(story: Story, begin: int, end: int) -> Iterator[Beside]:
    """What was started before a capture in a thread that nobody waited for until it begins."""
    if any(act.name == "join" for _, act in story.between(begin, end, Verb.METHOD)):
        # Threads that are waited for inside record their share of the graph.
        return
    spawned = [(index, act) for index, act in story.between(-1, begin, Verb.SPAWN)]
    own = {act.node for _, act in spawned if leads_to(act, story.acts[begin].frame)}
    for index, act in spawned:
        if act.node not in own and not any(waits(each, act) for each in story.acts[index + 1 : begin]):
            yield Beside(named(act), act.other or act.thing, index)


def leads_to(spawned: Act, frame: Frame | None) -> bool:
    """Whether a call runs in a thread that was started at this place."""
    while frame is not None and frame.node is not spawned.node:
        frame = frame.caller
    return frame is not None


def named(act: Act) -> str:
    if act.thing.decl is not None:
        return act.thing.decl.name
    function = act.other
    return function.name or "a lambda" if function is not None and function.function is not None else _written(act)


def _written(act: Act) -> str:
    """The target of a thread as it is written, where nothing else is known of it."""
    call = act.thing.node
    words = call.keywords if isinstance(call, ast.Call) else []
    return next((ast.unparse(word.value) for word in words if word.arg == "target"), "")


def waits(act: Act, spawned: Act) -> bool:
    """Whether an act waits for a thread, for a pool of threads, or for what one of its threads gives."""
    if act.verb is Verb.METHOD and act.name in ("join", "shutdown"):
        return act.thing is spawned.thing and constant(act.other) is not False
    if act.verb is Verb.METHOD and act.name in ("result", "exception"):
        return spawned.name == "submit"
    if act.verb is Verb.METHOD and act.name in ("get", "wait"):
        return act.thing.node is spawned.node
    if act.verb is Verb.LEAVE:
        return act.thing is spawned.thing
    if act.verb is Verb.CALL and act.thing.name in WAITING:
        return spawned.name == "submit"
    # What a pool gives is looked at.
    return act.thing.node is spawned.node and act.verb in (Verb.READ, Verb.CALL) and spawned.name != "submit"


def work(function: Thing) -> list[ast.AST]:
    """A function, with those of its class and its file that it calls."""
    body = function.function
    if body is None:
        return []
    called = {last_called(each) for each in walk(body) if isinstance(each, ast.Call)}
    own = function.decl.node.body if function.decl is not None else []
    symbols = function.module.symbols if function.module is not None else {}
    around = [*own, *(symbols[name][-1] for name in sorted(called) if name in symbols)]
    return [body, *(each for each in around if isinstance(each, FUNCTIONS) and each.name in called and each is not body)]
