"""A counter and a state that a replay must advance."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0  # how often
        self.register_buffer("state", torch.zeros(2))

    def forward(self, x):
        self.calls += 1
        self.state = self.state * 0.5 + x
        return self.state + x


def run():
    model = Model()
    return model(torch.ones(2)), model(torch.ones(2)), torch.ones(2) * float(model.calls)


def build(device):
    return Model().to(device), (torch.randn(2, device=device),)
