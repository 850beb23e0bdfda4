"""A compiled function is called again while its result is needed."""

import torch


@torch.compile(mode="reduce-overhead")
def score(x):
    return (x * 2).sum(-1)


def main(device):
    a, b = torch.ones(4, 4, device=device), torch.zeros(4, 4, device=device)
    first = score(a)
    second = score(b)
    return first + second
