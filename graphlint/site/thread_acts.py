"""What a thread may do on the device while another thread captures.

Measured on an H200 with torch 2.11, each act in a thread that runs in the middle of a capture of the main thread: what
the mode of the capture refuses raises in the thread and ends the capture with an error.  `tests/data/threads_h200.jsonl`
has the answers, one for each row here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from graphlint.record import NamedTuple
from graphlint.syntax import last, last_called, spelled, walk

GLOBAL, LOCAL = "global", "thread_local"
FACTORIES = frozenset(
    {"empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "linspace", "eye", "tensor", "as_tensor"}
)
SMALL = 1 << 18
"""Elements of a tensor that find room in memory which the allocator has at hand."""


class Row(NamedTuple):
    """An act by the names that it is called by, the modes of captures that refuse it, and what else the call must show."""

    act: str
    names: frozenset[str]
    refused: tuple[str, ...]
    shows: Callable[[ast.Call], bool] = bool


def _of_device(call: ast.Call) -> bool:
    """Whether a call is `torch.cuda.synchronize()` and not that of an event or a stream."""
    return isinstance(call.func, ast.Name) or last(_receiver(call)) in ("cuda", "accelerator")


def _receiver(call: ast.Call) -> ast.AST:
    return call.func.value if isinstance(call.func, ast.Attribute) else call


def _has_no_arguments(call: ast.Call) -> bool:
    return not call.args and not call.keywords


def _word(call: ast.Call, name: str) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == name), None)


def _is_on(call: ast.Call, name: str) -> bool:
    value = _word(call, name)
    return isinstance(value, ast.Constant) and value.value is True


def _is_let_go(call: ast.Call) -> bool:
    return _is_on(call, "non_blocking")


def _pins(call: ast.Call) -> bool:
    return _is_on(call, "pin_memory")


def _moves(call: ast.Call) -> bool:
    """Whether `to` is given something that is no dtype."""
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "device")]
    return any("dtype" not in last(each) and not _is_dtype(each) for each in given)


def _is_dtype(given: ast.expr) -> bool:
    return isinstance(given, ast.Attribute) and last(given.value) == "torch"


def _is_large(call: ast.Call) -> bool:
    """Whether a tensor is made on a device, and its size is not known to be small."""
    device = _word(call, "device")
    if device is None or "cpu" in spelled(device):
        return False
    size = 1
    for each in (part for arg in call.args for part in getattr(arg, "elts", [arg])):
        value = each.value if isinstance(each, ast.Constant) else None
        size *= int(value) if isinstance(value, int) else SMALL
    return size >= SMALL


TABLE: tuple[Row, ...] = (
    Row("device_sync", frozenset({"synchronize"}), (GLOBAL, LOCAL), _of_device),
    Row("stream_sync", frozenset({"synchronize"}), (GLOBAL,), _has_no_arguments),
    Row("event_query", frozenset({"query"}), (GLOBAL,), _has_no_arguments),
    Row("item", frozenset({"item"}), (GLOBAL,), _has_no_arguments),
    Row("to_cpu", frozenset({"cpu"}), (GLOBAL,), _has_no_arguments),
    Row("upload", frozenset({"cuda"}), (GLOBAL,)),
    Row("upload", frozenset({"to"}), (GLOBAL,), _moves),
    Row("copy_in_pinned", frozenset({"copy_"}), (), _is_let_go),
    Row("copy_in", frozenset({"copy_"}), (GLOBAL,)),
    Row("pin", frozenset({"pin_memory"}), (GLOBAL,)),
    Row("pin", FACTORIES, (GLOBAL,), _pins),
    Row("big_alloc", FACTORIES, (GLOBAL,), _is_large),
    Row("capture", frozenset({"graph"}), (GLOBAL, LOCAL), lambda call: last(_receiver(call)) in ("cuda", "graphs")),
    Row("capture", frozenset({"make_graphed_callables"}), (GLOBAL, LOCAL)),
    Row("raw_begin", frozenset({"capture_begin"}), (GLOBAL,)),
    Row("replay", frozenset({"replay"}), (), _has_no_arguments),
    Row("empty_cache", frozenset({"empty_cache"}), ()),
    Row("launch_side", frozenset({"stream"}), (GLOBAL,), lambda call: last(_receiver(call)) in ("cuda", "accelerator")),
)
"""The first row that a call meets says what it does; a launch on the stream that is current is refused by no mode.

Entering `torch.cuda.graph` waits for the device, which is why two of those are refused in both modes, and
`capture_begin` in one.  A launch on a stream of its own wants memory that the allocator keeps for that stream.
"""


def refused(work: Sequence[ast.AST], mode: str) -> ast.Call | None:
    """The first call in some functions that a capture of this mode does not bear beside it; None if there is none."""
    for body in work:
        blocks = {id(item.context_expr): each for each in walk(body) if isinstance(each, ast.With) for item in each.items}
        found = [call for call in _calls(body) if _is_refused(call, mode, blocks.get(id(call)))]
        if found:
            return min(found, key=lambda call: (call.lineno, call.col_offset))
    return None


def _calls(body: ast.AST) -> Iterator[ast.Call]:
    return (each for each in walk(body) if isinstance(each, ast.Call))


def _row(call: ast.Call) -> Row | None:
    name = last_called(call)
    return next((row for row in TABLE if name in row.names and row.shows(call)), None)


def _is_refused(call: ast.Call, mode: str, block: ast.With | None) -> bool:
    row = _row(call)
    if row is None or mode not in row.refused:
        return False
    return row.act != "launch_side" or (block is not None and any(map(_launches, block.body)))


def _launches(node: ast.AST) -> bool:
    """Whether something runs under a stream that is not known to be borne there."""
    calls = [_row(each) for each in _calls(node) if last_called(each) not in QUIET]
    return any(row is None or row.refused for row in calls) or any(isinstance(each, ast.BinOp) for each in walk(node))


QUIET = frozenset({"wait_stream", "wait_event", "record", "record_event", "record_stream", "get", "put", "append"})
"""What makes no kernel."""
