"""`graphlint confirm --ranks 2` on two real GPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphlint.confirm import process
from graphlint.confirm.process import Result
from tests.gpu.ranks import QUICK, cases, planned

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two CUDA devices are needed: each rank has its own"),
]


def confirmed(*names: str) -> dict[str, Result]:
    plans = [planned(each, replace(QUICK, device="cuda")) for each in cases() if each.target in names]
    return {each.plan.target: each for each in process.run(plans, gpus=("0,1",))}


def test_collectives_that_fit_replay_equal_to_eager() -> None:
    names = ("ranks/reductions.py:all_reduce", "ranks/tensor_parallel.py:by_dtensor", "ddp_warmup/counts.py:compared")
    for each in confirmed(*names).values():
        assert (each.outcome.result, each.outcome.replays) == ("captures", ("match",) * 3), each.plan.target


def test_graphs_that_do_not_fit_hang_and_are_ended() -> None:
    (found,) = confirmed("rank_branch/branches.py:other_order").values()
    assert found.outcome.result == "stale"
    stands = found.outcome.sections["ranks"]["hang"]["stands"]
    assert [(each["stage"], each["line"] > 0) for each in stands] == [("replay 1", True)] * 2
