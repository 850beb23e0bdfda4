"""A library call is refused during capture for another reason than a read.

Solvers that fall back to the host or set up a workspace on each call cannot be recorded.

Fails:

    import torch

    def step(x):
        return torch.linalg.eigvalsh(x @ x.T)

Captures:

    import torch

    def step(x):
        return torch.linalg.qr(x @ x.T).R

How to fix: call it outside the region, or use an operation that is captured.
"""

from __future__ import annotations

from graphlint.events import LibraryRefused
from graphlint.rule import finding, rule
from graphlint.types import Finding

CURES = {
    "says `capturable=False`": 'set `group["capturable"] = True` in every group behind `load_state_dict`',
    "not made with `capturable=True`": "make the optimizer with `capturable=True`",
    "makes its handle on first use": "run it once before the capture, as a warm-up on a side stream does",
    "takes no other seed": "seed outside the region; register a generator with the graph for draws that must repeat",
    "records graphs of its own": "compile it without graphs, or call it outside the region",
}
_OTHERWISE = "call it outside the region, or choose an operation that can be recorded"


@rule("GL309", on=LibraryRefused, predicts="breaks")
def library_refused(event: LibraryRefused) -> Finding | None:
    return finding(
        event,
        f"`{event.call or event.text}` is refused during capture: {event.why}",
        help=next((cure for why, cure in CURES.items() if why in event.why), _OTHERWISE),
    )
