"""An input of a graph is bound to something else instead of being written.

A replay reads the memory that was captured, not the name.  Whatever the name, attribute or entry is bound to
afterwards, the graph goes on with the tensor of the capture.  So it does where two buffers change places after each
step: `src, dst = dst, src`.

Fails:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static = torch.ones(2, 4, device=device)
        graph.replay()
        assert torch.equal(out, model(static))

Captures:

    import torch

    def main(device):
        model = torch.nn.Linear(4, 4).to(device)
        static = torch.zeros(2, 4, device=device)
        for _ in range(3):
            model(static)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(static)
        static.copy_(torch.ones(2, 4, device=device))
        graph.replay()
        assert torch.equal(out, model(static))

How to fix: write the new data into the captured tensor with `copy_`.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import InputRebound
from graphlint.types import Finding


@rule("GL505", on=InputRebound, predicts="stale")
def input_rebound(event: InputRebound) -> Finding | None:
    if event.is_exchange:
        return finding(
            event,
            f"`{event.target}` change places; replays read and write what each held at the capture",
            help="capture a graph for each order and replay them in turn, or copy back at the end of the region",
        )
    if event.is_host:
        return finding(
            event,
            f"the {event.place} `{event.target}` is bound to something new; replays compute with the value of the capture",
            help="keep the value in a device tensor and `fill_` it before each replay",
        )
    return finding(
        event,
        f"the {event.place} `{event.target}` is bound to something new; replays read the tensor of the capture",
        help=f"write in place: `{event.target}.copy_(...)`"
        if _is_one(event.target)
        else "write each in place with `copy_`",
    )


def _is_one(target: str) -> bool:
    """Whether what is bound is one tensor: `inputs.update(new)` and `inputs[:] = new` bind several."""
    return not target.endswith((")", "[:]"))
