"""A decode step that is captured, with a read-back two calls away from it."""

import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, threshold: float = 0.9) -> None:
        super().__init__()
        self.threshold = threshold
        self.drawn = 0

    def is_certain(self, probs: torch.Tensor) -> bool:
        return probs.max().item() > self.threshold

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        self.drawn += 1
        probs = logits.softmax(-1)
        if self.drawn > 100 or self.is_certain(probs):
            return probs.argmax(-1)
        return torch.multinomial(probs, 1)


class Decoder(nn.Module):
    def __init__(self, vocabulary: int = 1000, dim: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.head = nn.Linear(dim, vocabulary)
        self.sampler = Sampler()

    def forward(self, token: torch.Tensor) -> torch.Tensor:
        return self.sampler(self.head(self.embed(token)))


def capture(model: Decoder, token: torch.Tensor) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(token)
    return graph
