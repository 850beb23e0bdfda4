"""Record on two GPUs what captures of collectives do; `tests.gpu.ranks_table` holds predictions against it.

    python -m tests.gpu.ranks [--only NAME] [--out DIR]     the cases, into `ranks.json`
    python -m tests.gpu.ranks --pages [--out DIR]           examples of the rules that need ranks, into `rank_pages.json`

A case is a line `# ranks: factory outcome [warmup=N] [timeout=N]` in a file of `fixtures`: what two ranks did.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphlint import page, registry
from graphlint.confirm import process
from graphlint.confirm.plan import Options, Plan
from tests.gpu.record import ROOT, _record, entry, entry_plan, need, written

FOLDER = ROOT / "fixtures"
MARK = re.compile(r"# ranks: (?P<name>\w+) (?P<outcome>captures|refused|stale|not-run)(?P<rest>( \w+=\d+)*)$", re.MULTILINE)
QUICK = Options(device="cuda", timeout=50.0, worth=False, ranks=2)
SOON = 30.0
LANES = 4
"""Pairs of ranks at a time on the same two GPUs: most of a case's time is importing and building on the host."""


@dataclass(frozen=True, slots=True)
class Marked:
    """One case: its target, what was observed, and the options it wants."""

    target: str
    path: Path
    name: str
    outcome: str
    warmup: int
    timeout: float


def cases(folder: Path = FOLDER) -> Iterator[Marked]:
    """Every case of the fixtures, by file and in the order they are written."""
    for path in sorted(folder.rglob("*.py")):
        for found in MARK.finditer(path.read_text()):
            rest = dict(each.split("=") for each in found["rest"].split())
            warmup, timeout = int(rest.get("warmup", QUICK.warmup)), float(rest.get("timeout", QUICK.timeout))
            yield Marked(
                f"{path.relative_to(folder).as_posix()}:{found['name']}",
                path,
                found["name"],
                found["outcome"],
                warmup,
                timeout,
            )


def planned(each: Marked, options: Options = QUICK) -> Plan:
    options = replace(options, warmup=each.warmup, timeout=each.timeout)
    return Plan(each.target, each.name, path=str(each.path), options=options)


def page_plans(folder: Path) -> Iterator[Plan]:
    """`GL605-fails` and `GL605-captures` for every rule whose page says that it needs ranks."""
    for rule in registry.load().rules:
        if "tests.gpu.ranks" not in rule.gpu:
            continue
        parts = page.parsed(rule.page)
        for word, example in (("fails", parts.fails), ("captures", parts.captures)):
            path = folder / f"{rule.code}-{word}.py"
            path.write_text(page.program(example))
            yield replace(entry_plan(path, entry(path), path.stem), options=replace(QUICK, timeout=SOON))


def record(options: argparse.Namespace) -> None:
    """Runs all cases, or all examples, and writes what came out."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) if options.pages else FOLDER
        known = [planned(each) for each in cases()] if not options.pages else list(page_plans(here))
        plans = [each for each in known if not options.only or options.only in each.target]
        results = process.run(plans, gpus=("0,1",) * options.lanes, progress=_progress)
        found = _record(results, here)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.printed:
        options.printed.write_text("\n".join(f"== {each.plan.target}\n{each.printed}" for each in results))
    (options.out / ("rank_pages.json" if options.pages else "ranks.json")).write_text(written(found))
    for each in found["targets"]:
        print(f"{each['target']}: {each['result']} {each['reason'][:200]} {_places(each)}", file=sys.stderr)
    print(f"{len(plans)} cases in {time.monotonic() - begun:.0f} s", file=sys.stderr)


def _places(plain: dict[str, Any]) -> Sequence[str]:
    return [f"{each['file']}:{each['line']} {each['message'][:80]}" for each in plain["refusals"]]


def _progress(plan: Plan, stage: str) -> None:
    if stage == "importing torch":
        print(f"{time.strftime('%X')} {plan.target}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--printed", type=Path, help="write what the ranks printed")
    parser.add_argument("--lanes", type=int, default=LANES)
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "verdicts")
    options = parser.parse_args()
    need(parser, 2)
    record(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
