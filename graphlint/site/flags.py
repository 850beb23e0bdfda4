"""Flags that a call turns, and that are turned back between the warm-up and the capture.

restorer(frame)                 # warm-up: `if self.fresh: ...; self.fresh = False`
restorer.start_clip()           # self.fresh = True
with torch.cuda.graph(graph):   # the graph of a first frame: every replay goes that way
    out = restorer(frame)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.events import Event, FrozenScalar, HostMutation
from graphlint.site.acts import Act, Verb
from graphlint.site.branches import branches
from graphlint.site.construct import constant
from graphlint.site.inputs import written
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Slot, Thing
from graphlint.syntax import stands_in
from graphlint.types import Region


def turned(story: Story) -> Iterator[tuple[Region, Event]]:
    """Branches that a graph takes by a flag which its own capture turns."""
    for captured in story.captures:
        for slot, bind in turned_back(story, captured):
            asked = _asked(story, captured, slot)
            if asked is not None and next(story.replays(captured), None) is not None:
                where = region(captured, story.acts)
                yield where, tell(FrozenScalar, asked, what="flag", recorded="branch")
                yield where, tell(HostMutation, bind, target=written(bind), what="flag")


def turned_back(story: Story, captured: Captured) -> Iterator[tuple[Slot, Act]]:
    """Flags that a region finds as no call leaves them, and where it turns them."""
    for _, act in story.between(captured.begin, captured.end, Verb.BIND):
        if act.slot not in captured.inputs or not isinstance(act.slot.holder, Thing) or not _is_flag(act.thing):
            continue
        before = [each.thing for _, each in story.between(-1, captured.begin, Verb.BIND) if each.slot == act.slot]
        given = [constant(each) for each in before if _is_flag(each)]
        if len(given) == len(before) > 0 and given[-1] != constant(act.thing) and constant(act.thing) in given:
            yield act.slot, act


def _is_flag(thing: Thing) -> bool:
    return thing.kind is Kind.CONSTANT and isinstance(constant(thing), (bool, str))


def _asked(story: Story, captured: Captured, slot: Slot) -> Act | None:
    """Where the region asks a condition for a flag."""
    loads = (act for _, act in story.between(captured.begin, captured.end, Verb.LOAD) if act.slot == slot)
    return next((act for act in loads if _decides(act)), None)


def _decides(act: Act) -> bool:
    return any(stands_in((each.test,), act.node) for each in branches(act.frame.module))


def is_passed_over(story: Story, captured: Captured, index: int) -> bool:
    """Whether an act of a region stands in a branch that the region does not take, as the flag is that it asks for."""
    act = story.acts[index]
    for branch in branches(act.frame.module):
        within = stands_in(branch.body, act.node)
        if not within and not stands_in(branch.orelse, act.node):
            continue
        is_denied = isinstance(branch.test, ast.UnaryOp) and isinstance(branch.test.op, ast.Not)
        asked = branch.test.operand if is_denied and isinstance(branch.test, ast.UnaryOp) else branch.test
        loads = [each for _, each in story.between(captured.begin, index, Verb.LOAD) if each.node is asked]
        found = constant(loads[-1].thing) if loads and loads[-1].frame is act.frame else ...
        if isinstance(found, bool) and (found is not is_denied) is not within:
            return True
    return False
