"""One rank on the emulated device: collectives run for real, over gloo, on the values behind its tensors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from unittest import mock

import torch.distributed as dist

from graphlint.confirm import chance
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.ranks import rank
from graphlint.confirm.ranks.post import Post
from graphlint.confirm.trial import Setting, Trial
from graphlint.emulate import collectives, dispatch, run
from graphlint.emulate.device import Emulated
from graphlint.emulate.world import emulated_cuda


def confirm(post: Post, stage: Callable[[str], object]) -> Outcome:
    """This rank's outcome, emulated."""
    with ExitStack() as stack:
        session = stack.enter_context(emulated_cuda())
        phases = collectives.Met(post)
        bus = collectives.Bus(session, phases)
        # As on a GPU, where each rank enters the default group with a collective.
        bus.warm.add((dist.distributed_c10d._get_default_group().group_name, ()))
        stack.enter_context(mock.patch.dict(dispatch.SPECIAL, bus.handlers()))
        for owner, name, value in collectives.patches(session, bus, post):
            stack.enter_context(mock.patch.object(owner, name, value))

        def refused(setting: Setting, trial: Trial, error: Exception, host: chance.Chance) -> Outcome:
            return run.refused(session, setting, trial, error)

        outcome = rank.observed(post, Emulated(session), stage, refused, phases)
        if "graphs" in outcome.figures:
            return run.watched(session, outcome)
        return run.judged(session, replace(outcome, unknown_ops=()))
