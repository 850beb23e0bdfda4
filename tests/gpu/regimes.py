"""The two regimes of the inequality, a bucketed MLP, and a model whose blocks break a compiled graph."""

from __future__ import annotations

import torch
from torch import nn

from graphlint.case import Case


class Block(nn.Module):
    """Attention over a static cache and an MLP, written plainly: about fifty kernels."""

    def __init__(self, dim: int, heads: int, cache: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.register_buffer("keys", torch.zeros(1, heads, cache, dim // heads))
        self.register_buffer("vals", torch.zeros(1, heads, cache, dim // heads))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        batch, length, dim = x.shape
        shaped = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, dim // self.heads)
        q, k, v = (each.transpose(1, 2) for each in shaped.unbind(2))
        if length == 1:
            k = self.keys.index_copy_(2, position, k)  # type: ignore[operator]  # a buffer
            v = self.vals.index_copy_(2, position, v)  # type: ignore[operator]
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, dim))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Blocks between an embedding and a head."""

    def __init__(self, layers: int, dim: int, cache: int = 256) -> None:
        super().__init__()
        self.embed = nn.Embedding(1000, dim)
        self.blocks = nn.ModuleList(Block(dim, dim // 64, cache) for _ in range(layers))
        self.head = nn.Linear(dim, 1000)

    def forward(self, tokens: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, position)
        return self.head(x)  # type: ignore[no-any-return]


def decode_step(device: str) -> Case:
    """One token at batch 1 through 24 layers: the GPU waits for the host."""
    model = Decoder(24, 1024).to(device, torch.bfloat16).eval().requires_grad_(False)

    def inputs() -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randint(0, 1000, (1, 1), device=device), torch.randint(0, 256, (1,), device=device)

    return Case(model, inputs(), vary=inputs)


def large_batch(device: str) -> Case:
    """16 x 1024 tokens through 8 layers: the host waits for the GPU."""
    model = Decoder(8, 1024).to(device, torch.bfloat16).eval().requires_grad_(False)

    def inputs() -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randint(0, 1000, (16, 1024), device=device), torch.zeros(1, dtype=torch.long, device=device)

    return Case(model, inputs(), vary=inputs)


def training_step(device: str) -> Case:
    """Forward, backward under autocast and an optimizer step in one capture."""
    model = Decoder(4, 256).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)

    def step(tokens: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            logits = model(tokens, position)
            loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    def inputs() -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randint(0, 1000, (4, 64), device=device), torch.zeros(1, dtype=torch.long, device=device)

    return Case(step, inputs(), vary=inputs)


def buckets(device: str, batch: int = 64) -> Case:
    """An MLP whose batch varies."""
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(device).eval().requires_grad_(False)
    return Case(model, (torch.randn(batch, 512, device=device),))


class Broken(nn.Module):
    """Two of its blocks call what Dynamo does not trace."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layers[1](self.layers[0](x).relu()).relu()
        torch._dynamo.graph_break()
        return self.layers[3](self.layers[2](x).relu()).relu()  # type: ignore[no-any-return]


class Looped(Broken):
    """The same with the break in a loop."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).relu()
            torch._dynamo.graph_break()
        return x


def whole(device: str) -> Case:
    """No break: one launch a step."""
    layers = [each for _ in range(4) for each in (nn.Linear(64, 64), nn.ReLU())]
    return Case(nn.Sequential(*layers).to(device).eval().requires_grad_(False), (torch.randn(8, 64, device=device),))


def broken(device: str) -> Case:
    """A graph break between blocks: two launches a step instead of one."""
    return Case(Broken().to(device).eval().requires_grad_(False), (torch.randn(8, 64, device=device),))


def looped(device: str) -> Case:
    """A graph break in a loop: Dynamo gives the whole function up."""
    return Case(Looped().to(device).eval().requires_grad_(False), (torch.randn(8, 64, device=device),))


def graphed(device: str) -> Case:
    """A module for `make_graphed_callables`: forward and backward."""
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 8)).to(device)
    return Case(model, (torch.randn(16, 64, device=device, requires_grad=True),))


def too_large(device: str) -> Case:
    """More memory than any GPU has."""
    return Case(lambda x: x, (torch.empty(1 << 45, device=device),))
