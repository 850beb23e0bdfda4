"""Every operator that runs while the emulation is entered: where its tensors live, whether a capture refuses it, and
its result from the real values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from graphlint.confirm.trees import flat, mapped
from graphlint.emulate.generators import device_generator
from graphlint.emulate.plan import Plan, defaults_of, plan_of
from graphlint.emulate.rows import LIBRARIES
from graphlint.emulate.session import Session
from graphlint.emulate.standin import HOST, on_device
from graphlint.emulate.tape import Step
from graphlint.emulate.tensor import DeviceTensor, rebase, storage_key, wrap
from graphlint.emulate.widen import run_widened

aten = torch.ops.aten
Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Tensors = list[torch.Tensor]


class Dispatch(TorchDispatchMode):
    """The dispatch mode of one session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch would import its compiler, which takes seconds, to keep this class out of it."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Args = (), kwargs: Kwargs | None = None) -> Any:
        return self.run(func, args, kwargs or {})

    def run(self, func: Any, args: Args, kwargs: Kwargs) -> Any:
        special = SPECIAL.get(func)
        if special is not None:
            found = special(self.session, args, kwargs)
            if found is not NotImplemented:
                return found
        inputs = list(tensors_in(args, kwargs))
        place = kwargs.get("device")
        to_device = on_device(place) if place is not None else any(isinstance(each, DeviceTensor) for each in inputs)
        if not to_device and not any(isinstance(each, DeviceTensor) for each in inputs):
            return on_host(self.session, func, args, kwargs)
        return on_emulated(self.session, func, args, kwargs, inputs, to_device)


def tensors_in(args: Args, kwargs: Kwargs) -> Iterator[torch.Tensor]:
    """The tensors among an operator's arguments, lists included."""
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for each in value:
                if isinstance(each, torch.Tensor):
                    yield each


