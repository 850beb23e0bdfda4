"""An input is filled on a stream that the replay does not wait for.

Streams are not ordered among each other: the replay may read the input before the copy has come to its end, or while it
runs.  It goes well as long as copies are small, which makes it hard to find.

Fails:

    import torch

    def main(device):
        static = torch.zeros(1 << 26, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static * 2
        host = torch.ones(1 << 26).pin_memory()
        copies = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(copies):
            static.copy_(host, non_blocking=True)
        graph.replay()
        torch.cuda.synchronize()
        assert out.sum().item() == 2 * host.numel()

Captures:

    import torch

    def main(device):
        static = torch.zeros(1 << 26, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = static * 2
        host = torch.ones(1 << 26).pin_memory()
        copies = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(copies):
            static.copy_(host, non_blocking=True)
        torch.cuda.current_stream().wait_stream(copies)
        graph.replay()
        torch.cuda.synchronize()
        assert out.sum().item() == 2 * host.numel()

How to fix: let the replaying stream wait, by `wait_stream` or by an event recorded behind the copy.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import InputRaced
from graphlint.types import Finding


@rule("GL610", on=InputRaced, predicts="stale")
def input_raced(event: InputRaced) -> Finding | None:
    return finding(
        event,
        f"`{event.target}` fills an input on a stream that the replay does not wait for",
        help="wait before the replay: `torch.cuda.current_stream().wait_stream(stream)`",
    )
