"""Numbers that are stored through indices."""

import torch


# graphlint: region
def step(x, index: torch.LongTensor):
    y = torch.zeros(4, 4, device=x.device)
    y[0, 1] = 3.0
    rows = torch.arange(2, device=x.device)
    y[rows] = 0.5
    y[:, rows] = 0.25  # columns
    y[index] = 7
    return y + x


def run():
    return step(torch.ones(4, 4), torch.tensor([3, 1]))


def build(device):
    return step, (torch.randn(4, 4, device=device), torch.tensor([3, 1], device=device))