def on_host(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """An operator that has nothing to do with the device, except that its result may be pinned."""
    if not kwargs.get("pin_memory"):
        return func(*args, **kwargs)
    made = func(*args, **{**kwargs, "pin_memory": False})
    session.pinned.add(made)
    return made


def on_emulated(session: Session, func: Any, args: Args, kwargs: Kwargs, inputs: Tensors, to_device: bool) -> Any:
    """An operator with device tensors or a device result: checked, run on the values, recorded and wrapped."""
    plan = plan_of(func)
    arguments = plan.bound(args, kwargs, defaults_of(func)) if plan.refusals or plan.accepts or plan.writes else {}
    _check_places(plan, inputs, arguments)
    tape = session.tape
    if tape is None:
        for row in plan.refusals:
            if row.effect in LIBRARIES:
                session.use(row.effect)
    else:
        _check_capture(session, plan, arguments, args, kwargs)
        tape.note_inputs(each for each in inputs if isinstance(each, DeviceTensor))
        for written in _written(plan, arguments):
            tape.save(written)
    real_args, real_kwargs = _real(args), {key: _real_one(each) for key, each in kwargs.items()}
    if "device" in real_kwargs:
        real_kwargs["device"] = HOST if to_device or real_kwargs["device"] is not None else None
        real_kwargs.pop("pin_memory", None) if to_device else None
    with session.random.drawing(plan.is_random and device_generator([*args, *kwargs.values()]) is None):
        results = run_widened(func, real_args, real_kwargs, plan)
    if tape is not None and (to_device or plan.writes):
        _record(session, func, plan, real_args, real_kwargs, results, inputs)
    return _wrapped(session, plan, results, inputs, to_device)


def _check_places(plan: Plan, inputs: Tensors, arguments: Kwargs) -> None:
    """CUDA's own complaint about a host tensor that is no scalar among device tensors."""
    strangers = [each for each in inputs if not isinstance(each, DeviceTensor) and each.dim() > 0]
    if strangers and len(strangers) < len(inputs) and not any(row.holds(arguments) for row in plan.accepts):
        raise RuntimeError(
            "Expected all tensors to be on the same device, "
            f"but found at least two devices, cuda:0 and cpu! (in {plan.name})"
        )


def _check_capture(session: Session, plan: Plan, arguments: Kwargs, args: Args, kwargs: Kwargs) -> None:
    session.launch()
    if not plan.is_known:
        session.unknown.setdefault(plan.name)
    for row in plan.refusals:
        if row.holds(arguments) and not (row.effect in LIBRARIES and session.use(row.effect)):
            session.refuse(plan.name, row.effect)
            return
    if plan.is_random:
        generator = device_generator([*args, *kwargs.values()])
        if generator is not None and session.graph not in generator.graphs:
            session.refuse(plan.name, "generator")


def _written(plan: Plan, arguments: Kwargs) -> Iterator[DeviceTensor]:
    for name in plan.writes:
        for each in tensors_in((arguments.get(name),), {}):
            if isinstance(each, DeviceTensor):
                yield each


def _real_one(value: Any) -> Any:
    if isinstance(value, DeviceTensor):
        return value.emulated
    if type(value) in (list, tuple):
        return [each.emulated if isinstance(each, DeviceTensor) else each for each in value]
    return value


def _real(args: Args) -> Args:
    return tuple(_real_one(each) for each in args)


def _record(session: Session, func: Any, plan: Plan, args: Args, kwargs: Kwargs, results: Any, inputs: Tensors) -> None:
    """Append to the tape, unless the results are views: those need no launch."""
    assert session.tape is not None
    outputs = () if plan.writes else tuple(flat(results))
    if plan.is_view or (outputs and _is_alias(outputs, inputs)):
        return
    hosts = [each for each in inputs if not isinstance(each, DeviceTensor) and not session.pinned.has(each)]
    frozen = {id(each): each.clone() for each in hosts}
    args = tuple(_kept(each, frozen) for each in args)
    kwargs = {key: _kept(each, frozen) for key, each in kwargs.items()}
    session.tape.append(Step(func, args, kwargs, tuple(each.detach() for each in outputs), plan))


def _is_alias(outputs: tuple[torch.Tensor, ...], inputs: Tensors) -> bool:
    sources = {storage_key(_real_one(each)) for each in inputs if each.numel()}
    return all(storage_key(each) in sources for each in outputs if each.numel())


def _kept(value: Any, frozen: dict[int, torch.Tensor]) -> Any:
    """An argument as the launch had it: host operands by value, others by address and by the sizes of that moment."""
    if isinstance(value, torch.Tensor):
        return frozen[id(value)] if id(value) in frozen else value.detach()
    if isinstance(value, list):
        return [_kept(each, frozen) for each in value]
    return value


def _wrapped(session: Session, plan: Plan, results: Any, inputs: Tensors, to_device: bool) -> Any:
    known = {id(_real_one(each)): each for each in inputs}
    for each in inputs if plan.writes else ():
        if isinstance(each, DeviceTensor) and _is_reshaped(each):
            reshape_in_place(session, each)
    if plan.on_host:
        places = enumerate(results)
        return tuple(each if place in plan.on_host else _placed(session, each, to_device) for place, each in places)
    return mapped(results, lambda value: known.get(id(value)) if id(value) in known else _placed(session, value, to_device))


def _placed(session: Session, value: torch.Tensor, to_device: bool) -> torch.Tensor:
    return wrap(value, session.allocator) if to_device else value


def _is_reshaped(tensor: DeviceTensor) -> bool:
    return tensor.shape != tensor.emulated.shape or tensor.stride() != tensor.emulated.stride()


def reshape_in_place(session: Session, tensor: DeviceTensor) -> None:
    """Give a wrapper the sizes that an in-place operator gave its values."""
    value = tensor.emulated
    torch.Tensor.data.__set__(tensor, wrap(value, session.allocator))  # type: ignore[attr-defined]
    rebase(tensor, value, session.allocator)


def _copy(session: Session, args: Args, kwargs: Kwargs) -> Any:
    """`dst.copy_(src)` between the host and the device wants pinned memory and no waiting."""
    target, source = args[0], args[1]
    crosses = (isinstance(target, DeviceTensor)) != (isinstance(source, DeviceTensor))
    if crosses and session.tape is not None and source.numel():
        host, waits = (source, "h2d") if isinstance(target, DeviceTensor) else (target, "d2h")
        is_async = kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
        if not (session.pinned.has(host) and is_async):
            session.refuse("aten.copy_.default", waits)
    return NotImplemented


def _to_copy(session: Session, args: Args, kwargs: Kwargs) -> Any:
    """`to` that copies: from the device it is refused when it waits, from the host also when the memory is pageable."""
    source, place = args[0], kwargs.get("device")
    if place is None or session.tape is None or not source.numel():
        return NotImplemented
    is_async = bool(kwargs.get("non_blocking"))
    if on_device(place) and not isinstance(source, DeviceTensor) and not (is_async and session.pinned.has(source)):
        session.refuse("aten._to_copy.default", "h2d")
    if not on_device(place) and isinstance(source, DeviceTensor) and not is_async:
        session.refuse("aten._to_copy.default", "d2h")
    return NotImplemented


def _pin(session: Session, args: Args, kwargs: Kwargs) -> Any:
    pinned = args[0].clone()
    session.pinned.add(pinned)
    return pinned


def _zeros(session: Session, args: Args, kwargs: Kwargs) -> Any:
    """Autograd's zeros without memory, which only C++ knows how to read, become ordinary ones."""
    if not on_device(kwargs.get("device")):
        return NotImplemented
    return on_emulated(session, aten.zeros.default, args, kwargs, [], True)


SPECIAL: dict[Any, Callable[[Session, Args, Kwargs], Any]] = {
    aten.copy_.default: _copy,
    aten._to_copy.default: _to_copy,
    aten.pin_memory.default: _pin,
    aten._pin_memory.default: _pin,
    aten.is_pinned.default: lambda session, args, kwargs: session.pinned.has(args[0]),
    aten.record_stream.default: lambda session, args, kwargs: None,
    aten._efficientzerotensor.default: _zeros,
}
