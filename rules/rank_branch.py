"""A region branches on the rank, and its sides issue different collectives.

A collective in a graph waits for its partners at every replay.  Ranks whose graphs differ wait for ever, or take what
another collective of the partner sent.  A graph with collectives that only some ranks replay waits in the same way.

Fails:

    import torch
    import torch.distributed as dist

    # graphlint: region
    def step(x):
        y = x * 2
        if dist.get_rank() == 0:
            dist.all_reduce(y)
        return y

Captures:

    import torch
    import torch.distributed as dist

    # graphlint: region
    def step(x):
        y = x * 2
        dist.all_reduce(y)
        if dist.get_rank() == 0:
            y = y + 1
        return y

How to fix: issue the same collectives in the same order on all ranks of a group; branch on what goes into them.
"""

from __future__ import annotations

from graphlint.around_events import RankBranch
from graphlint.rule import finding, rule
from graphlint.types import Finding


@rule("GL605", on=RankBranch, predicts="stale", gpu="needs two GPUs: `python -m tests.gpu.ranks`")
def rank_branch(event: RankBranch) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` runs on some ranks only, as `{event.branch}` depends on the rank",
        help="issue the same collectives in the same order on every rank, and branch on what goes into them",
    )
