"""A region reads a tensor of an asynchronous collective before it waits for it.

The collective runs on a stream of NCCL's own.  Without the wait the graph has no edge from it to what reads the tensor,
so every replay reads what is there by chance.

Fails:

    import torch
    import torch.distributed as dist

    # graphlint: region
    def step(x):
        y = x * 2
        work = dist.all_reduce(y, async_op=True)  # graphlint: ignore[graph-break] -- shown by the page of that rule
        z = y + 1
        work.wait()
        return z

Captures:

    import torch
    import torch.distributed as dist

    # graphlint: region
    def step(x):
        y = x * 2
        work = dist.all_reduce(y, async_op=True)  # graphlint: ignore[graph-break] -- shown by the page of that rule
        z = x + 1
        work.wait()
        return y + z

How to fix: call `wait()` on the handle before the first use of the tensor.  A handle that nothing in the region waits
for does no harm as long as nothing in the region reads the tensor: a replay ends when all of its work has ended.
"""

from __future__ import annotations

from graphlint.around_events import UnwaitedCollective
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL604", on=UnwaitedCollective, predicts="stale", gpu="needs two GPUs: `python -m tests.gpu.ranks`")
def unwaited_collective(event: UnwaitedCollective) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` reads what `{event.call}` may still be writing",
        help="wait first: `work.wait()` before the first use of the tensor",
    )
