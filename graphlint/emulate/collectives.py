"""Collectives on emulated devices: issued on the host tensors behind them, over gloo, once all partners come.

NCCL waits for ever for a partner that issues something else.  Here every rank first tells the store what it is about to
issue and looks at what its partners do, so that a difference is an error at its line and not a wait.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.distributed as dist

from graphlint.confirm.ranks import calls, sequences
from graphlint.confirm.ranks.journal import Call, decode, encode
from graphlint.confirm.ranks.meeting import TICK, Absent, PartnersDiffer
from graphlint.confirm.ranks.phases import Phases
from graphlint.confirm.ranks.post import Post
from graphlint.confirm.trees import flat, mapped
from graphlint.emulate.dispatch import SPECIAL, on_emulated
from graphlint.emulate.plan import defaults_of, plan_of
from graphlint.emulate.session import Session
from graphlint.emulate.standin import SHOWN
from graphlint.emulate.tape import Step
from graphlint.emulate.tensor import DeviceTensor, wrap

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
WAITS: Callable[..., bool] = torch._C._distributed_c10d.Work.wait
"""Torch's own way to wait for a work, as it was before `patches`."""
WAITED = ("_c10d_functional::wait_tensor", "_c10d_functional::_wrap_tensor_autograd")
"""Functional collectives are done when they are issued here, so there is nothing left to wait for."""
NCCL = (2, 28, 9)
Special = Callable[[Session, Args, Kwargs], Any]
Patches = Iterator[tuple[Any, str, Any]]
Kind = tuple[int, str]
"""A partner, and "send", "recv" or nothing for a collective: what two ranks do together is in the same order on both."""


class Met(Phases):
    """Phases in which a collective is issued only when all partners issue the same."""

    def __init__(self, post: Post) -> None:
        super().__init__(post)
        self.begun = 0
        self.said = 0
        self.met: Counter[Kind] = Counter()
        self.read: Counter[int] = Counter()
        self.heard: defaultdict[Kind, list[Call]] = defaultdict(list)
        self.last: tuple[Call, int] = (Call("", ()), 0)

    def begin(self, phase: str) -> None:
        super().begin(phase)
        self.begun += 1
        self.said = 0
        for kept in (self.met, self.read, self.heard):
            kept.clear()

    def end(self) -> None:
        self.meeting.say(f"ended/{self.begun}", True)

    def before(self, call: Call) -> None:
        super().before(call)
        self._meet(call)

    def _meet(self, call: Call) -> None:
        """Tell the partners, and raise `PartnersDiffer` unless what each does next with this rank is the same."""
        self.said += 1
        self.meeting.say(f"{self.begun}/{self.said}", encode(call))
        if call.op in sequences.POINTS:
            self.last = (call, self._count((call.peer, call.op)))
            return
        for rank in call.group:
            if rank != self.meeting.rank:
                self._held(call, rank, "", self._count((rank, "")))

    def _count(self, kind: Kind) -> int:
        self.met[kind] += 1
        return self.met[kind]

    def came(self, call: Call, nth: int) -> None:
        """Wait for the other end of a point-to-point call, which may be issued after this one's partner."""
        if call.peer >= 0:
            self._held(call, call.peer, "recv" if call.op == "send" else "send", nth)

    def _held(self, call: Call, rank: int, op: str, nth: int) -> None:
        other = self._told(rank, op, nth)
        unfit = sequences.mismatches({self.meeting.rank: [call], rank: [] if other is None else [other]})
        if unfit:
            raise PartnersDiffer(sequences.sentence(replace(unfit[0], index=nth)))

    def _told(self, rank: int, op: str, nth: int) -> Call | None:
        """The n-th call that a partner makes with this rank, None when it has ended the phase without."""
        while len(self.heard[rank, op]) < nth:
            ended = self.meeting.heard(f"ended/{self.begun}", rank)
            told = self.meeting.heard(f"{self.begun}/{self.read[rank] + 1}", rank)
            if told is not None:
                self._keep(rank, decode(told))
            elif ended:
                return None
            elif time.time() > self.meeting.deadline:
                raise Absent(f"{op or 'collective'} {nth}", [rank])
            else:
                time.sleep(TICK)
        return self.heard[rank, op][nth - 1]

    def _keep(self, rank: int, call: Call) -> None:
        self.read[rank] += 1
        point = call.op in sequences.POINTS
        if self.meeting.rank == call.peer if point else self.meeting.rank in call.group:
            self.heard[rank, call.op if point else ""].append(call)


