"""A region gives back the result of a functional collective that nothing in it has read.

Such a result waits for itself when it is first read.  Outside the region that wait is for an event of the capture,
and is an error (`invalid argument`) when the result of a replay is read.

Fails:

    import torch
    import torch.distributed as dist
    from torch.distributed._functional_collectives import all_reduce

    # graphlint: region
    def step(x):
        return all_reduce(x * 2, "sum", dist.group.WORLD)

Captures:

    import torch
    import torch.distributed as dist
    from torch.distributed._functional_collectives import all_reduce, wait_tensor

    # graphlint: region
    def step(x):
        return wait_tensor(all_reduce(x * 2, "sum", dist.group.WORLD))

How to fix: read the result inside, or wait for it there with `wait_tensor`.
"""

from __future__ import annotations

from graphlint.around_events import UnreadCollective
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL609", on=UnreadCollective, predicts="stale", gpu="needs two GPUs: `python -m tests.gpu.ranks`")
def unread_collective(event: UnreadCollective) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` is given back before anything has waited for it",
        help="wait inside the region: `torch.distributed._functional_collectives.wait_tensor(...)`",
    )
