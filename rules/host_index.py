"""A list or a host tensor indexes a device tensor.

The index is uploaded from pageable memory, which is refused during capture.  Slices and single Python numbers need no
upload.

Dynamo traces the lookup.  Under `mode="reduce-overhead"`, a host tensor of whole numbers (a literal, an argument, an
attribute or a global; no `torch.arange`, mask, list or 0-d tensor) makes the compiled function raise when it records its
graph: "storage data ptrs are not allocated in pool" (seen on an H200 with torch 2.11).

Fails:

    def step(x):
        return x[[0, 2]]

Captures:

    def step(x, rows):
        return x[rows]

    def inputs():
        return torch.ones(4, 4, device="cuda"), torch.tensor([0, 2], device="cuda")

How to fix: keep the index as a device tensor in a buffer; use a slice where one will do.
"""

from __future__ import annotations

from graphlint.events import HostIndex
from graphlint.rule import finding, rule
from graphlint.types import Finding, Target

SAID = {
    "list": "device tensor with a list, which is uploaded",
    "array": "device tensor with an array, which is uploaded",
    "host tensor": "device tensor with a host tensor, which is uploaded",
    "device index into a host tensor": "host tensor with a device index, which is read back",
}


@rule("GL304", on=HostIndex, predicts="breaks", compile="breaks")
def host_index(event: HostIndex) -> Finding | None:
    return finding(
        event,
        f"`{event.text}` looks into a {SAID[event.what]}",
        help="keep table and index on the device, as buffers, or use a slice",
        targets=Target.BOTH if event.numbers else Target.GRAPH,
    )
