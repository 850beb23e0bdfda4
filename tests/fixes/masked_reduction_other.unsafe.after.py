"""Reductions whose mask may have fewer dimensions, or that cannot be told from an empty selection."""

import torch


# graphlint: region
def step(x, mask: torch.BoolTensor):
    return torch.where(mask, x, 0).sum() + torch.where(x > 0, x, -float("inf")).max()


def run():
    return step(torch.tensor([1.0, -2.0, 3.0]), torch.tensor([True, False, True]))
