"""A library call reads device values on the host inside itself.

The call looks harmless, yet it checks an error code, a range or a condition in Python or C++ and waits for the device.
Many such checks are optional: `validate_args=False`, `check_errors=False`, `error_if_nonfinite=False`.

Fails:

    import torch

    def step(x):
        eye = torch.eye(x.shape[0], device=x.device)
        return torch.linalg.inv(x @ x.T + eye)

Captures:

    import torch

    def step(x):
        eye = torch.eye(x.shape[0], device=x.device)
        return torch.linalg.inv_ex(x @ x.T + eye).inverse

How to fix: use the variant without the check, turn the check off, or call it outside the region.
"""

from __future__ import annotations

from graphlint.events import LibraryRead
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target

_WHERE = "use `torch.where(mask, value, x)`"
_FUSED = "make the optimizer with `fused=True`"
CURES = {
    "each element is a device tensor": "put them together on the device: `torch.stack((a, b))`",
    "a mask with a device value is counted": _WHERE,
    "values are stored through a mask": _WHERE,
    "the batch counter is read on the host": "give `momentum` a number",
    "the learning rate is read on the host, unless the optimizer is fused": _FUSED,
    "whether a gradient overflowed is read on the host, unless the optimizer is fused": _FUSED,
    "the norm is tested on the host": "leave out `error_if_nonfinite=True`, and look at the norm after the replay",
}
_OTHERWISE = "use a variant without the read if it has one (`*_ex`, `validate_args=False`), or call it outside the region"


@rule("GL106", on=LibraryRead, predicts="breaks", compile="defeats")
def library_read(event: LibraryRead) -> Finding | None:
    return finding(
        event,
        f"`{event.call}` reads device values on the host: {event.why}",
        help=CURES.get(event.why, _OTHERWISE),
        targets=Target.BOTH if event.splits else Target.GRAPH,
    )
