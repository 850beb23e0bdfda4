"""Tensors that are born on the host and moved."""

import torch


# graphlint: region
def step(x, mask: torch.Tensor):
    direct = torch.arange(x.shape[0], device=x.device)  # kept comment
    typed = torch.ones(4, dtype=torch.int64, device=x.device).to(torch.float32)
    spread = torch.zeros(
        x.shape[0],
        4,
        device=x.device,
    )
    position = torch.arange(x.shape[0], device=x.device)
    half = torch.full((), 0.5, device=x.device)
    return (x + position.to(x.device)[:, None]) * half + direct[:, None] + typed + spread


def run():
    return step(torch.ones(3, 4), torch.ones(3, 4) > 0)


def build(device):
    return step, (torch.randn(3, 4, device=device), torch.ones(3, 4, device=device) > 0)
