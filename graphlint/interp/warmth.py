"""Libraries whose handle is made on first use, which a capture refuses: cuBLAS, cuDNN, cuFFT, cuSOLVER.

What runs before a capture is only known where all of it stands in one function or file, so nothing is said of captures
whose warm-up may be elsewhere.  Layers are left to those who tell the story of the capture site.
"""

from __future__ import annotations

import ast

from graphlint.events import LibraryRefused
from graphlint.interp.binding import parameters
from graphlint.interp.dispatch import SOMETHING
from graphlint.interp.frame import Frame
from graphlint.types import Confidence
from graphlint.values import Place, Tensor, Value

REFUSED = frozenset({"cuBLAS", "cuDNN", "cuFFT", "cuSOLVER"})
"""Measured on an H200 with torch 2.11: each refuses to make its handle during a capture."""


def use(frame: Frame, library: str, node: ast.AST, call: str, sure: Confidence = Confidence.LIKELY) -> None:
    """Note that a library is used, and say so if that is its first use and stands in a capture.

    `call` is the function that uses it, empty for an operator.
    """
    machine = frame.machine
    used = machine.libraries
    if machine.capturing and not {library, SOMETHING} & used and library in REFUSED:
        why = f"{library} makes its handle on first use"
        frame.emit(LibraryRefused, node, min(sure, Confidence.LIKELY), call=call, why=why)
    used.add(library)


def product(frame: Frame, left: Value, right: Value, node: ast.AST) -> None:
    """`a @ b` of device tensors."""
    if any(isinstance(each, Tensor) and each.place is Place.DEVICE for each in (left, right)):
        use(frame, "cuBLAS", node, "")


def is_told_whole(frame: Frame) -> bool:
    """Whether everything that runs before a capture in this frame is in sight."""
    decl = frame.summary.decl
    return decl is None or (decl.owner is None and not parameters(decl) and frame.scope.parent is None)
