"""Python control flow waits for a device value.

`if`, `while`, `assert`, `and`, `or` and `not` call `bool` on the tensor, which waits for the device.  Branches on shapes,
dtypes, `None` and flags do not read the device and are fine.  Dynamo splits the graph at such a branch, and
`fullgraph=True` raises there; `assert (x > 0).all(), "text"` becomes an assertion on the device, which `assert not ...`,
`assert (x > 0).all() and ...` and a message that is computed do not.

Fails:

    def step(x):
        if x.sum() > 0:
            return x * 2
        return x

Captures:

    import torch

    def step(x):
        return torch.where(x.sum() > 0, x * 2, x)

How to fix: compute both sides and select with `torch.where`; check with `torch._assert_async`.
"""

from __future__ import annotations

from graphlint.events import HostBranch
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target

_SELECT = "select on the device: `torch.where(condition, a, b)`, or take the decision outside the region"
_CHECK = "check on the device: `torch._assert_async(condition)`"


@rule("GL103", on=HostBranch, predicts="breaks", compile="defeats")
def host_branch(event: HostBranch) -> Finding | None:
    checks = event.construct.startswith("assert")
    return finding(
        event,
        f"{_named(event.construct)} waits for the device value of `{event.text}`",
        help=_CHECK if checks else _SELECT,
        # What may as well be a Python number is one under Dynamo most often: the length of a cache that grows.
        targets=Target.GRAPH if event.construct == "assert" or event.or_number else Target.BOTH,
    )


def _named(construct: str) -> str:
    """Words as they are, and a keyword without what follows it."""
    return construct if construct.startswith(("a ", "an ")) else f"`{construct.split()[0]}`"
