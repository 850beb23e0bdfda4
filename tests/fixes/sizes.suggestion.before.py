"""Sizes that only a person knows, and breaks that should be errors."""

import torch
import torch.nn.functional as F


# graphlint: region
def step(x, counts: torch.Tensor):
    wide = torch.repeat_interleave(x, counts, dim=0).sum() + F.one_hot(counts.long()).sum()
    return wide if x.sum() > 0 else x


fast = torch.compile(step, mode="reduce-overhead")
