"""Record what torch's own operator database says of every operator, for the tests of the effects table.

    python -m tests.gpu.operators h200       capture each sample on the GPU       -> tests/data/ops_h200.jsonl
    python -m tests.gpu.operators dynamo     trace each sample with Dynamo        -> tests/data/ops_dynamo.jsonl
    python -m tests.gpu.operators results    note what each sample returned       -> tests/data/results_cpu.jsonl

The first needs a GPU, the others none.  `python -m graphlint.effects.measure tests/data/ops_h200.jsonl` then prints
where the table and the GPU disagree, and `git diff` what changed with the torch release.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

DATA = Path(__file__).parents[1] / "data"
SAMPLES = 5
SWAPPED = ("polygamma", "special.polygamma", "nn.functional.embedding", "linalg.pinv:singular", "normal:number_mean")
"""Entries that take other arguments than the function of that name."""
TRIMMED = ("linalg.lstsq", "resize_", "to", "resize_as_")
"""Operators whose database entry returns other things, or whose results no rule can spell."""
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
IN_PLACE = ("cauchy", "exponential", "geometric", "log_normal", "uniform")


def operators() -> list[Any]:
    """The database, without what it needs only to compare: a base class, and seeding around operators that draw."""
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    sys.modules.setdefault("expecttest", stand_in)
    from torch.testing._internal import common_methods_invocations as database

    vars(database)["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
    return [op for op in database.op_db if not op.name.startswith("torch.")]


def qualified(op: Any) -> str:
    """The name that the table knows an operator by."""
    name = str(op.name)
    if name in IN_PLACE or op.variant_test_name == "in_place":
        return f"torch.Tensor.{name}_"
    if name == "_segment_reduce":
        return "torch.segment_reduce"
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"torch.{name}" if callable(found) else f"torch.Tensor.{name}"


def samples(op: Any, device: str, *, kinds: int = 1, gradients: bool = False) -> Iterator[Any]:
    """The first samples of the first `kinds` dtypes that the operator takes."""
    supported = op.supported_dtypes(device)
    for dtype in [dtype for dtype in DTYPES if dtype in supported][:kinds]:
        yield from itertools.islice(op.sample_inputs(device, dtype, requires_grad=gradients), SAMPLES)


def described(sample: Any) -> str:
    """The call in the form that `graphlint.effects.described` reads."""
    plain = [text(value) for value in (sample.input, *sample.args)]
    return ", ".join(plain + [f"{name}={text(value)}" for name, value in sample.kwargs.items()])


def text(value: object) -> str:
    if isinstance(value, torch.Tensor):
        place = "device" if value.is_cuda else "pinned" if value.is_pinned() else "host"
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}@{place}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text, value)) + "]"
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    return str(value) if isinstance(value, torch.dtype) else f"Other_{type(value).__name__}"


def captured(op: Any) -> dict[str, object]:
    """Forward passes of the samples, and the first two that take a gradient with their backward passes."""
    from tests.gpu.capturing import outcome

    calls = [(described(s), outcome(partial(op.op, s.input, *s.args, **s.kwargs))) for s in samples(op, "cuda")]
    record: dict[str, object] = {"calls": [[call, told] for call, told in calls if not told.startswith("not run")]}
    if op.supports_autograd and torch.float32 in op.supported_dtypes("cuda"):
        tried = itertools.islice(samples(op, "cuda", gradients=True), 2)
        backward = [outcome(partial(_step, op, s)) for s in tried]
        record["backward"] = [told for told in backward if not told.startswith("not run")]
    return record


def _step(op: Any, sample: Any) -> None:
    results = pytree.tree_leaves(op.op(sample.input, *sample.args, **sample.kwargs))
    losses = [value.sum() for value in results if isinstance(value, torch.Tensor) and value.requires_grad]
    torch.autograd.backward([loss.abs() if loss.is_complex() else loss for loss in losses])


def traced(op: Any) -> dict[str, object]:
    """Whether Dynamo broke on each sample: the whole call is one graph, or it is not."""
    import torch._dynamo as dynamo

    calls = []
    for sample in samples(op, "cpu"):
        dynamo.reset()
        found = dynamo.explain(lambda s: op.op(s.input, *s.args, **s.kwargs))(sample)
        call = described(sample).replace("@host", "@device").replace("'cpu'", "'cuda'")
        calls.append([call, found.graph_break_count != 0])
    return {"calls": calls}


def returned(op: Any) -> dict[str, object]:
    """What came back of each sample: "kind rank" for a tensor, a list of such, or "other"."""
    if op.name in TRIMMED:
        return {"calls": []}
    tried = [s for s in samples(op, "cpu", kinds=3) if not _is_complex(s) or torch.float32 not in op.dtypes]
    return {"calls": [[described(s), result(op.op(s.input, *s.args, **s.kwargs))] for s in tried]}


def _is_complex(sample: Any) -> bool:
    """A complex twin of a real sample would only say that a rule for reals holds for reals."""
    return any(value.is_complex() for value in pytree.tree_leaves(sample.input) if isinstance(value, torch.Tensor))


def result(value: object) -> object:
    if isinstance(value, torch.Tensor):
        kind = "bool" if value.dtype is torch.bool else "complex" if value.is_complex() else "int"
        return f"{'float' if value.is_floating_point() else kind} {value.dim()}"
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return [result(item) for item in value]
    return "other"


MODES: dict[str, tuple[str, Callable[[Any], dict[str, object]]]] = {
    "h200": ("ops_h200.jsonl", captured),
    "dynamo": ("ops_dynamo.jsonl", traced),
    "results": ("results_cpu.jsonl", returned),
}


def machine(mode: str) -> dict[str, str]:
    gpu = torch.cuda.get_device_name() if mode == "h200" else "none"
    return {"gpu": gpu, "torch": torch.__version__, "cuda": torch.version.cuda or "", "recorded": time.strftime("%Y-%m-%d")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--to", type=Path, help="the file to write, instead of the one in tests/data")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    name, record = MODES[options.mode]
    with (options.to or DATA / name).open("w", encoding="utf-8") as out:
        print(json.dumps(machine(options.mode)), file=out)
        for op in operators():
            if op.name == "__getitem__" or {op.name, f"{op.name}:{op.variant_test_name}"} & set(SWAPPED):
                continue
            try:
                found = record(op)
            except Exception as error:
                print(f"{op.name}: {error!r}"[:200], file=sys.stderr)
                continue
            if found["calls"]:
                variant = {"variant": op.variant_test_name} if op.variant_test_name else {}
                print(json.dumps({"op": qualified(op), **variant, **found}), file=out, flush=True)


if __name__ == "__main__":
    main()
