"""What names of torch and of Python mean at a capture site."""

from __future__ import annotations

from graphlint.site.things import Kind

CONSTRUCTORS = {
    "torch.cuda.CUDAGraph": Kind.GRAPH,
    "torch.cuda.graphs.CUDAGraph": Kind.GRAPH,
    "torch.cuda.graph": Kind.CAPTURE,
    "torch.cuda.graphs.graph": Kind.CAPTURE,
    "torch.cuda.graph_pool_handle": Kind.POOL,
    "torch.cuda.Stream": Kind.STREAM,
    "torch.Stream": Kind.STREAM,
    "torch.cuda.current_stream": Kind.STREAM,
    "torch.cuda.default_stream": Kind.STREAM,
    "torch.cuda.ExternalStream": Kind.STREAM,
    "torch.cuda.stream": Kind.STREAM_BLOCK,
    "torch.cuda.StreamContext": Kind.STREAM_BLOCK,
    "torch.cuda.Event": Kind.EVENT,
    "torch.Event": Kind.EVENT,
    "torch.autocast": Kind.AUTOCAST,
    "torch.amp.autocast": Kind.AUTOCAST,
    "torch.cuda.amp.autocast": Kind.AUTOCAST,
    "torch.amp.GradScaler": Kind.SCALER,
    "torch.cuda.amp.GradScaler": Kind.SCALER,
    "torch.cuda.make_graphed_callables": Kind.GRAPHED,
    "torch.cuda.graphs.make_graphed_callables": Kind.GRAPHED,
    "torch.compile": Kind.COMPILED,
    "torch.utils.data.DataLoader": Kind.LOADER,
    "torch.utils.data.dataloader.DataLoader": Kind.LOADER,
    "torch.nn.Parameter": Kind.TENSOR,
    "torch.nn.Buffer": Kind.TENSOR,
    "torch.nn.parameter.Parameter": Kind.TENSOR,
    "torch.nn.parameter.Buffer": Kind.TENSOR,
}

VIEWS = frozenset(
    [
        "view",
        "view_as",
        "reshape",
        "detach",
        "narrow",
        "select",
        "squeeze",
        "unsqueeze",
        "t",
        "transpose",
        "swapaxes",
        "movedim",
        "permute",
        "flatten",
        "expand",
        "expand_as",
        "chunk",
        "split",
        "unbind",
        "unfold",
        "diagonal",
        "detach_",
        "alias",
        "positional",
        "requires_grad_",
        "as_strided",
        "mT",
        "T",
        "H",
        "data",
        "real",
        "imag",
        "values",
    ]
)
THREADS = {"threading.Thread": "target", "threading.Timer": "function"}
"""Classes of threads, with the parameter of what they run."""
POOLS = frozenset({
    "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor",
    "multiprocessing.pool.ThreadPool", "multiprocessing.dummy.Pool",
})  # fmt: skip
"""Pools of threads."""
NOT_IN_PLACE = frozenset(["requires_grad_", "share_memory_", "detach_", "retain_grad_", "rename_"])
FACTS = frozenset(
    ["shape", "dtype", "device", "ndim", "is_cuda", "requires_grad", "grad_fn", "is_leaf", "layout", "itemsize", "nbytes"]
)
SIZES = frozenset(
    [
        "size",
        "dim",
        "numel",
        "nelement",
        "stride",
        "data_ptr",
        "element_size",
        "storage_offset",
        "is_contiguous",
        "is_floating_point",
    ]
)

FLUENT = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "half",
        "float",
        "double",
        "bfloat16",
        "eval",
        "train",
        "requires_grad_",
        "type",
        "to_empty",
        "share_memory",
        "apply",
        "compile",
    ]
)
PUTTING = frozenset(
    ["append", "appendleft", "extend", "insert", "add", "put", "put_nowait", "push", "setdefault", "update", "send"]
)
SAME = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed", "builtins.iter", "builtins.set"}
)
COPIED = frozenset({"builtins.dict", "collections.deque", "collections.OrderedDict"})
"""What makes a container of its own, empty or with what another one holds."""
MOVING = {"get_scale": "update", "get_last_lr": "step"}
"""What gives a number of a scaler or a scheduler, and what changes it (torch 2.13 documentation)."""
NUMBERS = frozenset({"builtins.len", "builtins.range", "builtins.id", "builtins.hash", "builtins.ord"})
REFERENCE = frozenset({"weakref.ref", "weakref.proxy", "typing.cast", "copy.copy"})

GRAPH_MODES = frozenset({"reduce-overhead", "max-autotune"})
"""Modes of `torch.compile` that turn CUDA graphs on."""

MIXING = frozenset(
    [
        "sum",
        "mean",
        "max",
        "min",
        "amax",
        "amin",
        "std",
        "var",
        "norm",
        "softmax",
        "log_softmax",
        "logsumexp",
        "argmax",
        "argmin",
        "topk",
        "sort",
        "argsort",
        "cumsum",
        "cumprod",
        "prod",
        "median",
        "any",
        "all",
        "std_mean",
        "var_mean",
        "aminmax",
        "scatter_add",
        "scatter_add_",
        "index_add",
        "index_add_",
        "bincount",
        "histc",
        "unique",
    ]
)
"""Operations that can carry values from one row to another, by their dimension."""


def optimizer(name: str) -> str:
    """The class name when a dotted name is an optimizer of torch; "" otherwise."""
    head, _, last = name.rpartition(".")
    is_one = head == "torch.optim" or (head.startswith("torch.optim.") and "lr_scheduler" not in head and "swa" not in head)
    return last if is_one and last[:1].isupper() else ""


def layer(name: str) -> str:
    """The class name when a dotted name is a module class of `torch.nn`; "" otherwise."""
    head, _, last = name.rpartition(".")
    is_one = head == "torch.nn" or head.startswith(("torch.nn.modules", "torch.nn.parallel"))
    return last if is_one and last[:1].isupper() else ""
