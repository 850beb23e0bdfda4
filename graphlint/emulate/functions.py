"""Torch functions as user code calls them: devices under their C++ name, and what wrappers cannot answer by themselves.

Most of the work is done by the dispatch mode.  This mode sees calls first, names them for reports and handles the few
in which C++ or Python looks at a tensor's exact type or storage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from graphlint.emulate.attention import attend
from graphlint.emulate.session import Session
from graphlint.emulate.standin import STANDIN, redirected
from graphlint.emulate.tensor import DeviceTensor, outside, rebase

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
_QUIET = frozenset({torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__, torch.Tensor.requires_grad.__get__})  # type: ignore[attr-defined]


class Functions(TorchFunctionMode):
    """The function mode of one session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def __torch_function__(self, func: Any, types: Any, args: Args = (), kwargs: Kwargs | None = None) -> Any:
        if func in _QUIET:
            return func(*args)
        session, kwargs = self.session, kwargs or {}
        outer, session.calling = session.calling, func
        try:
            if "device" in kwargs:
                kwargs = {**kwargs, "device": redirected(kwargs["device"])}
            special = SPECIAL.get(func)
            if special is not None:
                return special(session, func, args, kwargs)
            if any(type(each) is torch.device for each in args):
                args = tuple(redirected(each) if type(each) is torch.device else each for each in args)
            return func(*args, **kwargs)
        finally:
            session.calling = outer


