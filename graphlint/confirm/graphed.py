"""The same module through `torch.cuda.make_graphed_callables`: forward and backward as two graphs."""

from __future__ import annotations

from typing import Any

import torch

from graphlint.confirm import chance, compare, engine, frames, pursuit, values
from graphlint.confirm.trial import Setting


def measured(setting: Setting) -> dict[str, Any]:
    """Whether it can be made, and the largest gap of outputs and parameter gradients from eager."""
    chance.seed(setting.device, setting.options.seed)
    case = setting.build()
    if not isinstance(case.fn, torch.nn.Module) or case.kwargs:
        return {"result": "not-run", "reason": "`make_graphed_callables` wants a module and positional tensors"}
    chance.seed(setting.device, setting.options.seed)
    eager = setting.build()
    inputs = values.clone(values.fresh(case, setting.options.replays))
    try:
        graphed = torch.cuda.make_graphed_callables(case.fn, tuple(case.args))
    except Exception as error:
        refused = pursuit.refusal(error, engine.place(case.fn))
        return {
            "result": "refused",
            "file": refused.file,
            "line": refused.line,
            "message": frames.words(frames.cause(error)),
        }
    gaps = [_gaps(graphed, eager.fn, args) for args, _ in inputs]
    wrong = [name for each in gaps for name, (size, limit) in each.items() if size > limit]
    return {
        "result": "stale" if wrong else "captures",
        "wrong": sorted(set(wrong)),
        "gaps": [{name: size for name, (size, _) in each.items()} for each in gaps],
    }


def _gaps(graphed: Any, eager: Any, args: tuple[Any, ...]) -> dict[str, tuple[float, float]]:
    """Size and tolerance of each output's and gradient's gap."""
    got, expected = _both(graphed, args), _both(eager, values.clone(args))
    return {
        name: (compare.gap(got[name], expected[name]), compare.tolerance(expected[name]))
        for name in sorted(set(got) & set(expected))
    }


def _both(module: torch.nn.Module, args: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    module.zero_grad(set_to_none=True)
    output = dict(values.tensors(module(*args)))
    total = [each.float().sum() for each in output.values() if each.requires_grad]
    if total:
        torch.stack(total).sum().backward()
    gradients = {f"{name}.grad": each.grad.clone() for name, each in module.named_parameters() if each.grad is not None}
    return {name: each.detach().clone() for name, each in output.items()} | gradients
