"""Numbers that are copied to the device one by one."""

import math

import torch
from torch import tensor as make


# graphlint: region
def step(x):
    half = torch.full((), 0.5, device=x.device)
    top = torch.full((), -math.inf, dtype=torch.float64, device=x.device)
    same = torch.full((2,), 1.0, device=x.device)
    one = torch.full((1,), float("inf"), device=x.device)
    count = torch.full((), len(x.shape), device=x.device)
    own = x.new_full((), 2)
    return x * half + same + own, top, one, count


def run():
    return step(torch.arange(6.0).reshape(3, 2))


def build(device):
    return step, (torch.randn(3, 2, device=device),)
