"""Hold the emulator to what a GPU refused of single operators and statements, and list the operators it let pass.

    python -m tests.score_operators OPS.jsonl [--only TEXT] [--known FILE]

OPS.jsonl has two kinds of records.  `opinfo`: samples of torch's own operator database with the result of capturing
each.  `snippet`: `setup` runs first, `stmt` is captured after a warm-up.  Printed are the agreement and every
disagreement; `--known` writes the aten operators that ran inside captures that went through, which is how
`graphlint/emulate/known.words` is made.
"""

from __future__ import annotations

import argparse
import collections
import json
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from graphlint.emulate import emulated_cuda

MEASURED = ("ok", "fail")
PRELUDE = "import torch, gc, math, random, copy, logging, io, numpy as np\nclass S: b = 0.0\nH1 = []; OG = []\n"
HEAD = (
    "# Operators that ran inside captures that went through on one H200 with torch 2.11.  Written by",
    "# `python -m tests.score_operators OPS.jsonl --known FILE` and `python -m tests.score_emulator ... --known FILE`.",
)


class Trial(NamedTuple):
    """`prepare()` gives the call to capture, which is warmed up unless `is_cold`."""

    name: str
    is_refused: bool
    prepare: Callable[[], Callable[[], object]]
    is_cold: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops")
    parser.add_argument("--only", default="")
    parser.add_argument("--known", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, _too_long)
    records = [each for each in map(json.loads, Path(options.ops).read_text().splitlines()) if options.only in each["id"]]
    counts: collections.Counter[str] = collections.Counter()
    passed: set[str] = set()
    for trial in cases(records):
        name, wanted = trial.name, trial.is_refused
        signal.alarm(30)
        try:
            refused, why, ran = attempt(trial)
        except Absent:
            counts["absent"] += 1
            continue
        except (Exception, TimeoutError) as error:
            counts["not run"] += 1
            print(f"{name}: not run: {type(error).__name__}: {str(error)[:150]}")
            continue
        finally:
            signal.alarm(0)
        counts["agree" if refused == wanted else "missed" if wanted else "false alarm"] += 1
        if refused != wanted:
            print(
                f"{name}: {'refused' if wanted else 'captured'} on the GPU, not here: {why or ' '.join(sorted(ran))[:300]}"
            )
        if not wanted:
            passed |= ran
    if options.known:
        learn(Path(options.known), passed)
    print(json.dumps(dict(counts)))
    return 0


def learn(path: Path, passed: set[str]) -> None:
    """Add operators to the list of those that a capture was seen to go through with."""
    old = path.read_text().splitlines() if path.exists() else []
    words = sorted({word for line in old for word in line.split("#")[0].split()} | passed)
    path.write_text("\n".join([*HEAD, *words, ""]))


def _too_long(*args: object) -> None:
    raise TimeoutError


def cases(records: list[dict[str, Any]]) -> Iterator[Trial]:
    """Everything that was measured to be captured or refused."""
    infos: dict[str, Any] = {}
    for record in records:
        if record["kind"] == "snippet" and record["result"] in MEASURED:
            name, is_cold = f"{record['id']} `{record['stmt'][:80]}`", record["group"] == "no_warmup"
            yield Trial(name, record["result"] == "fail", partial(_snippet, record), is_cold)
        if record["kind"] == "opinfo" and record.get("samples"):
            infos = infos or _database()
            info = infos.get(record["op"] + (f".{record['variant']}" if record["variant"] else ""))
            yield from _samples(record, info) if info is not None else ()


def _samples(record: dict[str, Any], info: Any) -> Iterator[Trial]:
    shown = {sample["i"]: sample["sample"] for sample in record["samples"]}
    for sample in [*record["samples"], *_backwards(record)]:
        text, grad = shown[sample["i"]], "sample" not in sample
        if sample["result"] in MEASURED:
            name = f"{record['id']}#{sample['i']}{' backward' * grad} {text[:100]}"
            yield Trial(name, sample["result"] == "fail", partial(_sample, info, text, record["dtype"], grad), False)


def _backwards(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Their numbers count other samples than the forward's, so they say something only when all agree."""
    every = [*record["samples"], *(record.get("backward") or ())]
    same = (
        len({each["result"] for each in record["samples"]}) == 1
        and len({each["result"] for each in every[len(record["samples"]) :]}) == 1
    )
    return [{**each, "i": record["samples"][0]["i"]} for each in every[len(record["samples"]) :][:1]] if same else []


def _database() -> dict[str, Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {each.name + (f".{each.variant_test_name}" if each.variant_test_name else ""): each for each in op_db}


def _snippet(record: dict[str, Any]) -> Callable[[], object]:
    space: dict[str, Any] = {"__name__": "snippet"}
    exec(PRELUDE + record["setup"], space)
    code = compile(record["stmt"], "/snippet/user.py", "exec")
    return lambda: exec(code, space)


class Absent(Exception):
    """This torch's database has no such sample."""


def _sample(info: Any, text: str, dtype: str, grad: bool) -> Callable[[], object]:
    """The sample that reads the same: their order differs between versions of torch."""
    for sample in info.sample_inputs("cuda", getattr(torch, dtype), requires_grad=grad):
        keywords = ", ".join(f"{key}={_shown(each)}" for key, each in sample.kwargs.items())
        shown = _shown([sample.input, *sample.args]) + (f" {{{keywords}}}" if keywords else "")
        if shown == text:
            op = getattr(info.op, "__wrapped__", info.op)
            call = partial(op, sample.input, *sample.args, **sample.kwargs)
            return partial(_backward, call) if grad else call
    raise Absent(text)


def _backward(call: Callable[[], Any]) -> None:
    found = [each for each in tree_leaves(call()) if isinstance(each, torch.Tensor) and each.requires_grad]
    sum((each.abs() if each.is_complex() else each).sum() for each in found).backward()  # type: ignore[union-attr]


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)}@{value.device.type}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shown(each) for each in value) + "]"
    return repr(value)


def attempt(trial: Trial) -> tuple[bool, str, set[str]]:
    """Whether a capture is refused, why, and the operators that ran in it."""
    with emulated_cuda() as session:
        torch.manual_seed(0)
        call = trial.prepare()
        if not trial.is_cold:
            with torch.cuda.stream(torch.cuda.Stream()):
                call()
        session.streams.current = stream = torch.cuda.Stream()  # type: ignore[assignment]  # the emulation's own class
        session.calling = None
        error: Exception | None = None
        tape = session.begin()
        try:
            call()
        except TimeoutError:
            raise
        except Exception as raised:
            error = raised
        session.streams.current = stream  # type: ignore[assignment]  # as above
        session.end()
        ran = {step.plan.name for step in tape.steps} | set(session.unknown)
        why = "; ".join(f"{each.op}: {each.message}" for each in session.refusals.values())
        return bool(session.refusals or error), why or repr(error)[:200] * bool(error), ran


if __name__ == "__main__":
    sys.exit(main())
