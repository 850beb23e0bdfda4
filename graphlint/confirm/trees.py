"""Tensors in what operators take and give: single ones, and lists and tuples of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch


def flat(value: object) -> Iterator[torch.Tensor]:
    """The tensors of an argument or a result, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from flat(each)


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """The same with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(each, change) for each in value)
    return value