@dataclass
class Bus:
    """How operators of the collectives' namespaces run; `works` keeps point-to-point works until they are waited for."""

    session: Session
    phases: Met
    warm: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)
    works: dict[int, tuple[Any, int, tuple[Call, int]]] = field(default_factory=dict)
    slots: dict[int, Any] = field(default_factory=dict)

    def handlers(self) -> dict[Any, Special]:
        """For every operator, what `dispatch.SPECIAL` does in its place."""
        found: dict[Any, Special] = {}
        for schema in torch._C._jit_get_all_schemas():
            space, _, name = schema.name.partition("::")
            if space in calls.NAMESPACES and space in ("c10d", "_c10d_functional", "_c10d_functional_autograd"):
                packet = getattr(getattr(torch.ops, space), name)
                for overload in packet.overloads():
                    func = getattr(packet, overload)
                    found[func] = self._handler(func)
        return found | {torch.ops.aten.copy_.default: self._copied(SPECIAL[torch.ops.aten.copy_.default])}

    def _copied(self, copy: Special) -> Special:
        """A work's future gives DDP the host tensors that the collective ran on: they stand for device tensors."""

        def copied(session: Session, args: Args, kwargs: Kwargs) -> Any:
            target, source = args[:2]
            bare = isinstance(target, DeviceTensor) and not isinstance(source, DeviceTensor)
            if not bare or not session.allocator.owns(source):
                return copy(session, args, kwargs)
            args = (target, wrap(source, session.allocator), *args[2:])
            return on_emulated(session, torch.ops.aten.copy_.default, args, kwargs, [*args[:2]], True)

        return copied

    def _handler(self, func: Any) -> Special:
        def handle(session: Session, args: Args, kwargs: Kwargs) -> Any:
            return self.run(func, args, kwargs)

        return handle

    def run(self, func: Any, args: Args, kwargs: Kwargs) -> Any:
        """Issue one operator on the values, and put it on the tape of a capture."""
        bound = plan_of(func).bound(args, kwargs, defaults_of(func))
        inputs = list(flat(list(bound.values())))
        if not any(isinstance(each, DeviceTensor) for each in inputs):
            return self._on_host(func, args, kwargs)
        session, tape = self.session, self.session.tape
        if func._schema.name in WAITED:
            return args[0]
        key = _communicator(bound, self.phases.calls[-1] if self.phases.calls else None)
        if tape is None:
            self.warm.add(key)
        else:
            session.launch()
            session.streams.settle()
            if key not in self.warm:
                session.refuse(str(func), "communicator")
            tape.note_inputs(each for each in inputs if isinstance(each, DeviceTensor))
            for each in inputs:
                tape.save(each) if isinstance(each, DeviceTensor) else None
        real, named = _real(args), {key: _real(each) for key, each in kwargs.items()}
        results = func(*real, **named)
        slot = self._settled(func, results)
        outputs = tuple(_outputs(func, results))
        if tape is not None:
            tape.append(Step(self._again(func, slot), real, named, outputs, plan_of(func)))
        known = {id(each.emulated): each for each in inputs if isinstance(each, DeviceTensor)}
        return mapped(results, lambda each: known[id(each)] if id(each) in known else wrap(each, session.allocator))

    def _on_host(self, func: Any, args: Args, kwargs: Kwargs) -> Any:
        if func._schema.name in ("c10d::barrier", "c10d::monitored_barrier_") or not list(flat(list(args))):
            return func(*args, **kwargs)
        raise RuntimeError("No backend type associated with device type cpu")

    def _settled(self, func: Any, results: Any) -> int:
        """Wait for the values, but of point-to-point works, whose partner may have to be issued first; a slot for those."""
        work = _work(results)
        if work is None:
            for each in flat(results) if func.namespace != "c10d" else ():
                torch.ops._c10d_functional.wait_tensor(each)
            return -1
        if func._schema.name.split("::")[1] not in ("send", "recv_", "recv_any_source_"):
            WAITS(work)
            return -1
        slot = len(self.slots)
        self.slots[slot] = work
        self.works[id(work)] = (work, slot, self.phases.last)
        return slot

    def _again(self, func: Any, slot: int) -> Callable[..., Any]:
        """What a replay does in place of the operator."""

        def again(*args: Any, **kwargs: Any) -> Any:
            results = func(*args, **kwargs)
            work = _work(results)
            if work is not None and slot >= 0:
                self.slots[slot] = work
            elif work is not None:
                WAITS(work)
            else:
                for each in flat(results):
                    torch.ops._c10d_functional.wait_tensor(each)
            return tuple(_outputs(func, results))

        return again

    def waited(self, work: Any) -> None:
        """The current stream waits for a work; a replay waits for what it issued instead."""
        tape, kept = self.session.tape, self.works.get(id(work))
        if kept is None:
            return
        self.phases.came(*kept[2])
        if tape is not None:
            slot = kept[1]
            tape.append(Step(lambda: WAITS(self.slots[slot]) and (), (), {}, (), plan_of(torch.ops.aten.add.Tensor)))