def _move(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """`to`: its first argument can be a device in any notation."""
    if len(args) > 1 and (isinstance(args[1], (str, int)) or type(args[1]) is torch.device):
        args = (args[0], redirected(args[1]), *args[2:])
    return func(*args, **kwargs)


def _cuda(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    waits = kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
    return args[0].to(STANDIN, non_blocking=waits)


def _pinned(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    return func(args[0])


def _store(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """`x[i] = 0`: for CUDA tensors, and only for them, C++ makes the number a host tensor."""
    tensor, index, value = args[0], _index(args[1]), args[2]
    if isinstance(tensor, DeviceTensor) and isinstance(value, (bool, int, float, complex)):
        with outside():
            value = torch.scalar_tensor(value, dtype=tensor.dtype)
    return func(tensor, index, value)


def _load(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    return func(args[0], _index(args[1]))


def _index(index: Any) -> Any:
    """A sequence of device scalars as an index is read element by element."""
    if type(index) is tuple:
        return tuple(_elements(each) for each in index)
    return _elements(index)


def _read(session: Session, value: DeviceTensor, effect: str) -> torch.Tensor:
    """The values behind a tensor, for the host."""
    if session.tape is not None and value.numel():
        session.refuse(str(session.calling), effect)
    return value.emulated.detach()


def _tolist(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    if not isinstance(args[0], DeviceTensor):
        return func(*args)
    value = _read(session, args[0], "d2h")
    with outside():
        return value.tolist()


def _numpy(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    if isinstance(args[0], DeviceTensor):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return func(*args, **kwargs)


def _repr(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    if not isinstance(args[0], DeviceTensor):
        return func(*args, **kwargs)
    value = _read(session, args[0], "read")
    with outside():
        return f"{repr(value)[:-1]}, device='cuda:0')"


def _format(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """A plain tensor of rank 0 is formatted as its number, a parameter is not."""
    tensor, spec = args
    if not isinstance(tensor, DeviceTensor):
        return func(*args)
    if tensor.dim() == 0 and not isinstance(tensor, torch.nn.Parameter):
        return format(tensor.item(), spec)
    return format(_repr(session, func, (tensor,), {}), spec)


def _set_data(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """`t.data = value`, which moves a host parameter to the device without making a new one."""
    tensor, value = args
    if not isinstance(value, DeviceTensor):
        return func(tensor, value)
    if isinstance(tensor, DeviceTensor):
        func(tensor, value)
        return rebase(tensor, value.emulated, session.allocator)
    fresh: Any = value.detach().requires_grad_(tensor.requires_grad)
    fresh.__class__ = type(tensor)
    vars(fresh).update(vars(tensor))
    fresh._is_param = isinstance(tensor, torch.nn.Parameter)
    return torch.utils.swap_tensors(tensor, fresh)


def _behind(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """Addresses and storages are those of the values."""
    if isinstance(args[0], DeviceTensor):
        return func(args[0].emulated, *args[1:], **kwargs)
    return func(*args, **kwargs)


def _literal(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """`tensor`, `as_tensor`: a list that holds device scalars is read element by element."""
    place = 1 if func is torch.Tensor.new_tensor else 0
    if len(args) > place:
        args = (*args[:place], _elements(args[place]), *args[place + 1 :])
    elif "data" in kwargs:
        kwargs = {**kwargs, "data": _elements(kwargs["data"])}
    args = tuple(redirected(each) if type(each) is torch.device else each for each in args)
    if kwargs.get("pin_memory"):
        made = func(*args, **{**kwargs, "pin_memory": False})
        session.pinned.add(made)
        return made
    if func is torch.Tensor.new_tensor and isinstance(args[0], DeviceTensor) and "device" not in kwargs:
        return torch.tensor(args[1], **{"dtype": args[0].dtype, "device": STANDIN, **kwargs})
    return func(*args, **kwargs)


def _elements(data: Any) -> Any:
    if type(data) in (list, tuple):
        return [each.item() if isinstance(each, DeviceTensor) and each.numel() == 1 else _elements(each) for each in data]
    return data


def _type(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """`x.type()` names a class, and `x.type("torch.cuda.FloatTensor")` moves."""
    tensor, wanted = args[0], args[1] if len(args) > 1 else kwargs.get("dtype")
    if wanted is None and isinstance(tensor, DeviceTensor):
        return tensor.emulated.type().replace("torch.", "torch.cuda.")
    if isinstance(wanted, str):
        with outside():
            dtype = torch.empty(0).type(wanted.replace("torch.cuda.", "torch.")).dtype
        return tensor.to(STANDIN if ".cuda." in wanted else "cpu", dtype)
    return func(*args, **kwargs)


def _ctc(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    """Lengths on the host are numbers to C++, except beside tensors of a class that it does not know."""
    names = {"input_lengths": 2, "target_lengths": 3}
    given = {**{name: args[place] for name, place in names.items() if place < len(args)}, **kwargs}
    plain = {name: given[name].tolist() for name in names if _is_host(given.get(name))}
    return func(*args[:2], **dict(zip(_CTC, args[4:])), **{**given, **plain})


def _is_host(value: object) -> bool:
    return isinstance(value, torch.Tensor) and not isinstance(value, DeviceTensor)


def _nothing(session: Session, func: Any, args: Args, kwargs: Kwargs) -> Any:
    return args[0] if isinstance(args[0], DeviceTensor) else func(*args, **kwargs)


_CTC = ("blank", "reduction", "zero_infinity")
T: Any = torch.Tensor
SPECIAL: dict[Any, Callable[[Session, Any, Args, Kwargs], Any]] = {
    T.to: _move,
    T.cuda: _cuda,
    T.pin_memory: _pinned,
    T.__getitem__: _load,
    T.__setitem__: _store,
    T.tolist: _tolist,
    T.numpy: _numpy,
    T.__array__: _numpy,
    T.__repr__: _repr,
    T.__format__: _format,
    T.data.__set__: _set_data,
    T.storage: _behind,
    T._typed_storage: _behind,
    T.share_memory_: _nothing,
    T.type: _type,
    T.new_tensor: _literal,
    torch.tensor: _literal,
    torch.as_tensor: _literal,
    torch.asarray: _literal,
    torch.nn.functional.ctc_loss: _ctc,
    torch.nn.functional.scaled_dot_product_attention: lambda session, func, args, kwargs: attend(func, args, kwargs),
}
