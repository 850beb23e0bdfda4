"""`graphlint confirm`: read the options, run every target in a child process, compare, print, decide the status."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from graphlint import __version__, config
from graphlint.confirm import evidence, plan, predictions, process, reconcile, shapes_form, show
from graphlint.confirm.child import NO_DEVICE, NoDevice
from graphlint.confirm.outcome import Outcome
from graphlint.confirm.plan import Options, Plan
from graphlint.confirm.process import Result
from graphlint.confirm.reconcile import Reconciled
from graphlint.errors import UsageError
from graphlint.source import spare

Row = tuple[Result, Reconciled]


class Above(click.FloatRange):
    """A number above zero; `nan` is none, although no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found: float = super().convert(value, param, ctx)
        return found if found == found else self.fail(f"{value!r} is not a number.", param, ctx)


LONGEST = 1e7
ABOVE = Above(0.0, LONGEST, min_open=True)
RANKS = 64
"""Ranks that one machine is asked for at most: more than any has GPUs, and each is a process."""


@click.command(short_help="Capture for real, and compare with what was predicted.")
@click.argument("targets", nargs=-1)
@click.option("--init", multiple=True, metavar="K=V", help="An argument of the factory or of the module's constructor.")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=DTYPE[SHAPE]", help="An input of a module: x=float32[2,64]."
)
@click.option(
    "--device", type=click.Choice(["auto", "cuda", "emulated"]), default="auto", show_default=True, help="What runs it."
)
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to show it.")
@click.option("--record", metavar="FILE", help="Write the verdicts, for `check --evidence FILE`.")
@click.option("--warmup", type=click.IntRange(0), default=3, show_default=True, help="Calls before the capture.")
@click.option("--replays", type=click.IntRange(1), default=3, show_default=True, help="Replays compared with eager.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seeds every generator before each build.")
@click.option("--mode", type=click.Choice(["global", "thread_local", "relaxed"]), default="global", help="Capture mode.")
@click.option("--timeout", type=ABOVE, default=300.0, show_default=True, help="Seconds a target may take.")
@click.option("--memory", type=ABOVE, metavar="GIB", help="Host memory a target may use; no limit by default.")
@click.option("--shapes", metavar="NAME=1..64", help="Also capture buckets of a varying size.")
@click.option("--lengths", metavar="N,N,...", help="Sizes that occur, for --shapes.")
@click.option("--compile", is_flag=True, help='Also run under torch.compile(mode="reduce-overhead").')
@click.option("--graphed", is_flag=True, help="Also try `make_graphed_callables` on the module.")
@click.option("--ranks", type=click.IntRange(1, RANKS), default=1, metavar="N", help="Run N ranks, one GPU each.")
@click.option("--worth/--no-worth", default=True, help="Measure whether a graph gains anything.")
@click.option("--check/--no-check", "compare", default=True, help="Compare with the findings of `graphlint check`.")
@click.option("--one-process", is_flag=True, help="Run all targets of a GPU in one process: faster, less isolated.")
def confirm(
    targets: tuple[str, ...], format: str, record: str | None, compare: bool, one_process: bool, **given: Any
) -> None:
    """Capture TARGETS on a GPU, replay them, and hold what `graphlint check` predicts against what happens.

    A target is `path/to/file.py:make_case` or `package.module:make_case`, a callable that returns `(fn, args)`, or a
    module class with --init and --input. Without targets, those of `[tool.graphlint.confirm]` are run.

    Exits 0 when all capture and replay equal to eager, 1 when one does not, 2 when one could not be run.
    """
    root = Path.cwd()
    for name, said in (("record", record), ("shapes", given["shapes"]), ("lengths", given["lengths"])):
        if said == "":
            raise UsageError(f"`--{name}` is given nothing", "write what it is to be, or leave it out")
    if record:
        spare(record)
    plans = planned(targets, given, root)
    several = lanes(gpus(os.environ), max(each.options.ranks for each in plans))
    results = process.run(plans, several, one_process, progress=_progress(len(plans)))
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    if all(each.outcome.stage == NO_DEVICE for each in results):
        raise NoDevice(results[0].outcome.reason)
    rows = [(each, _reconciled(each, root) if compare else Reconciled()) for each in results]
    if record:
        written = evidence.record([(one.outcome, found) for one, found in rows], root, time.strftime("%Y-%m-%d"))
        Path(record).write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    click.echo(_json(rows) if format == "json" else _text(rows, root))
    sys.exit(show.status(one.outcome for one, _ in rows))


def planned(targets: Sequence[str], given: Mapping[str, Any], root: Path) -> list[Plan]:
    """A plan for every target of the command line, or of the configuration; raises `UsageError`."""
    options = _options(given)
    init = dict(plan.parse_init(each) for each in given["init"])
    inputs = tuple(plan.parse_input(each) for each in given["inputs"])
    if targets:
        return [replace(plan.parse_target(each, options, root), init=init, inputs=inputs) for each in targets]
    settings = config.load(root)
    plans = [_configured(each, options, settings.root) for each in plan.configured(settings.confirm)]
    if not plans:
        raise UsageError("no target is given", plan.FORM + ", or list targets in `[tool.graphlint.confirm]`")
    return plans


