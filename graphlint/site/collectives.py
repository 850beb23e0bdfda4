"""Collectives in a region: handles, ranks that go different ways, communicators that are not there yet, DDP.

What is said here was seen on two H200s with NCCL 2.28 and torch 2.11; `fixtures` hold the programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphlint.around_events import (
    ColdCommunicator,
    DdpOnDefaultStream,
    RankBranch,
    UnreadCollective,
    UnwaitedCollective,
    WarmupTooShort,
)
from graphlint.events import Event
from graphlint.site.acts import Act, Verb, text
from graphlint.site.outputs import computes
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.things import Kind, Thing
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]

SPACE = "torch.distributed."
FUNCTIONAL = "torch.distributed._functional_collectives."
_TOGETHER = (
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_to_all", "all_to_all_single", "barrier",
    "broadcast", "broadcast_object_list", "gather", "gather_object", "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "scatter", "scatter_object_list", "all_gather_coalesced", "all_reduce_coalesced",
)  # fmt: skip
MATCHED = frozenset(f"{SPACE}{name}" for name in _TOGETHER)
"""Calls that all ranks of a group make together."""
POINTS = frozenset(f"{SPACE}{name}" for name in ("send", "recv", "isend", "irecv", "batch_isend_irecv"))
RANKS = frozenset(f"{SPACE}{name}" for name in ("get_rank", "get_node_local_rank", "get_group_rank"))
NAMED = frozenset({"rank", "local_rank", "global_rank"})
"""Arguments that are the rank: what spawned workers and factories of `confirm --ranks` are given."""
WAITS = frozenset({"wait", "synchronize", "wait_stream", "wait_event", "result", "then"})
ENOUGH = 11
"""Warm-ups that DDP wants: it reads times back in its first ten iterations; ten are refused, eleven captured."""


def is_collective(act: Act) -> bool:
    """Whether an act issues a collective of `torch.distributed`."""
    if act.verb is not Verb.CALL or act.thing.kind is not Kind.OUTSIDE:
        return False
    return act.thing.name in MATCHED or _is_functional(act)


def _is_functional(act: Act) -> bool:
    return act.thing.name.startswith(FUNCTIONAL) and not act.thing.name.endswith("wait_tensor")


def _inside(story: Story, captured: Captured, *verbs: Verb) -> Iterator[tuple[int, Act]]:
    return story.between(captured.begin - 1, captured.end, *verbs)


def unwaited(story: Story) -> Told:
    """A tensor of an asynchronous collective that is read before its handle is waited for."""
    for captured in story.captures:
        for index, act in _inside(story, captured, Verb.CALL):
            if not is_collective(act) or not _is_asynchronous(act.node):
                continue
            early = _early(story, captured, index, act)
            if early is not None:
                yield region(captured, story.acts), tell(UnwaitedCollective, early, call=act.text, target=early.text)


def _is_asynchronous(node: ast.AST) -> bool:
    words = {word.arg: word.value for word in node.keywords} if isinstance(node, ast.Call) else {}
    given = words.get("async_op")
    return isinstance(given, ast.Constant) and given.value is True


def _early(story: Story, captured: Captured, index: int, call: Act) -> Act | None:
    tensors = {id(each.thing.owner) for _, each in story.between(index, captured.end, Verb.READ) if each.node is call.node}
    for _, act in story.between(index, captured.end, Verb.METHOD, Verb.READ):
        if act.verb is Verb.METHOD and act.name in WAITS:
            return None
        if act.verb is Verb.METHOD or act.node is call.node or act.name.startswith(SPACE):
            continue
        if act.thing.node is call.node and act.name == "argument":
            return None  # the handle is given to someone, who may wait
        if id(act.thing.owner) in tensors and computes(act):
            return act
    return None


def branched(story: Story) -> Told:
    """A branch on the rank whose sides issue different collectives, or of which one replays a graph that has some."""
    for captured in story.captures:
        calls = [act for _, act in _inside(story, captured, Verb.CALL) if is_collective(act)]
        ranks = _rank_nodes(story) if calls else set()
        if not ranks:
            continue
        replays = [story.acts[index] for index in story.replays(captured)]
        for act, branch in (*_apart(calls, ranks), *_apart(replays, ranks)):
            told = tell(RankBranch, act, call=act.text, branch=text(act.frame.module, branch.test))
            yield region(captured, story.acts), told


def _apart(acts: Sequence[Act], ranks: set[int]) -> Iterator[tuple[Act, ast.If]]:
    """The first act of every branch on the rank whose sides differ in these acts."""
    seen: set[int] = set()
    for act in acts:
        for branch in _branches(act, ranks):
            if id(branch) not in seen and _differs(branch, act, acts):
                yield act, branch
            seen.add(id(branch))


def _rank_nodes(story: Story) -> set[int]:
    """Expressions that are this rank's number or a word on it: calls that ask, names, comparisons, what helpers return."""
    found: set[int] = set()
    for act in story.acts:
        known = id(act.thing.node) in found
        if act.verb is Verb.CALL and act.thing.name in RANKS:
            found.add(id(act.node))
        elif act.verb is Verb.LOAD and (known or (act.thing.is_argument and act.thing.name in NAMED)):
            found |= {id(act.node), id(act.thing.node)}
        elif act.verb is Verb.READ and known and _is_word(act.node):
            found.add(id(act.node))
        elif act.verb is Verb.RETURN and known and act.frame.caller is not None:
            found.add(id(act.frame.node))
    return found