def _communicator(bound: Kwargs, call: Call | None) -> tuple[str, tuple[int, ...]]:
    """What NCCL makes with the first collective that needs it: one for a group, one for each pair that sends."""
    given = bound.get("process_group", bound.get("group_name", ""))
    name = dist.ProcessGroup.unbox(given).group_name if isinstance(given, torch.ScriptObject) else str(given)
    return name, (call.peer,) if call is not None and call.op in sequences.POINTS else ()


def _real(value: Any) -> Any:
    if isinstance(value, DeviceTensor):
        return value.emulated
    if isinstance(value, (list, tuple)):
        return type(value)(_real(each) for each in value)
    return value


def _outputs(func: Any, results: Any) -> Iterator[torch.Tensor]:
    """Fresh results, which a replay writes again; what an operator of `c10d` gives are its arguments."""
    if func.namespace != "c10d" and not any(each.alias_info is not None for each in func._schema.arguments):
        yield from flat(results)


def _work(results: Any) -> Any:
    """The work among an operator's results."""
    every = results if isinstance(results, tuple) else (results,)
    for each in every:
        if isinstance(each, torch.ScriptObject):
            return torch._C._distributed_c10d.Work.unbox(each)
    return None


def patches(session: Session, bus: Bus, post: Post) -> Patches:
    """What `torch.distributed` answers on a machine with NCCL: owner, name, value."""
    work, c10d = torch._C._distributed_c10d.Work, dist.distributed_c10d
    new_group, barrier = dist.new_group, dist.barrier

    def waiting(self: Any, *args: Any, **kwargs: Any) -> Any:
        bus.waited(self)
        return WAITS(self, *args, **kwargs)

    def grouped(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("backend", None)
        return new_group(*args, **{key: each for key, each in kwargs.items() if key != "pg_options"})

    def blocking(*args: Any, **kwargs: Any) -> Any:
        if session.tape is not None:
            session.refuse("torch.distributed.barrier", "sync")
        return barrier(*args, **kwargs)

    def batched(ops: list[Any]) -> list[Any]:
        made = (each.op(each.tensor, each.peer, each.group, each.tag) for each in ops)
        return [each for each in made if each is not None]

    yield work, "wait", waiting
    for module in (dist, c10d):
        yield module, "new_group", grouped
        yield module, "barrier", blocking
        yield module, "batch_isend_irecv", batched
        yield module, "is_nccl_available", lambda: True
        yield module, "get_backend", lambda group=None: "nccl"
    yield c10d, "_get_object_coll_device", lambda group=None: str(SHOWN)
    yield torch.cuda.nccl, "version", lambda: NCCL
    yield torch.cuda, "device_count", lambda: post.world


__all__ = ["Bus", "Met", "patches"]
