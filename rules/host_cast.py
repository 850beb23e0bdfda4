"""A device tensor is turned into a Python number.

`int`, `float`, `bool`, `complex` and the functions of `math` call `item`, which waits for the device; waiting is not
permitted during capture.  Sizes are Python numbers already: `int(x.shape[0])` is fine.  Dynamo splits the graph there;
`fullgraph=True` captures a cast as an unknown number and raises at a function of `math`.

Fails:

    import math

    def step(x):
        return x / math.sqrt(x.square().sum())

Captures:

    def step(x):
        return x / x.square().sum().sqrt()

How to fix: use the tensor method of the same name.
"""

from __future__ import annotations

from graphlint.events import HostCast
from graphlint.rule import finding, rule
from graphlint.types import Finding

_CURES = {
    "bool": "keep it a tensor and select with `torch.where`",
    "index": "look it up on the device: `x.index_select(dim, i.view(1))`",
}
_SAME = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp expm1 floor fmod gcd hypot isfinite isinf "
    "isnan lcm lgamma log log10 log1p log2 pow sin sinh sqrt tan tanh trunc"
)
"""Functions of `math` that torch has by the same name."""


def _cure(name: str) -> str:
    if name in _SAME.split():
        return f"stay on the device: `torch.{name}`"
    return _CURES.get(name, "stay in tensor arithmetic; `x.to(dtype)` changes the type on the device")


@rule("GL102", on=HostCast, predicts="breaks", compile="defeats")
def host_cast(event: HostCast) -> Finding | None:
    return finding(
        event,
        f"`{event.builtin}` turns the device tensor in `{event.text}` into a Python number",
        help=_cure(event.builtin.rpartition(".")[2]),
    )
