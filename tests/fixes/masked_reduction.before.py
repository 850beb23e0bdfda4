"""Reductions of what a mask of the same shape selects."""

import torch


# graphlint: region
def step(x):
    total = x[x > 0].sum()
    mask = torch.isfinite(x) & ~(x < -1)
    mean = 2 * x[mask].mean()
    size = x[x < 0].abs().square().mean() + torch.sum(x[x > 2])
    return total + mean + size + x[x.ge(1)].prod()


def run():
    return step(torch.tensor([[1.0, -2.0, 3.0], [0.5, -0.25, float("inf")]]))


def build(device):
    return step, (torch.randn(3, 4, device=device),)