def _configured(table: Mapping[str, Any], options: Options, root: Path) -> Plan:
    unknown = set(table) - {"target", "init", "input", "timeout", "ranks"}
    if unknown or "target" not in table:
        raise UsageError(
            f"a target of `[tool.graphlint.confirm]` has {'unknown keys' if unknown else 'no `target`'}", plan.FORM
        )
    timeout, ranks = table.get("timeout", options.timeout), table.get("ranks", options.ranks)
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not 0 < timeout <= LONGEST:
        raise UsageError(
            f"`timeout = {timeout!r}` of `{table['target']}` is not a number of seconds", "write `timeout = 60`"
        )
    if type(ranks) is not int or not 1 <= ranks <= RANKS:
        raise UsageError(
            f"`ranks = {ranks!r}` of `{table['target']}` is not a number from 1 to {RANKS}", "write `ranks = 2`"
        )
    options = replace(options, timeout=float(timeout), ranks=ranks)
    inputs = tuple(plan.parse_input(each) for each in table.get("input", ()))
    return replace(plan.parse_target(table["target"], options, root), init=dict(table.get("init", {})), inputs=inputs)


def _options(given: Mapping[str, Any]) -> Options:
    if given["shapes"]:
        shapes_form.parse(given["shapes"])
    if given["lengths"] and not given["shapes"]:
        raise UsageError("`--lengths` says which sizes of `--shapes` occur", "add `--shapes NAME=1..64`")
    if given["lengths"] and not re.fullmatch(r"\s*\d+(\s*,\s*\d+)*\s*", given["lengths"]):
        raise UsageError(f"`--lengths {given['lengths']}` is no list of sizes", "write `--lengths 3,8,21`")
    given = {**given, "memory": given["memory"] or 0.0, "shapes": given["shapes"] or ""}
    lengths = tuple(map(int, given["lengths"].split(","))) if given["lengths"] else ()
    names = (
        "device", "warmup", "replays", "seed", "mode", "timeout", "memory", "worth", "compile", "graphed", "shapes",
        "ranks",
    )  # fmt: skip
    return Options(**{name: given[name] for name in names}, lengths=lengths)


def gpus(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The GPUs to spread targets over; none when there are not several."""
    listed = environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        found = tuple(each.strip() for each in listed.split(",") if each.strip())
    else:
        try:
            said = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=False).stdout
        except (OSError, subprocess.TimeoutExpired):
            return ()
        found = tuple(str(place) for place, line in enumerate(filter(None, said.splitlines())) if line.startswith("GPU"))
    return found if len(found) > 1 else ()


def lanes(gpus: Sequence[str], ranks: int) -> tuple[str, ...]:
    """GPUs for targets that run at the same time: one each, or as many as a target has ranks."""
    return tuple(",".join(gpus[start : start + ranks]) for start in range(0, len(gpus) - ranks + 1, ranks))


def _progress(count: int) -> Callable[[Plan, str], object]:
    """One line on a terminal that says what is being done; nothing elsewhere."""
    shown = sys.stderr.isatty()

    def progress(one: Plan, stage: str) -> None:
        if shown:
            click.echo(f"\r\x1b[K{one.target}: {stage} ({count} target{'s' * (count != 1)})", nl=False, err=True)

    return progress


def _reconciled(result: Result, root: Path) -> Reconciled:
    files = reconcile.files(result.outcome, result.plan.path)
    if result.outcome.result == "not-run" and "graphs" not in result.outcome.figures:
        return Reconciled()
    try:
        return reconcile.reconcile(predictions.predicted(files, root, result.outcome.machine.torch), result.outcome)
    except predictions.NoPredictions as error:
        click.echo(f"graphlint: {result.outcome.target}: {error}", err=True)
        return Reconciled()


def _text(rows: Sequence[Row], root: Path) -> str:
    shown = [show.text(one.outcome, found, one.printed, root) for one, found in rows]
    if len(rows) > 1:
        shown.append(show.summary([(one.outcome, found, one.seconds) for one, found in rows]))
    return "\n\n".join(shown)


def _json(rows: Sequence[Row]) -> str:
    found = [show.plain(one.outcome, verdicts, one.printed, one.seconds) for one, verdicts in rows]
    tool = {"name": "graphlint", "version": __version__}
    return json.dumps(
        {"version": 1, "tool": tool, "targets": found, "summary": _totals([one.outcome for one, _ in rows])}, indent=1
    )


def _totals(outcomes: Sequence[Outcome]) -> dict[str, int]:
    return {word: sum(each.result == word for each in outcomes) for word in show.WORDS}
