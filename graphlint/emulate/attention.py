"""Attention over long sequences: with a host kernel that, like the device's, does not write the scores to memory.

C++ takes attention apart for a device that it does not know, and the scores of 16,384 tokens are 12 GiB.  Which of its
backends a capture meets makes no difference: it refuses none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from graphlint.emulate.tensor import DeviceTensor, outside

LONG = 1 << 24
"""Scores from which on the fused kernel is worth another path than the usual one."""
FUSED = 1
"""What `_fused_sdp_choice` calls the kernel that keeps no scores."""


def attend(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`scaled_dot_product_attention`."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = {**dict(zip(names, args)), **kwargs}
    if not _is_long(given) or torch.is_autocast_enabled("cuda"):
        return func(*args, **kwargs)
    query, key, value, mask = given["query"], given["key"], given["value"], given.get("attn_mask")
    if given.get("enable_gqa"):
        key, value = (each.repeat_interleave(query.size(1) // each.size(1), 1) for each in (key, value))
    if mask is not None and mask.dtype is torch.bool:
        mask = torch.where(mask, 0.0, float("-inf")).to(query.dtype)
    options = {"is_causal": given.get("is_causal", False), "scale": given.get("scale")}
    if not _has_kernel(query, key, value, mask, options):
        return func(*args, **kwargs)
    fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return fused(query, key, value, 0.0, options["is_causal"], attn_mask=mask, scale=options["scale"])[0]


def _is_long(given: dict[str, Any]) -> bool:
    query, key = given["query"], given["key"]
    if not isinstance(query, DeviceTensor) or query.dim() != 4 or given.get("dropout_p"):
        return False
    return bool(query.size(0) * query.size(1) * query.size(2) * key.size(2) >= LONG)


def _has_kernel(query: Any, key: Any, value: Any, mask: Any, options: dict[str, Any]) -> bool:
    """Whether the host would fuse this: it knows the limits of its own kernel."""
    with outside():
        real = [each.emulated.detach() for each in (query, key, value)]
        held = mask.emulated.detach() if isinstance(mask, DeviceTensor) else None
        return bool(torch.ops.aten._fused_sdp_choice(*real, held, 0.0, **options) == FUSED)
