"""Tensors that say they live on `cuda:0` while their values live on the host.

A `DeviceTensor` is a wrapper: sizes, strides and dtype are its own, so that C++ reads them without asking Python, and
`emulated` holds the values, an ordinary CPU tensor.  Every wrapper over one storage shares one `Memory`, so the death
of a `Memory` is the moment at which the allocator would take the block back.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from graphlint.emulate.standin import SHOWN, STANDIN

_AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)


class Memory:
    """One block of device memory; `capture` is the serial number of the capture that allocated it, 0 for none."""

    __slots__ = ("__weakref__", "capture")

    def __init__(self, capture: int) -> None:
        self.capture = capture


class Allocator:
    """Which `Memory` each live storage is, and when a block of each size was last allocated outside a capture.

    `is_counting` is false while graphlint itself allocates: that takes no memory from the program that is confirmed.
    """

    def __init__(self) -> None:
        self.capture = 0
        self.clock = 1
        self.is_counting = True
        self.born: dict[int, int] = {}
        self._blocks: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()

    def owns(self, value: torch.Tensor) -> bool:
        """Whether a host tensor is what stands behind a device tensor that lives."""
        return storage_key(value) in self._blocks

    def block(self, value: torch.Tensor) -> Memory:
        """The memory behind a tensor's storage, allocated now if it is met for the first time."""
        key = storage_key(value)
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = Memory(self.capture)
            self.clock += 1
            if self.is_counting and not self.capture:
                self.born[block_size(value)] = self.clock
        return found


def block_size(value: torch.Tensor) -> int:
    """The bytes that CUDA's caching allocator gives: a multiple of 512."""
    size = value.untyped_storage().nbytes() if value.layout is torch.strided else value.numel() * value.element_size()
    return -(-size // 512) * 512


class DeviceTensor(torch.Tensor):
    """See the module; `emulated` is the host tensor behind it."""

    emulated: torch.Tensor
    memory: Memory

    @staticmethod
    def dispatch(func: Any, args: Any, kwargs: Any) -> Any:
        """What a session puts in its place while it is entered."""
        raise RuntimeError("this tensor belongs to an emulated device that is gone")

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch declares an attribute
        return SHOWN

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]  # torch declares an attribute
        return True

    @property
    def is_xla(self) -> bool:
        return False

    @property
    def __class__(self) -> type:
        return type(self)

    @__class__.setter
    def __class__(self, kind: type) -> None:
        """Lazy parameters turn into parameters this way; on the device they stay device tensors."""
        object.__dict__["__class__"].__set__(self, device_class(kind))

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # what torch's own classes do

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch's stub forgets that it is a class method
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return cls.dispatch(func, args, kwargs or {})

    def data_ptr(self) -> int:
        return self.emulated.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.emulated.untyped_storage()

    def record_stream(self, stream: object) -> None:
        """C++ would want a stream of its own class; memory is not reused while a tensor lives."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return duplicate(self, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.cpu().__reduce_ex__(protocol)


@cache
def device_class(kind: type) -> type:
    """The class of a device tensor that was of this class on the host."""
    if issubclass(kind, DeviceTensor):
        return kind
    if kind in (torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", None)):  # `Buffer` since torch 2.5
        return DeviceTensor
    metaclass: Any = type(kind)
    made: type = metaclass(kind.__name__, (DeviceTensor, kind), {"__module__": kind.__module__})
    return made


def wrap(value: torch.Tensor, allocator: Allocator) -> DeviceTensor:
    """A device tensor over `value`, without copying it."""
    made: Any
    if value.layout is torch.strided:
        made = torch.Tensor._make_wrapper_subclass(
            DeviceTensor,
            value.size(),
            strides=value.stride(),
            storage_offset=value.storage_offset(),
            dtype=value.dtype,
            device=STANDIN,
            _extra_dispatch_keys=_AUTOCAST,
        )
        if value.is_conj():
            torch._C._set_conj(made, True)
        if value.is_neg():
            torch._C._set_neg(made, True)
    else:
        made = torch.Tensor._make_wrapper_subclass(
            DeviceTensor, value.size(), dtype=value.dtype, layout=value.layout, device=STANDIN
        )
    made.emulated = value
    made.memory = allocator.block(value)
    return made  # type: ignore[no-any-return]


def storage_key(value: torch.Tensor) -> int:
    """What tells one storage from another while both live."""
    return value.untyped_storage()._cdata if value.layout is torch.strided else id(value)


def rebase(tensor: DeviceTensor, value: torch.Tensor, allocator: Allocator) -> None:
    """Let an existing device tensor stand over other values, as `tensor.data = ...` does."""
    tensor.emulated, tensor.memory = value, allocator.block(value)


def duplicate(tensor: DeviceTensor, memo: dict[int, Any]) -> Any:
    """A deep copy that keeps what torch keeps: the class of a parameter, shared storages, attributes, the gradient."""
    if id(tensor) in memo:
        return memo[id(tensor)]
    allocator = memo.setdefault(id(Allocator), CURRENT[-1])
    fresh: Any = tensor.detach().clone() if allocator.capture else _copied(tensor, memo, allocator)
    if isinstance(tensor, torch.nn.Parameter):
        fresh = torch.nn.Parameter(fresh, tensor.requires_grad)
    elif tensor.requires_grad:
        fresh.requires_grad_()
    memo[id(tensor)] = fresh
    kept = {key: each for key, each in vars(tensor).items() if key not in ("emulated", "memory", "_is_param")}
    vars(fresh).update(copy.deepcopy(kept, memo))
    if tensor.is_leaf and tensor.grad is not None:
        fresh.grad = copy.deepcopy(tensor.grad, memo)
    return fresh


def _copied(tensor: DeviceTensor, memo: dict[int, Any], allocator: Allocator) -> DeviceTensor:
    """A copy that shares memory with other copies as the originals do."""
    with torch.no_grad(), outside():
        return wrap(copy.deepcopy(tensor.emulated.detach(), memo), allocator)


CURRENT: list[Allocator] = []
"""The allocators of the emulations that are entered, the innermost last."""


@contextmanager
def outside() -> Iterator[None]:
    """Code inside runs without the emulation's two modes, on host tensors alone."""
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
        yield
