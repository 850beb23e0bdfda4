"""Questions about the platform, which are answered where CUDA graphs are captured."""

from __future__ import annotations

import ast
import functools
import re

from graphlint.syntax import last, last_called

ELSEWHERE = re.compile(
    r"_*(is|on|has|use)?_*(torch_)?(npu|hip|rocm|xpu|tpu|hpu|mps|mlu|musa|xla|gaudi|neuron|ascend)(_available|_platform|_device)?"
)
"""Questions about accelerators that know no CUDA graph."""

ON_HOST = re.compile(r"_*(is|on)_cpu(_platform|_device|_only)?")
ON_CUDA = re.compile(r"_*(is|on|has)_(cuda|gpu|nvidia|cuda_alike)(_available|_platform|_device)?")


@functools.cache
def platform(name: str) -> bool | None:
    """The answer, where CUDA graphs are captured, to a question about the platform; None if it is none."""
    word = name.lower()
    if ELSEWHERE.fullmatch(word) or ON_HOST.fullmatch(word):
        return False
    return True if ON_CUDA.fullmatch(word) else None


def answered(test: ast.expr) -> bool | None:
    """How a condition that only asks for platforms, or asks for one among other things, comes out; None if that is open."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            answer = answered(inner)
            return None if answer is None else not answer
        case ast.BoolOp(op=op, values=parts):
            settling = isinstance(op, ast.Or)
            answers = [answered(each) for each in parts]
            return settling if settling in answers else None if None in answers else not settling
        case ast.Call(func=ast.Attribute(value=asked, attr="is_available"), args=[], keywords=[]):
            return platform(f"is_{last(asked)}_available")
        case ast.Call(args=[], keywords=[]) | ast.Name() | ast.Attribute():
            return platform(last_called(test)) if isinstance(test, ast.Call) or is_question(last_called(test)) else None
    return None


def is_question(name: str) -> bool:
    """Whether a variable's name asks something: `is_npu`, `hip_available`, and no plain word such as `neuron`."""
    return "_" in name.strip("_")
