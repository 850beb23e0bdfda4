"""A capture runs while the thread of a loader that pins memory is alive.

The thread allocates page-locked memory, and under the default `capture_error_mode="global"` such a call of any thread
invalidates the capture.  So does any other that waits for the device, copies pageable memory or allocates; launches on
the same stream, pinned copies and replays do not.  A wait for the whole device ends a capture in the mode `thread_local`
too, and as `torch.cuda.graph` begins with one, threads cannot capture at the same time, on one GPU or on several.

Fails:

    import torch
    from torch.utils.data import DataLoader

    def main(device, dataset):
        model = torch.nn.Linear(4, 4).to(device)
        graph = None
        for batch in DataLoader(dataset, num_workers=2, pin_memory=True, drop_last=True):
            if graph is None:
                static = batch.to(device)
                model(static)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    out = model(static)
            static.copy_(batch)
            graph.replay()

Captures:

    import torch
    from torch.utils.data import DataLoader

    def main(device, dataset):
        model = torch.nn.Linear(4, 4).to(device)
        graph = None
        for batch in DataLoader(dataset, num_workers=2, pin_memory=True, drop_last=True):
            if graph is None:
                static = batch.to(device)
                model(static)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                    out = model(static)
            static.copy_(batch)
            graph.replay()

How to fix: capture before the loop, or pass `capture_error_mode="thread_local"`; capture one graph after the other.
"""

from __future__ import annotations

from graphlint.rule import finding, rule
from graphlint.site_events import LoaderThread
from graphlint.types import Finding


@rule("GL523", on=LoaderThread, predicts="breaks", gpu="needs a race between two threads")
def loader_thread(event: LoaderThread) -> Finding | None:
    if event.at_once:
        return finding(
            event,
            f"`{event.text}` captures in several threads at the same time, and each ends the captures of the others",
            help="capture in one thread, or one after the other under a lock",
        )
    cure = "capture before it starts" if event.in_both_modes else CURE
    does = f" and does `{event.does}`" if event.does else ""
    return finding(event, f"`{event.text}` captures while {event.thread} is running{does}", help=cure)


CURE = 'capture before it starts, or pass `capture_error_mode="thread_local"`'
