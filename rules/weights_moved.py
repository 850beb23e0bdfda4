"""Parameters or buffers get other memory between the capture and a replay.

The graph holds addresses.  `load_state_dict` and `copy_` write into them; a cast, a new `nn.Parameter`, `.data =` and
`load_state_dict(assign=True)` leave the graph with the old weights, `resize_` and `set_` with a storage that others get.
What `torch.compile` runs with graphs compares the addresses and is recorded once more for every new one.

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
        model.weight.data = torch.ones(4, 4, device=device)
        static.fill_(1.0)
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
        model.weight.data.copy_(torch.ones(4, 4, device=device))
        static.fill_(1.0)
        graph.replay()
        assert torch.equal(out, model(static))

How to fix: write into the parameters in place, or capture again.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import WeightsMoved
from graphlint.types import Finding, Target


@rule("GL512", on=WeightsMoved, predicts="stale", compile="defeats")
def weights_moved(event: WeightsMoved) -> Finding | None:
    if not event.targets & Target.GRAPH:
        return finding(
            event,
            f"`{event.target}` gives what was compiled other memory ({_by(event.how)}): it is recorded once more for it",
            help="write in place: `copy_`, or `load_state_dict` without `assign`",
        )
    if event.how == ".grad = ...":
        return finding(
            event,
            f"`{event.target}` gives gradients other memory; the graph goes on writing the tensors of the capture",
            help="bind `.grad` before the capture, and clear it in place",
        )
    return finding(
        event,
        f"`{event.target}` gives what the graph reads other memory ({_by(event.how)}); the graph keeps to the old",
        help="write in place (`copy_`, `load_state_dict` without `assign`), or capture again afterwards",
    )


def _by(how: str) -> str:
    return how if how.startswith(("a new ", "new ")) else f"`{how}`"
