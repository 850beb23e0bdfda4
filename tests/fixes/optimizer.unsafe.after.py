"""An optimizer whose step is captured."""

import torch


def main(model, static):
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=1e-3,
        capturable=True,
    )
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        optimizer.step()
    graph.replay()
