"""A value that is said to be a number, and constants that a module builds in every call."""

import torch


class Model(torch.nn.Module):
    def __init__(self, scale: float):
        super().__init__()
        self.register_buffer("_constant_1", torch.tensor([1.0, 2.0]), persistent=False)
        self.register_buffer("_constant_0", torch.tensor([0.5, 0.25]), persistent=False)
        self.scale = scale

    def forward(self, x):
        scale = torch.full((), self.scale, device=x.device)
        mean = self._constant_0  # of the data
        spread = self._constant_1.to(x.dtype)
        return (x - mean) * scale / spread


def run():
    return Model(2.0)(torch.ones(3, 2))


def build(device):
    return Model(2.0).to(device), (torch.randn(3, 2, device=device),)
