"""Whose line was it: user frames of a stack or a traceback, and the cause behind a capture's follow-up error.

A frame is the user's when its file is neither torch's, nor the standard library's, nor graphlint's own.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

from graphlint.types import Span, Step

MACHINERY = ("torch/utils/_", "torch/overrides", "torch/cuda/", "torch/nn/modules/module", "torch/_", "torch/autograd/")
"""Torch's own frames that never explain anything, where all frames are torch's."""

BOUNDARIES: set[CodeType] = set()
"""Functions that call the captured step: frames outside them belong to whoever started the run."""


class Frame(NamedTuple):
    """One call; `text` is the source of the expression that was being evaluated, or empty."""

    file: str
    line: int
    function: str
    text: str = ""

    @property
    def step(self) -> Step:
        return Step(Span(self.file, self.line, 0, self.line, 0), self.function)


@lru_cache(maxsize=1)
def _hidden_roots() -> tuple[str, ...]:
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = find_spec("torch")
    torch = os.path.dirname(found.origin) if found is not None and found.origin else own
    return tuple(each + os.sep for each in (own, torch, sysconfig.get_path("stdlib"), os.path.dirname(os.__file__)))


@cache
def hidden(file: str) -> bool:
    """Whether a file belongs to torch, the standard library or graphlint."""
    if file.startswith("<"):
        return True
    installed = "site-packages" in file or "dist-packages" in file
    own, torch, *library = _hidden_roots()
    return file.startswith((own, torch)) or (not installed and file.startswith(tuple(library)))


def caller() -> tuple[str, int]:
    """File and line of the innermost user frame, or `("", 0)` in a thread without one (the autograd engine's)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not hidden(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def stack() -> tuple[Frame, ...]:
    """The user frames of this thread, outermost first, from the nearest boundary inwards."""
    return stack_of(sys._getframe(1))


def stack_of(frame: FrameType | None) -> tuple[Frame, ...]:
    """The same for a frame of any thread."""
    found: list[Frame] = []
    while frame is not None:
        if frame.f_code in BOUNDARIES:
            break
        if not hidden(frame.f_code.co_filename):
            found.append(_frame(frame.f_code, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return tuple(reversed(found))


def traced(trace: str) -> Iterator[tuple[str, int, str]]:
    """The user lines of what `faulthandler` wrote, innermost first: file, line, function.

    It writes every thread, the most recent call first; the thread that was under way when it was asked comes first or
    is called the current one, and the main thread last.
    """
    blocks = [part for part in trace.split("\n\n") if part.strip()]
    mains = [part for part in blocks if part.startswith("Current thread")] or blocks[-1:]
    for line in (line.strip() for part in (*mains, *blocks) for line in part.splitlines()):
        if line.startswith('File "') and '", line ' in line:
            file, _, rest = line[6:].partition('", line ')
            number, _, function = rest.partition(" in ")
            if not hidden(file):
                yield file, int(number), function


def trail(error: BaseException) -> tuple[Frame, ...]:
    """The user frames an error came through, outermost first; torch's own where there is no other."""
    every = [(tb.tb_frame.f_code, tb.tb_lineno, tb.tb_lasti) for tb in tracebacks(error.__traceback__)]
    users = [each for each in every if not hidden(each[0].co_filename)]
    return tuple(_frame(*each) for each in users or [each for each in every if _explains(each[0].co_filename)])


def _explains(file: str) -> bool:
    path = file.replace(os.sep, "/")
    return "/torch/" in path and not any(f"/{part}" in path for part in MACHINERY)


def tracebacks(tb: TracebackType | None) -> list[TracebackType]:
    """The links of a traceback, outermost first."""
    found: list[TracebackType] = []
    while tb is not None:
        found.append(tb)
        tb = tb.tb_next
    return found


def _frame(code: CodeType, line: int, lasti: int) -> Frame:
    return Frame(code.co_filename, line, code.co_name, _expression(code, line, lasti))


def _expression(code: CodeType, line: int, lasti: int) -> str:
    """The source between the columns of one instruction; the stripped line where Python does not know them."""
    if sys.version_info < (3, 11):
        return linecache.getline(code.co_filename, line).strip()
    spot = next(islice(code.co_positions(), lasti // 2, None), None)
    if spot is None or None in spot:
        return linecache.getline(code.co_filename, line).strip()
    first, last, start, end = (int(each or 0) for each in spot)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return " ".join(each.decode(errors="replace").strip() for each in lines)


def cause(error: BaseException) -> BaseException:
    """The error that started it: a capture's exit raises a follow-up whose `__context__` is what the body raised."""
    found, each, seen = error, error, {id(error)}
    while True:
        below = each.__cause__ or each.__context__
        if below is None or id(below) in seen:
            return found
        seen.add(id(below))
        each = below
        if isinstance(each, RuntimeError):
            found = each


def words(error: BaseException) -> str:
    """The first line of an error's message."""
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def described(error: BaseException, stage: str) -> str:
    """One line: what happened, while doing what, where."""
    root = error if isinstance(error, SystemExit) else cause(error)
    came = trail(root)
    where = f" ({came[-1].file}:{came[-1].line})" if came else ""
    if isinstance(error, SystemExit):
        return f"the target called `sys.exit({'' if error.code is None else repr(error.code)})` while {stage}{where}"
    if type(root).__name__ == "OutOfMemoryError":
        return f"ran out of GPU memory while {stage}{where}"
    if isinstance(root, ImportError):
        return f"cannot be imported: {type(root).__name__}: {words(root)}{where}"
    return f"{type(root).__name__} while {stage}: {words(root)}{where}"
