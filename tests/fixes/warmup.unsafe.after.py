"""A capture that nothing was run before."""

import torch


def main(device):
    model = torch.nn.Linear(4, 4).to(device)
    static = torch.zeros(2, 4, device=device)
    graph = torch.cuda.CUDAGraph()
    warmup = torch.cuda.Stream()
    warmup.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warmup):
        for _ in range(3):
            hidden = model(static)
            out = hidden.relu()
    torch.cuda.current_stream().wait_stream(warmup)
    with torch.cuda.graph(graph):
        hidden = model(static)
        out = hidden.relu()
    graph.replay()
    return out
