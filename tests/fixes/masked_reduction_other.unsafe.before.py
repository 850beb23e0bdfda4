"""Reductions whose mask may have fewer dimensions, or that cannot be told from an empty selection."""

import torch


# graphlint: region
def step(x, mask: torch.BoolTensor):
    return x[mask].sum() + x[x > 0].max()


def run():
    return step(torch.tensor([1.0, -2.0, 3.0]), torch.tensor([True, False, True]))
