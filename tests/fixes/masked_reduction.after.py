"""Reductions of what a mask of the same shape selects."""

import torch


# graphlint: region
def step(x):
    total = torch.where(x > 0, x, 0).sum()
    mask = torch.isfinite(x) & ~(x < -1)
    mean = 2 * (torch.where(mask, x, 0).sum() / mask.sum())
    size = (torch.where(x < 0, x, 0).abs().square().sum() / (x < 0).sum()) + torch.where(x > 2, x, 0).sum()
    return total + mean + size + torch.where(x.ge(1), x, 1).prod()


def run():
    return step(torch.tensor([[1.0, -2.0, 3.0], [0.5, -0.25, float("inf")]]))


def build(device):
    return step, (torch.randn(3, 4, device=device),)
