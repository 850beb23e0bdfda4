"""A capture that nothing was run before."""

import torch


def main(device):
    model = torch.nn.Linear(4, 4).to(device)
    static = torch.zeros(2, 4, device=device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        hidden = model(static)
        out = hidden.relu()
    graph.replay()
    return out
