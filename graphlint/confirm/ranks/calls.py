"""One collective as a rank issued it, and the dispatch mode that sees them all, those of C++ (DDP's buckets) included."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode

from graphlint.confirm import frames
from graphlint.confirm.ranks.journal import Call
from graphlint.confirm.trees import flat

C10D: Any = dist.distributed_c10d
NAMESPACES = frozenset({"c10d", "_c10d_functional", "_c10d_functional_autograd", "_dtensor", "symm_mem"})
QUIET = frozenset({"wait_tensor", "_wrap_tensor_autograd", "check_for_nan", "shard_dim_alltoall"})
NAMES = {
    "allreduce_": "all_reduce", "allreduce_coalesced_": "all_reduce", "all_reduce_": "all_reduce",
    "_allgather_base_": "all_gather_into_tensor", "allgather_": "all_gather", "allgather_coalesced_": "all_gather",
    "allgather_into_tensor_coalesced_": "all_gather_into_tensor", "all_gather_into_tensor_out": "all_gather_into_tensor",
    "_reduce_scatter_base_": "reduce_scatter_tensor", "reduce_scatter_": "reduce_scatter",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter_tensor", "reduce_scatter_tensor_out": "reduce_scatter_tensor",
    "alltoall_": "all_to_all", "alltoall_base_": "all_to_all_single", "broadcast_": "broadcast", "reduce_": "reduce",
    "gather_": "gather", "scatter_": "scatter", "recv_": "recv", "recv_any_source_": "recv", "isend": "send",
    "irecv": "recv", "monitored_barrier_": "barrier", "barrier": "barrier",
}  # fmt: skip
"""Public names of operators, which are named otherwise below the Python functions."""
SIZED = ("input", "input_tensor", "tensors", "input_list", "inputs", "input_tensors", "tensor", "output_tensors", "self")
"""Arguments by whose size a collective is compared, the first that is there; all of them agree on all ranks."""
UNSIZED = frozenset({"all_to_all_single", "all_to_all", "barrier", "gather", "scatter"})


def described(func: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> Call:
    """The call that an operator of `NAMESPACES` makes, at the innermost user line."""
    bound = {**dict(zip((each.name for each in func._schema.arguments), args)), **kwargs}
    raw = func._schema.name.partition("::")[2]
    name = NAMES.get(raw, raw.removesuffix("_coalesced"))
    (label, group), sizes = _group(bound), _sized(bound)
    file, line, function = place()
    count = 0 if name in UNSIZED else sum(each.numel() for each in sizes)
    dtype = "" if name == "barrier" or not sizes else str(sizes[0].dtype).removeprefix("torch.")
    splits = tuple(int(each) for each in bound.get("input_split_sizes") or ())
    wants = tuple(int(each) for each in bound.get("output_split_sizes") or ())
    said, peer = _detail(name, bound, group), _peer(name, bound, group)
    return Call(name, group, count, dtype, said, peer, splits, wants, file, line, function, label)


def _sized(bound: dict[str, Any]) -> list[torch.Tensor]:
    for name in SIZED:
        found = list(flat(bound.get(name)))
        if found:
            return found
    return []


def _group(bound: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """The name and the global ranks of the group that takes part."""
    given = bound.get("process_group", bound.get("group_name"))
    if isinstance(given, str):
        given = C10D._resolve_process_group(given)
    elif isinstance(given, torch.ScriptObject):
        given = dist.ProcessGroup.unbox(given)
    try:
        return given.group_name if given is not None else "", tuple(dist.get_process_group_ranks(given))
    except (KeyError, ValueError, RuntimeError):  # a group that Python does not know
        return "", tuple(range(dist.get_world_size()))


def _detail(name: str, bound: dict[str, Any], group: tuple[int, ...]) -> str:
    if isinstance(bound.get("reduce_op"), str):
        return str(bound["reduce_op"])
    root = bound.get("root_rank", bound.get("src") if name == "broadcast" else None)
    return f"root {group[int(root)]}" if isinstance(root, int) and root < len(group) else ""


def _peer(name: str, bound: dict[str, Any], group: tuple[int, ...]) -> int:
    """The other global rank of a point-to-point call, -1 for a collective or when any source will do."""
    place = bound.get({"send": "dst", "recv": "src"}.get(name, ""))
    return group[int(place)] if isinstance(place, int) and 0 <= place < len(group) else -1


def place() -> tuple[str, int, str]:
    """The innermost user line; that of the main thread where this one has none, as in autograd's threads."""
    found = frames.stack()
    if not found:
        found = frames.stack_of(sys._current_frames().get(threading.main_thread().ident or 0))
    return (found[-1].file, found[-1].line, found[-1].function) if found else ("", 0, "")


class Watch(TorchDispatchMode):
    """Tells `before` of every collective, and `after` when its call came back to the host."""

    def __init__(self, before: Callable[[Call], object], after: Callable[[], object]) -> None:
        super().__init__()
        self.before = before
        self.after = after

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch would import its compiler to keep this class out of it."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> object:
        if func.namespace not in NAMESPACES or func._schema.name.partition("::")[2] in QUIET:
            return func(*args, **(kwargs or {}))
        self.before(described(func, args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        self.after()
        return result
