"""What is said of collectives in captures, through helpers and classes, and what is not."""

from __future__ import annotations

import pytest

from graphlint.project import Project
from graphlint.site.answers import site_events
from graphlint.source import parse

HEAD = """
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc

def is_main():
    return dist.get_rank() == 0

def summed(x):
    return fc.all_reduce(x, "sum", dist.group.WORLD)

def beside(x, stream, factor):
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        dist.all_reduce(x)
        if factor:
            x.mul_(factor)

class Leader:
    def __init__(self):
        self.leads = dist.get_rank() == 0

    def share(self, x):
        if self.leads:
            dist.broadcast(x, 0)
        return x

def main(x):
    leads, rank, leader = is_main(), dist.get_rank(), Leader()
    group, stream = dist.new_group([0, 1]), torch.cuda.Stream()
    dist.all_reduce(x, group=group)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
"""


def names(*body: str, after: str = "    return graph, y") -> list[str]:
    source = parse(HEAD + "".join(f"        {line}\n" for line in body) + after + "\n", "sample.py")
    return [type(event).__name__ for _, event in site_events(source, Project([source]))]


@pytest.mark.parametrize(
    ("body", "event"),
    [
        (("if is_main():", "    dist.all_reduce(y)"), "RankBranch"),
        (("if not leads:", "    dist.all_reduce(y)"), "RankBranch"),
        (("if rank % 2 == 0:", "    dist.all_reduce(y)"), "RankBranch"),
        (("if rank == 0:", "    dist.all_reduce(y, group=group)"), "RankBranch"),
        (("y = leader.share(y)",), "RankBranch"),
        (("y = summed(y)",), "UnreadCollective"),
        (("beside(y, stream, 2)",), "StreamNotJoined"),
    ],
)
def test_a_fault_is_seen_through_names_helpers_and_classes(body: tuple[str, ...], event: str) -> None:
    assert names(*body) == [event]


@pytest.mark.parametrize(
    "body",
    [
        ("if is_main():", "    y = y + 1", "dist.all_reduce(y)"),
        ("if leads:", "    dist.all_reduce(y)", "else:", "    y = y + 1", "    dist.all_reduce(y)"),
        ("if rank in (0, 1):", "    dist.all_reduce(y, group=group)"),
        ("scaled = y * rank", "if scaled.shape[0] > 1:", "    dist.all_reduce(y)"),
        ("y = summed(y) + 1",),
        ("summed(y)",),
        ("beside(y, stream, 2)", "torch.cuda.current_stream().wait_stream(stream)"),
    ],
)
def test_what_all_ranks_do_alike_and_wait_for_is_left_alone(body: tuple[str, ...]) -> None:
    assert names(*body) == []


def test_a_group_is_kept_by_torch_and_does_not_die_with_its_name() -> None:
    assert names("dist.all_reduce(y, group=group)", after="    return graph") == []
