"""Work in a region that goes to another stream than the captured one, where a replay does not do it again.

Measured on an H200 with torch 2.11: what is launched on the default stream while another stream is captured runs at once
and is in no graph; made to wait for the captured stream, the default stream is refused.  Libraries that launch on a stream
of their own do the former.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import WorkNotCaptured
from graphlint.events import Event, LibraryRefused
from graphlint.site.acts import Act, Verb
from graphlint.site.cold import kernel
from graphlint.site.story import Captured, Story, region, tell
from graphlint.site.streams import left, works
from graphlint.site.things import Kind, Thing
from graphlint.site_events import OutsideEvent
from graphlint.syntax import last
from graphlint.types import Region

Told = Iterator[tuple[Region, Event]]
LAUNCHING = ("cupy.", "warp.launch")
VIEWING = frozenset({"from_dlpack", "asarray", "array", "ndarray", "dtype", "get_array_module", "Stream", "ExternalStream"})
"""Functions of libraries that only look at memory."""
HANDED = ("ExternalStream", "external_stream", "stream_from_torch", "ScopedStream", "cuda_stream", "use_stream")
"""How a file gives the captured stream to another library."""


def on_default_stream(story: Story) -> Told:
    """Blocks on the default stream, and waits that would draw it into the capture."""
    for captured in story.captures:
        waits = [act for _, act in story.between(captured.begin, captured.end, Verb.METHOD) if _draws_in(act)]
        for act in waits:
            awaited = "the captured stream, which the default one may not do"
            yield region(captured, story.acts), tell(OutsideEvent, act, event=act.text, awaited=awaited)
        for index, act in story.between(captured.begin, captured.end, Verb.ENTER):
            stream = act.thing.base if act.thing.kind is Kind.STREAM_BLOCK else None
            if waits or stream is None or not _is_default(stream):
                continue
            if works(story, index, left(story, captured, index, act.thing)):
                yield region(captured, story.acts), tell(WorkNotCaptured, act, work=act.text)


def _is_default(stream: Thing) -> bool:
    return stream.kind is Kind.STREAM and stream.name.endswith("default_stream")


def _draws_in(act: Act) -> bool:
    """Whether the default stream is made to wait for another one."""
    return act.name in ("wait_stream", "wait_event") and _is_default(act.thing)


def by_libraries(story: Story) -> Told:
    """Kernels of other libraries, which know nothing of the stream that torch captures."""
    if not story.captures or any(word in story.module.source.text for word in HANDED):
        return
    for captured in story.captures:
        found = _first(story, captured)
        if found is not None:
            act, whose = found
            yield region(captured, story.acts), tell(WorkNotCaptured, act, work=act.text, whose=whose)


def _first(story: Story, captured: Captured) -> tuple[Act, str] | None:
    for _, act in story.between(captured.begin, captured.end, Verb.CALL):
        whose = _library(act)
        if whose:
            return act, f"the stream of {whose}"
    return None


def _library(act: Act) -> str:
    """The library whose own stream a call launches on; empty for any other call."""
    name = act.thing.name
    if act.call is None or any("stream" in (word.arg or "") for word in act.call.keywords):
        return ""
    if name.startswith(LAUNCHING) and not name.startswith("cupy.cuda.") and not _is_making(act.thing):
        return "CuPy" if name.startswith("cupy.") else "Warp"
    launched = kernel(act)
    marks = launched.decorator_list if isinstance(launched, ast.FunctionDef) else []
    return "Numba" if any(_is_numba(act, mark) for mark in marks) and not _names_stream(act) else ""


def _is_making(called: Thing) -> bool:
    """Whether a call only looks at memory, or makes a kernel and does not launch it."""
    word = called.name.rpartition(".")[2]
    return word in VIEWING or (called.kind is Kind.OUTSIDE and word[:1].isupper())


def _is_numba(act: Act, mark: ast.expr) -> bool:
    """Whether a decorator is `numba.cuda.jit`."""
    jit = mark.func if isinstance(mark, ast.Call) else mark
    is_jit = isinstance(jit, ast.Attribute) and jit.attr == "jit" and last(jit.value) == "cuda"
    return is_jit and "numba" in act.frame.module.source.text


def _names_stream(act: Act) -> bool:
    """Whether a launch says on which stream it runs: `kernel[blocks, threads, stream](...)`."""
    index = act.thing.node.slice if isinstance(act.thing.node, ast.Subscript) else None
    return isinstance(index, ast.Tuple) and len(index.elts) > 2


RAW = frozenset({"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaMallocHost", "cudaFreeHost", "cudaMallocManaged"})
"""Calls of CUDA that get or give memory back: three of them were tried on an H200, and each took the capture with it."""


def raw_memory(story: Story) -> Told:
    """Memory that is had from CUDA itself, by way of `ctypes` or of bindings."""
    for captured in story.captures:
        for _, act in story.between(captured.begin, captured.end, Verb.METHOD, Verb.CALL):
            name = act.name if act.verb is Verb.METHOD else act.thing.name.rpartition(".")[2]
            if name in RAW:
                why = "CUDA gets no memory, and gives none back, while a stream is captured"
                yield region(captured, story.acts), tell(LibraryRefused, act, call=name, why=why)
