"""Tensors of a case: making them from a description, varying them, copying them in, and finding them in results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from graphlint.case import Case, varied
from graphlint.confirm.plan import InputSpec
from graphlint.errors import UsageError

DEPTH = 8
INTEGERS = 100
"""Above which no integer is drawn unless a range is given: small enough for most embeddings."""


def make(spec: InputSpec, device: str, sizes: Mapping[str, int], generator: torch.Generator) -> torch.Tensor:
    """One input; drawn on the host, so that a seed means the same values on every device."""
    shape = [sizes[each] if isinstance(each, str) else each for each in spec.shape]
    dtype = getattr(torch, spec.dtype)
    return _filled(spec.values, shape, dtype, generator).to(spec.device or device)


def _filled(values: str, shape: list[int], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    low, dots, high = values.partition("..")
    if dots and not dtype.is_floating_point:
        return torch.randint(int(low), int(high) + 1, shape, generator=generator).to(dtype)
    if dots:
        return (torch.rand(shape, generator=generator) * (float(high) - float(low)) + float(low)).to(dtype)
    match values:
        case "ones" | "zeros":
            return torch.full(shape, int(values == "ones"), dtype=dtype)
        case "arange":
            return torch.arange(shape[-1] if shape else 1).expand(shape).to(dtype).contiguous()
        case "sorted":
            return torch.rand(shape, generator=generator).mul(INTEGERS).sort(-1).values.to(dtype)
        case "rand":
            return torch.rand(shape, generator=generator).to(dtype)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, INTEGERS, shape, generator=generator).to(dtype)


def leaves(args: object, kwargs: object) -> list[object]:
    """The arguments as a flat list."""
    return list(tree_flatten((args, kwargs))[0])


def fresh(case: Case, count: int, seed: int = 1) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """`count` sets of new inputs of the same shapes: from the case's `vary`, or made from its inputs by dtype."""
    if case.vary is not None:
        return [_checked(case, varied(case.vary())) for _ in range(count)]
    generator = torch.Generator().manual_seed(seed)
    return [tree_map(lambda each: vary(each, generator), (tuple(case.args), dict(case.kwargs))) for _ in range(count)]


def _checked(case: Case, made: tuple[tuple[Any, ...], dict[str, Any]]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    static, new = leaves(tuple(case.args), dict(case.kwargs)), leaves(*made)
    shapes = [[tuple(each.shape) if isinstance(each, torch.Tensor) else None for each in part] for part in (static, new)]
    if shapes[0] != shapes[1]:
        raise UsageError("`vary()` gives inputs of other shapes than the case's", f"wanted {shapes[0]}, got {shapes[1]}")
    return made


def vary(value: object, generator: torch.Generator) -> object:
    """New values of a tensor's dtype, shape and range; anything but a tensor stays.

    Integers are the old ones in another order, so they stay valid indices; sorted ones (positions, offsets) stay.
    """
    if not isinstance(value, torch.Tensor) or value.numel() == 0 or value.layout != torch.strided:
        return value
    host = value.detach().cpu()
    if value.dtype.is_complex:
        return value.detach().clone()
    if value.dtype.is_floating_point:
        return _like(host.float(), generator).to(value).requires_grad_(value.requires_grad)
    order = torch.randperm(host.numel(), generator=generator)
    flat = host.reshape(-1)
    kept = host.dim() <= 1 and bool((flat[1:] >= flat[:-1]).all())
    return (flat if kept else flat[order]).reshape(host.shape).to(value.device)


def _like(host: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    low, high = float(host.min()), float(host.max())
    if not high > low:
        return host * (0.5 + torch.rand(host.shape, generator=generator))
    if low >= 0:
        return torch.rand(host.shape, generator=generator) * (high - low) + low
    return torch.randn(host.shape, generator=generator) * float(host.std(correction=0)) + float(host.mean())


def clone(values: Any) -> Any:
    """The same tree with copied tensors."""
    return tree_map(lambda each: _clone(each) if isinstance(each, torch.Tensor) else each, values)


def _clone(value: torch.Tensor) -> torch.Tensor:
    return value.detach().clone().requires_grad_(value.requires_grad)


def copy_in(static: Sequence[object], new: Sequence[object]) -> None:
    """Write new values into the static inputs, at their addresses."""
    with torch.no_grad():
        for target, value in zip(static, new):
            if isinstance(target, torch.Tensor) and isinstance(value, torch.Tensor) and target is not value:
                target.copy_(value)


def tensors(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor of a result with its path: tuples, mappings, dataclasses and plain objects are opened."""
    if isinstance(value, torch.Tensor):
        yield path or "output", value
    elif depth < DEPTH and isinstance(value, Mapping):
        for key, each in value.items():
            yield from tensors(each, f"{path}.{key}", depth + 1)
    elif depth < DEPTH and isinstance(value, (list, tuple)):
        for place, each in enumerate(value):
            yield from tensors(each, f"{path}[{place}]", depth + 1)
    elif depth < DEPTH and is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from tensors(getattr(value, each.name), f"{path}.{each.name}", depth + 1)
    elif depth < 2 and hasattr(value, "__dict__") and not callable(value):
        for key, each in vars(value).items():
            yield from tensors(each, f"{path}.{key}", depth + 1)
