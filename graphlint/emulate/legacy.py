"""`torch.cuda.FloatTensor` and its kin: classes that make device tensors and recognise them."""

from __future__ import annotations

from typing import Any

import torch

from graphlint.emulate.standin import STANDIN
from graphlint.emulate.tensor import DeviceTensor

DTYPES = {
    "Float": torch.float32, "Double": torch.float64, "Half": torch.float16, "BFloat16": torch.bfloat16,
    "Long": torch.int64, "Int": torch.int32, "Short": torch.int16, "Char": torch.int8, "Byte": torch.uint8,
    "Bool": torch.bool,
}  # fmt: skip


class _Kind(type):
    """`isinstance` asks for the dtype and the place."""

    dtype: torch.dtype

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, DeviceTensor) and value.dtype is cls.dtype

    def __call__(cls, *args: Any) -> Any:
        """From values, or uninitialised from sizes."""
        if args and not all(isinstance(each, int) for each in args):
            return torch.tensor(args[0], dtype=cls.dtype, device=STANDIN)
        return torch.empty(args or 0, dtype=cls.dtype, device=STANDIN)


def classes() -> dict[str, type]:
    """Attributes of `torch.cuda`."""
    return {f"{word}Tensor": _Kind(f"{word}Tensor", (), {"dtype": dtype}) for word, dtype in DTYPES.items()}
