"""Numbers that are copied to the device one by one."""

import math

import torch
from torch import tensor as make


# graphlint: region
def step(x):
    half = torch.tensor(0.5, device=x.device)
    top = torch.tensor(-math.inf, dtype=torch.float64, device=x.device)
    same = torch.tensor([1.0, 1.0], device=x.device)
    one = torch.as_tensor([float("inf")], device=x.device)
    count = torch.tensor(len(x.shape), device=x.device)
    own = x.new_tensor(2)
    return x * half + same + own, top, one, count


def run():
    return step(torch.arange(6.0).reshape(3, 2))


def build(device):
    return step, (torch.randn(3, 2, device=device),)
