"""Hold the emulator to what a GPU refused in real models.

    python -m tests.score_emulator MODELS.jsonl ZOO_DIR [--sample N] [--seed S] [--only TEXT] [--out FILE] [--limit SECONDS]

MODELS.jsonl says for each model whether a capture went through (`result`) and which lines were refused
(`illegal_lines`); ZOO_DIR holds `zoo.py`, whose `build_program(id, device)` makes it.  Models run one after another in
a child process, which is started again when one of them takes it down.  Printed are, over the models that were
measured and that build here:

  result      captured or refused, as on the GPU
  lines       the same refused lines exactly; `by statement`: the same statements (Python versions disagree about the
              line of a call that is written over several)
  crashes     runs that ended because of the emulation

and every disagreement with its reason.  A measurement that did not find all lines counts as equal when none of its
lines is missing.  The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from tests.score_operators import learn

Line = tuple[str, int]
Pair = tuple[dict[str, Any], dict[str, Any]]
RAN = ("captures", "stale", "refused")


def main() -> int:
    options = _options()
    if options.worker:
        return work(options)
    records = [json.loads(line) for line in Path(options.models).read_text().splitlines()]
    chosen = [each for each in records if each["result"] in ("ok", "fail") and options.only in each["id"]]
    if options.sample:
        chosen = random.Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
    done = dict(_resumed(options.out))
    for result in run([each["id"] for each in chosen if each["id"] not in done], options):
        done[result["id"]] = result
        if options.out:
            with open(options.out, "a") as file:
                file.write(json.dumps(result) + "\n")
    pairs = [(each, done[each["id"]]) for each in chosen if each["id"] in done]
    if options.known:
        passed = [result for record, result in pairs if record["result"] == "ok" and result["result"] == "captures"]
        learn(Path(options.known), {op for result in passed for op in result["unknown"]})
    report(pairs)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("zoo")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="", help="append results here, and skip those that are there")
    parser.add_argument("--limit", type=int, default=120, help="seconds for one model")
    parser.add_argument("--replays", type=int, default=2)
    parser.add_argument("--known", default="", help="add the operators that captured models ran to this list")
    parser.add_argument("--worker", action="store_true")
    return parser.parse_args()


def _resumed(path: str) -> list[tuple[str, dict[str, Any]]]:
    if not path or not Path(path).exists():
        return []
    return [(each["id"], each) for each in map(json.loads, Path(path).read_text().splitlines())]


def run(ids: list[str], options: argparse.Namespace) -> Any:
    """Results as they come, from children that are replaced when they die."""
    while ids:
        command = [sys.executable, "-m", "tests.score_emulator", options.models, options.zoo, "--worker"]
        command += ["--limit", str(options.limit), "--replays", str(options.replays)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"}
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        assert child.stdin and child.stdout
        child.stdin.write("\n".join(ids) + "\n")
        child.stdin.close()
        for line in child.stdout:
            if line.startswith("{"):
                result = json.loads(line)
                ids.remove(result["id"])
                print(f"{result['id']}: {result['result']} {result['seconds']:.1f}s", file=sys.stderr, flush=True)
                yield result
        if child.wait() != 0 and ids:
            yield {"id": ids.pop(0), "result": "crash", "reason": f"exit {child.returncode}", "lines": [], "seconds": 0.0}


def work(options: argparse.Namespace) -> int:
    """Emulate the models named on the input, one JSON line each."""
    sys.path.insert(0, options.zoo)
    out, sys.stdout = sys.stdout, sys.stderr
    signal.signal(signal.SIGALRM, _too_long)
    for name in sys.stdin.read().split():
        started = time.perf_counter()
        signal.alarm(options.limit)
        try:
            result = emulated(name, options.replays)
        except TooLong:
            result = {"result": "timeout", "lines": []}
        except Exception as error:
            result = {"result": "not-run", "reason": _where(error), "lines": []}
        signal.alarm(0)
        gc.collect()
        print(json.dumps({"id": name, "seconds": time.perf_counter() - started, **result}), file=out, flush=True)
    return 0


class TooLong(BaseException):
    """No ordinary error, so that nothing takes it for a refusal."""


def _too_long(*args: object) -> None:
    raise TooLong


def _where(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    last = next((each for each in reversed(frames) if "graphlint" not in each.filename), frames[-1])
    stage = next((each.name for each in frames if each.name in ("build_program", "warmed", "replayed", "twin")), "")
    return f"{type(error).__name__}: {str(error)[:300]} ({relative(last.filename)}:{last.lineno}; {stage})"


def emulated(name: str, replays: int) -> dict[str, Any]:
    import torch

    from graphlint.emulate import emulate

    torch.set_num_threads(1)
    outcome = emulate(lambda: case_of(name), target=name, replays=replays, warmup=1)
    lines = sorted({(relative(each.file), each.line) for each in outcome.refusals})
    return {
        "result": outcome.result,
        "lines": lines,
        "ops": [f"{relative(each.file)}:{each.line} {each.op}: {each.message}" for each in outcome.refusals],
        "complete": outcome.complete,
        "reason": outcome.reason,
        "unknown": outcome.unknown_ops,
        "replays": outcome.replays,
        "differences": [
            f"{each.output} {each.replay} {each.size:.3g}>{each.tolerance:.3g} {each.why}"
            for each in outcome.differences[:6]
        ],
    }


def case_of(name: str) -> Any:
    import torch
    import zoo  # type: ignore[import-not-found]  # from ZOO_DIR

    from graphlint.case import Case
    from graphlint.confirm import values

    program = zoo.build_program(name, "cuda")
    seeds = iter(range(2, 1000))

    def fn(static: Any) -> Any:
        if static is not program.static:
            values.copy_in(values.leaves((program.static,), {}), values.leaves((static,), {}))
        with torch.no_grad():
            return program.fn()

    def vary() -> Any:
        fresh = program.fresh(next(seeds))
        return ((_like(program.static, fresh["_flat"]) if "_flat" in fresh else fresh,), {})

    restore = (lambda: program.restore(program.box["cache"])) if getattr(program, "restore", None) else None
    return Case(fn, (program.static,), {}, vary=vary, prepare=program.prepare, restore=restore)


def _like(static: Any, tensors: list[Any]) -> Any:
    """The same tree with other tensors."""
    import torch
    from torch.utils._pytree import tree_map

    new = iter(tensors)
    return tree_map(lambda each: next(new) if isinstance(each, torch.Tensor) else each, static)


def relative(path: str) -> str:
    """The path below site-packages."""
    return path.replace("\\", "/").rpartition("/site-packages/")[2] or path


def expected(record: dict[str, Any]) -> set[Line]:
    rows = list(record.get("illegal_lines") or [])
    if record["result"] == "fail" and record.get("first_failure"):
        rows.append(record["first_failure"])
    return {(row["file"], row["line"]) for row in rows if row.get("file") and row.get("line")}


def is_complete(record: dict[str, Any]) -> bool:
    return record["result"] == "ok" or bool((record.get("continue") or {}).get("complete"))


@cache
def _statements(file: str) -> dict[int, int]:
    """The first line of the innermost statement by line."""
    found = next((each for each in (Path(folder) / file for folder in sys.path) if each.is_file()), None)
    spans: dict[int, tuple[int, int]] = {}
    for node in ast.walk(ast.parse(found.read_text())) if found else ():
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = (body[0].lineno - 1) if body else (node.end_lineno or node.lineno)
            for line in range(node.lineno, max(node.lineno, last) + 1):
                if line not in spans or last - node.lineno <= spans[line][1] - spans[line][0]:
                    spans[line] = (node.lineno, last)
    return {line: first for line, (first, _) in spans.items()}


def statements(lines: set[Line]) -> set[Line]:
    return {(file, _statements(file).get(line, line)) for file, line in lines}


def agree(record: dict[str, Any], got: set[Line], wanted: set[Line]) -> bool:
    return got == wanted if is_complete(record) else wanted <= got


def report(pairs: list[Pair]) -> None:
    """Print every disagreement and the figures."""
    ran = [(record, result) for record, result in pairs if result["result"] in RAN]
    counts = dict.fromkeys(("result", "lines", "by_statement"), 0)
    for record, result in ran:
        verdict = judged(record, result)
        for key, holds in zip(counts, verdict):
            counts[key] += holds
        if not verdict[1]:
            explain(record, result, verdict)
    for record, result in pairs:
        if result["result"] not in RAN:
            print(f"{record['id']}: {result['result']} here: {result.get('reason', '')}")
        if result["result"] == "stale":
            gap = f"{result['differences'][:1]} {result['reason']}"
            print(f"{record['id']}: stale here, {record.get('verdict')} on the GPU: {gap}")
    unknown = sorted({op for _, result in ran for op in result.get("unknown", ())})
    print(f"unknown operations: {len(unknown)} {' '.join(unknown[:40])}")
    figures = {
        "models": len(pairs),
        "ran": len(ran),
        **{key: round(each / max(len(ran), 1), 4) for key, each in counts.items()},
    }
    crashes = sum(result["result"] == "crash" for _, result in pairs)
    seconds = sorted(result["seconds"] for _, result in pairs) or [0.0]
    print(json.dumps({**figures, "crashes": crashes, "median_seconds": round(seconds[len(seconds) // 2], 2)}))


def judged(record: dict[str, Any], result: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Whether the result agrees, the lines exactly, and the statements; torch's own modules have no line outside torch."""
    wanted, got = expected(record), {(file, line) for file, line in result["lines"]}
    same = (record["result"] == "fail") == (result["result"] == "refused")
    if record["id"].startswith("nn:"):
        return same, same, same
    return same, same and agree(record, got, wanted), same and agree(record, statements(got), statements(wanted))


def explain(record: dict[str, Any], result: dict[str, Any], verdict: tuple[bool, bool, bool]) -> None:
    """Which lines are missing here (-) and which are too many (+)."""
    wanted, got = expected(record), {(file, line) for file, line in result["lines"]}
    rows = record.get("illegal_lines") or [record.get("first_failure") or {}]
    said = {(row.get("file"), row.get("line")): f"{row.get('op', '')} {row.get('message', '')[:70]}" for row in rows}
    ours = {tuple(each.split(" ")[0].rsplit(":", 1)): each.partition(" ")[2] for each in result.get("ops", ())}
    note = " (same statements)" if verdict[2] else ""
    print(f"{record['id']}: {record['result']} on the GPU, {result['result']} here{note} {result.get('reason', '')}")
    for file, line in sorted(wanted - got):
        print(f"    - {file}:{line} {said.get((file, line), '')}")
    for file, line in sorted(got - wanted):
        print(f"    + {file}:{line} {ours.get((file, str(line)), '')}")


if __name__ == "__main__":
    sys.exit(main())
