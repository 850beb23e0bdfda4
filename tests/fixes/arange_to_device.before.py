"""Tensors that are born on the host and moved."""

import torch


# graphlint: region
def step(x, mask: torch.Tensor):
    direct = torch.arange(x.shape[0]).to(x.device)  # kept comment
    typed = torch.ones(4, dtype=torch.int64).to(x.device, torch.float32, non_blocking=True)
    spread = torch.zeros(
        x.shape[0],
        4,
    ).to(device=x.device)
    position = torch.arange(x.shape[0])
    half = torch.tensor(0.5).to(x.device)
    return (x + position.to(x.device)[:, None]) * half + direct[:, None] + typed + spread


def run():
    return step(torch.ones(3, 4), torch.ones(3, 4) > 0)


def build(device):
    return step, (torch.randn(3, 4, device=device), torch.ones(3, 4, device=device) > 0)
