"""Run an operator on the host, in a wider dtype where the host has no kernel for the one given."""

from __future__ import annotations

from typing import Any

import torch

from graphlint.emulate.plan import Plan

Args = tuple[Any, ...]
Wider = dict[torch.dtype, torch.dtype]
_WIDER: Wider = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
_MISSING = ("not implemented for", "not supported for", "expected scalar type", "could not create a primitive")


def run_widened(func: Any, args: Args, kwargs: dict[str, Any], plan: Plan) -> Any:
    """The operator's result; a missing host kernel is tried in float32, then integers in float64."""
    try:
        return func(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as error:
        if not any(word in str(error) for word in _MISSING):
            raise
        for wider in ({**_WIDER}, {**_WIDER, **dict.fromkeys(_INTEGERS, torch.float64)}):
            try:
                return _run_as(wider, func, args, kwargs, plan)
            except (RuntimeError, NotImplementedError):
                continue
        raise


def _run_as(wider: Wider, func: Any, args: Args, kwargs: dict[str, Any], plan: Plan) -> Any:
    dtypes = [each.dtype for each in args if isinstance(each, torch.Tensor)]
    if not any(each in wider for each in dtypes):
        raise NotImplementedError(plan.name)
    wide = tuple(_cast(each, wider) for each in args)
    results = func(*wide, **{key: _cast(each, wider) for key, each in kwargs.items()})
    for old, new in zip(args, wide):
        if plan.writes and isinstance(old, torch.Tensor) and new is not old:
            old.copy_(new)
    if plan.writes:
        return args[0] if isinstance(results, torch.Tensor) else results
    return _narrowed(results, dtypes[0], wider)


def _cast(value: Any, wider: Wider) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(wider.get(value.dtype, value.dtype))
    if isinstance(value, (list, tuple)):
        return [_cast(each, wider) for each in value]
    return wider.get(value, value) if isinstance(value, torch.dtype) else value


def _narrowed(results: Any, dtype: torch.dtype, wider: Wider) -> Any:
    if isinstance(results, torch.Tensor):
        return results.to(dtype) if results.dtype == wider.get(dtype) else results
    if isinstance(results, (list, tuple)):
        return type(results)(_narrowed(each, dtype, wider) for each in results)
    return results
