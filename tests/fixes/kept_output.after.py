"""Results that outlive the next replay, and an input that is bound anew."""

import torch


def main(device):
    model = torch.nn.Linear(4, 4).to(device)
    static = torch.zeros(2, 4, device=device)
    for _ in range(3):
        model(static)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(static)
    kept = []
    for value in (1.0, 2.0):
        static.fill_(value)
        graph.replay()
        kept.append(out.clone())
    static.copy_(torch.ones(2, 4, device=device))
    graph.replay()
    return kept
