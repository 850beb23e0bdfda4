"""From regions to their events: enter each region, then read its summaries out with the calls that lead there."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from graphlint.captors import region_name
from graphlint.events import BackwardRun, Event, HostMutation, Rebound, UnknownCall
from graphlint.interp.capturing import leave_open
from graphlint.interp.carried import Touch, carried
from graphlint.interp.compiling import Handed, capturing_later, graphed_later, handed_at
from graphlint.interp.context import as_input
from graphlint.interp.dispatch import apply, item
from graphlint.interp.frame import Frame, Link, Summary
from graphlint.interp.grounding import grounded
from graphlint.interp.handed import Whose
from graphlint.interp.hanging import at_import
from graphlint.interp.hooks import called_by_name, own_hooks
from graphlint.interp.machine import Machine
from graphlint.interp.objects import record_of
from graphlint.interp.room import MOST_AROUND, MOST_WORK
from graphlint.interp.told import NOTHING_TOLD, Told
from graphlint.project import ClassDecl, FunctionDecl, Module, Project
from graphlint.record import NamedTuple, replaced
from graphlint.regions import Compiled, Forward, Given, Marked, Site, compiled, forwards, marked, sites
from graphlint.types import Confidence, Region, Span, Step, Target
from graphlint.values import Arguments, Function, Instance, Seq, Table, Text, Value, members


class RegionEvents(NamedTuple):
    """What one region does, as far as the analysis came; `failure` is the exception that ended it.

    `away` is what it does in files of which nothing is told.
    """

    region: Region
    events: tuple[Event, ...]
    unknown_calls: int
    failure: Exception | None = None
    away: tuple[Event, ...] = ()


class Reader:
    """Reads the regions of files that share one project, and with it the results of what they all call."""

    def __init__(self, project: Project, named: Collection[str] = (), told: Told = NOTHING_TOLD) -> None:
        self._project = project
        self._named = named
        self._told = told
        self._given = project.reported()
        self._shared = Machine(project, told)

    def regions(self, module: Module) -> Iterator[RegionEvents]:
        """The regions of a file, with those that the configuration says are captured."""
        reached: Reached = {}
        named, project = self._named, self._project
        entries: list[Entry] = [
            *sites(project, module),
            *marked(module, named),
            *compiled(module),
            *forwards(project, module),
        ]
        for entry in entries:
            # A site is met while the code around it runs, which a result kept from another file would hide.
            machine = Machine(project, self._told) if isinstance(entry, Site) else self._shared
            machine.left = MOST_AROUND if isinstance(entry, Site) else MOST_WORK
            machine.brought = {} if isinstance(entry, Site) else None
            found = list(_read_entry(machine, module, entry, self._given, reached, machine is self._shared))
            if machine is self._shared and (machine.left <= 0 or any(each.failure is not None for each in found)):
                # It keeps what was under way when the analysis stopped, as if that were finished.
                self._shared = Machine(project, self._told)
                # Where the work ran out depends on what was known before: alone, a region always ends at the same place.
                found = found or list(_read_entry(Machine(project, self._told), module, entry, self._given, reached))
            yield from found


Entry = Site | Given | Marked | Compiled | Forward
Reached = dict[tuple[FunctionDecl, ClassDecl], list[Summary]]
"""Methods with the class of their receiver, and the summaries of the calls that earlier regions of the file made."""


def _read_entry(
    machine: Machine, module: Module, entry: Entry, given: set[str], reached: Reached, whole: bool = False
) -> Iterator[RegionEvents]:
    """The regions that one entry leads to; a failure of the analysis ends this entry only.

    Nothing if they must be read as a whole and are too much work.
    """
    try:
        if module not in machine.imported:
            at_import(machine, module)
        for entered in enter(machine, entry, reached):
            if whole and machine.left <= 0:
                return
            yield _told(*entered, given, reached)
    except Unfinished as error:
        machine.depth = 0
        yield _told(*error.entered, given, reached)._replace(failure=error.cause)
    except (Exception, RecursionError) as error:
        machine.depth = 0
        node = module.source.tree if entry.decl is None else entry.decl.node
        owner = entry.owner if isinstance(entry, Forward) else None if entry.decl is None else entry.decl.owner
        within = f"{owner.name}." if owner is not None else ""
        name = module.name if entry.decl is None else f"{module.name}.{within}{entry.decl.name}"
        yield RegionEvents(region_of(None, name, "failed", node, module), (), 0, error)


def _told(region: Region, summary: Summary, live: Target, given: set[str], reached: Reached) -> RegionEvents:
    """What a summary says of the given files, and apart from it what it says of others."""
    # What a library counts on is a reason to tell of the numbers that a given file gets from it.
    every = grounded(tuple(read_out(summary, live, reached)))
    events = [event for event in every if event.span.file in given]
    known = tuple(event for event in events if not isinstance(event, UnknownCall))
    away = tuple(event for event in every if not isinstance(event, UnknownCall) and event.span.file not in given)
    return RegionEvents(region, known, len(events) - len(known), away=away)


class Unfinished(Exception):
    """The analysis of a region failed; `entered` has what was found up to there."""

    def __init__(self, entered: tuple[Region, Summary, Target], cause: Exception) -> None:
        super().__init__(str(cause))
        self.entered = entered
        self.cause = cause


@contextmanager
def running(region: Region, summary: Summary, live: Target) -> Iterator[None]:
    """Run a region; raises `Unfinished` where the analysis fails."""
    try:
        yield
    except Exception as error:
        raise Unfinished((region, summary, live), error) from error


def enter(machine: Machine, entry: Entry, reached: Reached) -> Iterator[tuple[Region, Summary, Target]]:
    """Every region of an entry with its summary and the targets it is captured for."""
    match entry:
        case Site():
            yield from enter_site(machine, entry)
        case Marked(decl):
            yield enter_function(machine, decl, "marked")
        case Given(decl):
            yield enter_function(machine, decl, "captured", Target.GRAPH)
        case Compiled(decl):
            yield enter_function(machine, decl, "compiled", Target.COMPILE)
        case Forward():
            yield enter_forward(machine, entry, reached)


def enter_forward(machine: Machine, forward: Forward, reached: Reached) -> tuple[Region, Summary, Target]:
    """A `forward` as other regions of the file were seen calling it, else with the arguments its signature allows."""
    owner = forward.owner
    region = region_of(forward.decl, f"{owner.module.name}.{owner.name}.forward", "forward", owner.node, owner.module)
    seen = reached.get((forward.decl, owner))
    if seen:
        summary = Summary("forward")
        summary.links = [Link(region.span, each, Target.BOTH) for each in seen]
        summary.touched = {Touch(each, False, ()): None for each in seen}
        with running(region, summary, Target.BOTH):
            _enter_leaving_out(machine, summary, seen)
        return region, summary, Target.BOTH
    receiver, summary = Instance(owner), Summary("forward")
    with running(region, summary, Target.BOTH):
        value = machine.decorated(forward.decl, start=forward.decl.owner)
        function = value.replace(receiver=receiver) if isinstance(value, Function) and value.receiver is None else value
        arguments = entry_call(machine, forward.decl, receiver)
        frame = Frame(machine, forward.decl.module, summary, {}, None)
        value = _call_plainly(frame, function, arguments, forward.decl, receiver)
        if HOOKS in owner.module.source.text:
            record_of(machine, receiver)
            own_hooks(frame, receiver, arguments, value, forward.decl.node)
    return region, summary, Target.BOTH


def _enter_leaving_out(machine: Machine, summary: Summary, seen: list[Summary]) -> None:
    """Enter a `forward` once more for callers that leave out what all calls gave that were seen."""
    from graphlint.interp.left_out import call_leaving_out  # here because most are only called with what they are given

    env, decl, receiver = call_leaving_out(machine, seen), seen[0].decl, seen[0].receiver
    if env is not None and decl is not None:
        frame = Frame(machine, decl.module, summary, {}, None)
        apply(frame, Function(decl, receiver, None, decl.owner), as_call(decl, env, receiver), decl.node)


def entry_call(machine: Machine, decl: FunctionDecl, receiver: Value | None) -> Arguments:
    """The entry arguments as a call that passes each by name where it can be."""
    return as_call(decl, machine.entry(decl, receiver), receiver)


def as_call(decl: FunctionDecl, env: dict[str, Value], receiver: Value | None) -> Arguments:
    """The variables of a function as arguments that lead to them."""
    spec = decl.node.args
    positional = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    if receiver is not None and positional:
        env.pop(positional.pop(0), None)
    vararg = env.pop(spec.vararg.arg) if spec.vararg is not None else None
    kwarg = env.pop(spec.kwarg.arg) if spec.kwarg is not None else None
    # A function that stands in between is handed by name what may be left out, as most callers do.
    required = [name for name in positional if name not in decl.signature.defaults]
    first = tuple(env[name] for name in required if name in env)
    keywords = tuple((name, value) for name, value in env.items() if name not in required)
    more = vararg.rest if isinstance(vararg, Seq) else None
    return Arguments(first, keywords, more, kwarg.rest if isinstance(kwarg, Table) else None)


HOOKS = "register_forward_"


def _call_plainly(frame: Frame, function: Value, arguments: Arguments, decl: FunctionDecl, receiver: Value | None) -> Value:
    """Enter a function; one whose decorators hide it is entered without them as well."""
    value = apply(frame, function, arguments, decl.node)
    if not frame.summary.links:
        value = apply(frame, Function(decl, receiver, None, decl.owner), arguments, decl.node)
    return value


def enter_function(
    machine: Machine, decl: FunctionDecl, kind: str, live: Target = Target.BOTH
) -> tuple[Region, Summary, Target]:
    """Run a function as a region of its own: the region, what happened in it, and the targets that get there."""
    summary = Summary(decl.name)
    name = f"{decl.module.name}.{decl.owner.name + '.' if decl.owner else ''}{decl.name}"
    region = region_of(decl, name, kind, decl.node, decl.module)
    receiver = Instance(decl.owner) if decl.owner is not None else None
    frame = Frame(machine, decl.module, summary, {}, None)
    with running(region, summary, live):
        function = Function(decl, receiver, None, decl.owner)
        apply(frame, function, entry_call(machine, decl, receiver), decl.node)
    return region, summary, live


def region_of(decl: FunctionDecl | None, name: str, kind: str, node: ast.AST, module: Module) -> Region:
    line = node.lineno if isinstance(node, (ast.stmt, ast.expr)) else 1
    column = node.col_offset if isinstance(node, (ast.stmt, ast.expr)) else 0
    return Region(name, kind, Span(module.source.name, line, column, line, column))


def enter_site(machine: Machine, site: Site) -> Iterator[tuple[Region, Summary, Target]]:
    """Interpret a function around captures; its regions are what it captures, compiles and hands out."""
    before = len(machine.captures)
    decl = site.decl
    name = region_name(site.module, decl.node, decl.name) if decl else site.module.name
    if decl is None:
        frame = machine.toplevel(site.module)
        frame.run(site.module.source.tree.body)
        leave_open(frame)
        cases: list[Value] = []
    else:
        receiver = Instance(decl.owner) if decl.owner is not None else None
        function = Function(decl, receiver, None, decl.owner)
        frame = machine.execute(function, machine.site_entry(decl, receiver), Summary(decl.name), recording=False)
        cases = list(frame.returns)
    for later in capturing_later(frame):
        apply(frame, later, entry_call(machine, later.decl, later.receiver), later.decl.node)
    for capture in machine.captures[before:]:
        yield capture.region, capture.summary, capture.live
    for case in cases:
        yield from _enter_case(frame, site, name, case)
    for each in site.kept:
        graphed_later(frame, frame.eval(each), each)
    for handed in handed_at(site, machine.handed):
        yield _enter_handed(machine, handed)


def _enter_handed(machine: Machine, handed: Handed) -> tuple[Region, Summary, Target]:
    """A function that is compiled or graphed by a call, with the arguments its signature allows."""
    decl, receiver = handed.function.decl, handed.function.receiver
    summary = Summary(decl.name)
    frame = Frame(machine, handed.module, summary, {}, None)
    name = ".".join((decl.module.name, *([decl.owner.name] if decl.owner else []), decl.name))
    region = Region(name, handed.kind, frame.span(handed.node))
    machine.left = MOST_WORK
    with running(region, summary, handed.live):
        apply(frame, handed.function, entry_call(machine, decl, receiver), handed.node)
    return region, summary, handed.live


def _enter_case(around: Frame, site: Site, name: str, case: Value) -> Iterator[tuple[Region, Summary, Target]]:
    """A returned `{"fn": ..., "args": ...}`: call the function with the arguments."""
    machine = around.machine
    for member in members(case):
        if not isinstance(member, Table) or not {"fn", "args"} <= {key for key, _ in member.items}:
            continue
        summary = Summary(name)
        frame = Frame(machine, site.module, summary, {}, around.scope)
        node = site.decl.node if site.decl is not None else site.module.source.tree
        parts = [item(frame, member, Text(key), node) for key in ("fn", "args", "kwargs")]
        parts[1:] = map(as_input, parts[1:])
        call = called_by_name(site.decl) if machine.hooks and site.decl is not None else None
        apply(frame, parts[0], case_arguments(parts[1], parts[2]), call or node)
        yield region_of(site.decl, name, "case", node, site.module), summary, Target.BOTH


def case_arguments(args: Value, kwargs: Value) -> Arguments:
    """`args` and `kwargs` of a case as the arguments of a call."""
    for member in members(args):
        if isinstance(member, Seq):
            keywords = kwargs.items if isinstance(kwargs, Table) else ()
            named = tuple((key, value) for key, value in keywords if isinstance(key, str))
            return Arguments(member.items or (), named, member.rest, kwargs.rest if isinstance(kwargs, Table) else None)
    return Arguments((), (), args)


def read_out(summary: Summary, live: Target, reached: Reached) -> Iterator[Event]:
    """All events below a summary, the shortest trail to each, for the targets that get there; notes what was called.

    What a backward pass calls counts if one runs among them.
    """
    waiting: deque[tuple[Summary, Target, Confidence, tuple[Step, ...]]] = deque([(summary, live, Confidence.CERTAIN, ())])
    seen: dict[tuple[Summary, Confidence], Target] = {}
    later: list[tuple[Summary, Target, Confidence, tuple[Step, ...]]] = []
    backward, read, whose = False, carried(summary).read, Whose(summary)
    said: dict[int, list[tuple[Confidence, Target]]] = {}
    while waiting or (backward and later):
        if not waiting:
            waiting.extend(later)
            later.clear()
        here, targets, ceiling, trail = waiting.popleft()
        known = seen.get((here, ceiling))
        if known is not None and known & targets == targets:
            continue
        if known is None:
            _note(here, reached)
        seen[here, ceiling] = (known or Target.NONE) | targets
        for event in here.events:
            if there := event.targets & targets:
                backward = backward or isinstance(event, BackwardRun)
                sure = min(event.confidence, ceiling)
                if isinstance(event, (Rebound, HostMutation)) and _is_missed_by_none(event, here, read, whose):
                    sure = Confidence.POSSIBLE
                if id(event) in said and not _is_news(said[id(event)], sure, there):
                    continue
                said.setdefault(id(event), [(sure, there)])
                yield replaced(event, targets=there, trail=trail, confidence=sure)
        for link in here.links:
            if there := link.targets & targets:
                low = min(ceiling, link.ceiling)
                known = seen.get((link.summary, low))
                if known is not None and known & there == there:
                    continue
                # The first link leads from the synthetic caller into the region itself: no step of the user's.
                step = () if here is summary else (Step(link.span, link.summary.name),)
                (later if link.gradient else waiting).append((link.summary, there, low, trail + step))


def _is_missed_by_none(event: Rebound | HostMutation, here: Summary, read: frozenset[str], whose: Whose) -> bool:
    """Whether replays miss nothing: every call binds it before it reads it, or none reads it, or it is passing."""
    if event.keys and read.isdisjoint(event.keys):
        return True
    return isinstance(event, HostMutation) and whose.is_passing(here, event)


def _is_news(known_as: list[tuple[Confidence, Target]], sure: Confidence, targets: Target) -> bool:
    """Whether a shorter trail told less: summaries of one function for other arguments mostly say the same."""
    if any(sure <= other and targets | more is more for other, more in known_as):
        return False
    known_as.append((sure, targets))
    return True


def _note(summary: Summary, reached: Reached) -> None:
    if summary.decl is not None and isinstance(summary.receiver, Instance):
        known = reached.setdefault((summary.decl, summary.receiver.decl), [])
        if summary not in known:
            known.append(summary)
