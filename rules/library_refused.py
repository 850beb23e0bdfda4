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


@rule("GL309", on=LibraryRefused, predicts="breaks")
def library_refused(event: LibraryRefused) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` is refused during capture: {event.why}",
        help="call it outside the region, or choose an operation that can be recorded",
    )