def _is_word(node: ast.AST) -> bool:
    """Whether what is computed of a rank is still about ranks only, unlike a tensor that is scaled by one."""
    return isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)) or (
        isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant)
    )


def _branches(act: Act, ranks: set[int]) -> Iterator[ast.If]:
    for node in ast.walk(act.frame.module.source.tree):
        if isinstance(node, ast.If) and any(id(each) in ranks for each in ast.walk(node.test)) and _holds([node], act.node):
            if not _is_among_members(node.test, act.node):
                yield node


def _is_among_members(test: ast.AST, call: ast.AST) -> bool:
    """Whether a collective of a group stands where only some ranks come, as its members do."""
    grouped = isinstance(call, ast.Call) and any(word.arg == "group" for word in call.keywords)
    kinds = (ast.In, ast.NotIn, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return grouped and any(isinstance(each, kinds) for each in ast.walk(test))


def _holds(body: Sequence[ast.AST], node: ast.AST) -> bool:
    return any(each is node for part in body for each in ast.walk(part))


def _differs(branch: ast.If, act: Act, calls: Sequence[Act]) -> bool:
    here = [each for each in calls if each.frame.module is act.frame.module]
    one, other = _names(branch.body, here), _names(branch.orelse, here)
    if branch.body and isinstance(branch.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        end = branch.end_lineno or branch.lineno
        other += [each.thing.name for each in here if each.frame is act.frame and getattr(each.node, "lineno", 0) > end]
    return one != other


def _names(body: Sequence[ast.AST], calls: Sequence[Act]) -> list[str]:
    """The collectives of a body, each as often as it is written."""
    found = {id(each.node): each.thing.name for each in calls if _holds(body, each.node)}
    return list(found.values())


def cold(story: Story) -> Told:
    """The first collective of a group, which makes its communicator, in a region."""
    for captured in story.captures:
        told: set[int] = set()
        for index, act in _inside(story, captured, Verb.CALL):
            group = _group(story, index, act)
            if group is None or id(group) in told or any(_uses(story, at, group) for at in range(captured.begin)):
                continue
            told.add(id(group))
            yield region(captured, story.acts), tell(ColdCommunicator, act, call=act.text)


def _group(story: Story, index: int, act: Act) -> Thing | None:
    """The group that a collective is given, where its making was seen."""
    if not is_collective(act) and act.thing.name not in POINTS:
        return None
    for _, each in story.between(index, len(story.acts), Verb.READ):
        if each.node is not act.node:
            return None
        if each.thing.name == f"{SPACE}new_group":
            return each.thing
    return None


def _uses(story: Story, index: int, group: Thing) -> bool:
    """Whether an act may use a group: a collective of it, or anything that is given it."""
    act = story.acts[index]
    return act.verb is Verb.READ and act.thing is group and act.node is not group.node


def data_parallel(story: Story) -> Told:
    """DDP, forward and backward in a region: too few warm-ups before it, or made on the default stream."""
    for captured in story.captures:
        if captured.region is not None:
            continue
        backward = next((act for _, act in _inside(story, captured, Verb.METHOD) if act.name == "backward"), None)
        calls = [act for _, act in _inside(story, captured, Verb.CALL) if is_parallel(act)]
        if backward is None or not calls:
            continue
        count = _warmups(story, captured, calls[0].thing)
        if count is not None and count < ENOUGH:
            yield region(captured, story.acts), tell(WarmupTooShort, calls[0], callee=calls[0].text, count=count)
        if not is_on_side_stream(story, calls[0].thing.born):
            yield region(captured, story.acts), tell(DdpOnDefaultStream, backward, call=backward.text)


def is_parallel(act: Act) -> bool:
    thing = act.thing
    is_ddp = thing.kind is Kind.MODULE and thing.name == "DistributedDataParallel" and not thing.is_argument
    return is_ddp and act.name == "training" and not any(is_without_gradients(each.node) for each in act.layers)


def is_without_gradients(node: ast.AST) -> bool:
    items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
    return any(word in ast.unparse(each.context_expr) for each in items for word in ("no_grad", "inference_mode"))


def _warmups(story: Story, captured: Captured, model: Thing) -> int | None:
    """How often a module is called before a capture; None where a loop's length is not written down."""
    counted: dict[tuple[int, ...], int] = {}
    for act in story.acts[: captured.begin]:
        if act.thing is not model or not is_parallel(act):
            continue
        rounds = [_rounds(each.node) for each in act.layers]
        if None in rounds:
            return None
        product = 1
        for each in rounds:
            product *= each or 1
        counted[_path(act)] = product
    return sum(counted.values())


def _rounds(node: ast.AST) -> int | None:
    """How often a block runs: 1 unless it is a loop, None for a loop over anything but a constant range."""
    if isinstance(node, (ast.While, ast.AsyncFor, ast.ListComp, ast.GeneratorExp)):
        return None
    if not isinstance(node, ast.For):
        return 1
    call = node.iter
    is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
    given = call.args if is_range and isinstance(call, ast.Call) else []
    if len(given) == 1 and isinstance(given[0], ast.Constant) and isinstance(given[0].value, int):
        return given[0].value
    return None


def _path(act: Act) -> tuple[int, ...]:
    """The calls that lead to an act, by their places in the source: a loop is walked twice and counts once."""
    found, frame = [id(act.node)], act.frame
    while frame.caller is not None:
        found.append(id(frame.node))
        frame = frame.caller
    return tuple(found)


def is_on_side_stream(story: Story, born: int) -> bool:
    opened = 0
    for act in story.acts[:born]:
        if act.thing.kind is Kind.STREAM_BLOCK:
            opened += {Verb.ENTER: 1, Verb.LEAVE: -1}.get(act.verb, 0)
    return opened > 0


def unread(story: Story) -> Told:
    """The result of a functional collective that leaves a region without having been read: it is waited for outside."""
    for captured in story.captures:
        for index, act in _inside(story, captured, Verb.CALL):
            if not is_collective(act) or not _is_functional(act):
                continue
            if _leaves_unread(story, captured, index, act):
                yield region(captured, story.acts), tell(UnreadCollective, act, call=act.text)


def _leaves_unread(story: Story, captured: Captured, index: int, call: Act) -> bool:
    """Whether a result is given back, or used behind a capture, and nothing inside has used it before."""
    verbs = (Verb.READ, Verb.RETURN, Verb.METHOD)
    inside = [each for _, each in story.between(index, captured.end, *verbs) if each.thing.owner.node is call.node]
    if any(each.verb is not Verb.RETURN for each in inside):
        return False
    if captured.region is not None:
        return any(each.frame.caller is None for each in inside)
    behind = story.between(captured.end, len(story.acts), *verbs, Verb.LOAD)
    return any(each.thing.owner.node is call.node for _, each in behind)
