"""The process of one rank: `python -m graphlint.confirm.ranks.worker FOLDER`, started by the elastic agent.

`FOLDER/order.json` holds the plan, the backend and the deadline; `FOLDER/rank-N.jsonl` takes the journal, `trace-N.txt`
the stacks whenever SIGUSR1 asks for them and `values-N.pt` what was computed.  The process ends with 0 when its partners
can finish without it, and with `os._exit`, since tearing NCCL down after a refused capture may wait for ever.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path

from graphlint.confirm import codec, plan
from graphlint.confirm.descent import follow
from graphlint.confirm.frames import described
from graphlint.confirm.outcome import NOWHERE, Outcome
from graphlint.confirm.ranks.journal import Journal
from graphlint.confirm.ranks.meeting import PartnersDiffer
from graphlint.confirm.ranks.post import Post
from graphlint.errors import UsageError

FAILED = 3
"""The status of a rank without an outcome: the agent ends its partners, which would wait for it."""
PATIENCE = 3600.0
"""Seconds after which torch itself gives up on a collective: never before graphlint does."""
ALONE = 60.0
"""Seconds after the deadline at which a rank ends by itself, should nobody have ended it."""


def main() -> None:
    """Run one rank; does not return."""
    folder, rank = Path(sys.argv[1]), int(os.environ["RANK"])
    order = json.loads((folder / "order.json").read_text(encoding="utf-8"))
    follow(order["agent"])
    with open(order["groups"], "a") as groups:  # the agent starts ranks in process groups of their own
        groups.write(f"{os.getpid()}\n")
    with open(folder / f"trace-{rank}.txt", "w") as trace, open(folder / f"rank-{rank}.jsonl", "w") as file:
        journal = Journal(file)
        journal.say(pid=os.getpid())
        one = plan.decode(order["plan"])
        faulthandler.enable(trace)
        faulthandler.dump_traceback_later(max(order["deadline"] - time.time(), 0.0) + ALONE, exit=True, file=trace)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, trace)
        post = Post(rank, int(os.environ["WORLD_SIZE"]), folder, one, order["deadline"], journal)
        outcome = attempt(post, order["backend"])
        journal.say(outcome=codec.encode(outcome), done=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(FAILED if outcome.result == "not-run" or "error" in outcome.replays else 0)


def attempt(post: Post, backend: str) -> Outcome:
    """The outcome of this rank; whatever user code raises becomes a "not-run" with one clear line."""
    reached = ["starting"]

    def stage(word: str) -> None:
        reached[0] = word
        sys.stdout.flush()
        post.journal.say(stage=word)

    try:
        stage("importing torch")
        join(post, backend)
        if backend == "gloo":
            from graphlint.emulate import ranked  # only here: it replaces parts of torch

            return ranked.confirm(post, stage)
        from graphlint.confirm.ranks import rank  # imports torch

        return rank.confirm(post, stage)
    except UsageError as error:
        return _nothing(post, str(error).replace("\n  ", "; "), reached[0])
    except PartnersDiffer as error:
        return _nothing(post, f"while {reached[0]}, {error}", reached[0])
    except BaseException as error:
        return _nothing(post, described(error, reached[0]), reached[0])


def _nothing(post: Post, reason: str, stage: str) -> Outcome:
    return Outcome(post.plan.target, "not-run", NOWHERE, reason=reason, stage=stage)


def join(post: Post, backend: str) -> None:
    """Enter the default group, on this rank's own GPU where there are GPUs."""
    import torch
    import torch.distributed as dist

    patience = timedelta(seconds=PATIENCE)
    if backend == "nccl":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,cuda:gloo" if backend == "gloo" else backend, timeout=patience)
    dist.init_process_group = _entered  # targets that enter it themselves have entered it


def _entered(*args: object, **kwargs: object) -> None:
    """Stands in for `init_process_group` once this process is in the group."""


if __name__ == "__main__":
    main()
