"""Hold `graphlint check` against what a GPU refused in real models, and record the figures.

    python -m tests.accuracy MODELS.jsonl SOURCES [--left-out FILE] [--diagnostics FILE] [--record "a name for the set"]

Each line of MODELS.jsonl is one model: `result` ("ok" or "fail"), `package`, `class` and its `model_file`, `illegal_lines`
(each with `file` and `line`; `first_failure` is another where `continue.complete` is not true), and the executed lines as
`lines_eager` and `lines_capture` (file to "1-3,7").  SOURCES holds the packages as installed.  A `breaks` diagnostic is
right where some model was refused on its lines, and wrong where its lines ran under capture unharmed; an operand that
`and`, `or` or a conditional expression may have skipped, and the lines of the left-out file, of which the measurement
says nothing sure, count neither way.  The verdict on a model is that of the region of its own class, on the lines that
the model ran.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import functools
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.own_regions import refusals

ROOT = Path(__file__).parent.parent
Line = tuple[str, int]
RECORD = ROOT / "docs" / "accuracy.json"


class Place(NamedTuple):
    """One reported place: the lines it covers, where on the first line it begins, and how sure it is."""

    file: str
    first: int
    last: int
    column: int
    confidence: str

    def lines(self) -> set[Line]:
        return {(self.file, number) for number in range(self.first, self.last + 1)}


def numbers(ranges: str) -> Iterator[int]:
    """1, 2, 3, 7 of "1-3,7"."""
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def executed(model: dict[str, Any]) -> set[Line]:
    """The lines that a model ran while it was captured, or believed to be."""
    tables = [model.get(key) or {} for key in ("lines_eager", "lines_capture")]
    return {(file, n) for table in tables if isinstance(table, dict) for file, text in table.items() for n in numbers(text)}


def refused(model: dict[str, Any]) -> set[Line]:
    """The refused lines; where the capture never went through, what it raised first is one of them."""
    rows = list(model.get("illegal_lines") or [])
    if model["result"] == "fail" and not _complete(model) and model.get("first_failure"):
        rows.append(model["first_failure"])
    return {(row["file"], row["line"]) for row in rows if row.get("file") and row.get("line")}


def _complete(model: dict[str, Any]) -> bool:
    return model["result"] == "ok" or bool((model.get("continue") or {}).get("complete"))


class Statements:
    """Where the simple statements of the sources end, and which operands may be skipped."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @functools.cache  # noqa: B019  # one object for one run
    def tree(self, file: str) -> ast.Module:
        return ast.parse((self.root / file).read_text())

    @functools.cache  # noqa: B019
    def ends(self, file: str) -> dict[int, int]:
        """The last line of the innermost simple statement (or header) that each line belongs to."""
        found: dict[int, tuple[int, int]] = {}
        for node in ast.walk(self.tree(file)):
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
                for number in range(node.lineno, last + 1):
                    size = last - node.lineno
                    if number not in found or size <= found[number][0]:
                        found[number] = (size, last)
        return {number: last for number, (_, last) in found.items()}

    def length(self, file: str) -> int:
        """How many lines a file has."""
        return len((self.root / file).read_text().splitlines())

    @functools.cache  # noqa: B019
    def skippable(self, file: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        parts: list[ast.expr] = []
        for node in ast.walk(self.tree(file)):
            if isinstance(node, ast.BoolOp):
                parts += node.values[1:]
            elif isinstance(node, ast.IfExp):
                parts += [node.body, node.orelse]
        return [((p.lineno, p.col_offset), (p.end_lineno or p.lineno, p.end_col_offset or 0)) for p in parts]


def places(rows: Iterable[dict[str, Any]], sources: Path, statements: Statements) -> list[Place]:
    """The `breaks` diagnostics that are shown by default, one a place."""
    found: dict[Line, Place] = {}
    for row in rows:
        path = Path(row["file"]) if Path(row["file"]).is_absolute() else Path.cwd() / row["file"]
        if row["data"]["effect"] != "breaks" or not path.is_relative_to(sources):
            continue
        file, start = path.relative_to(sources).as_posix(), row["range"]["start"]
        first = start["line"] + 1
        last = max(first, min(row["range"]["end"]["line"] + 1, statements.ends(file).get(first, first)))
        place = Place(file, first, last, start["character"], row["data"]["confidence"])
        if (place.confidence != "possible" and (file, first) not in found) or place.confidence == "certain":
            found[file, first] = place
    return list(found.values())


def figures(models: list[dict[str, Any]], found: list[Place], statements: Statements, left: set[Line]) -> dict[str, float]:
    """Recall, precision, the shares of models without a wrong place and with every refused line found, and the rest.

    The rest are places on lines that no model ran, in files of which some model ran others, for 1,000 such lines.
    """
    found = [place for place in found if not place.lines() & left]
    done = [model for model in models if _complete(model)]
    bad = set().union(*(refused(model) for model in models)) - left
    ran = set().union(*(executed(model) for model in done))
    said = set().union(*(place.lines() for place in found))
    right = [place for place in found if place.lines() & bad]
    wrong = [p for p in found if not p.lines() & bad and p.lines() & ran and not _may_be_skipped(p, statements)]
    alarm = set().union(*(place.lines() for place in wrong))
    captured = [executed(model) for model in models if model["result"] == "ok"]
    failed = [refused(model) - left for model in models if refused(model) - left]
    files = {file for file, _ in ran}
    elsewhere = [p for p in found if p.file in files and not p.lines() & (bad | ran)]
    unread = sum(statements.length(file) for file in files) - len(ran)
    return {
        "models": len(models),
        "refused lines": len(bad),
        "recall": round(len(bad & said) / len(bad), 3),
        "precision": round(len(right) / len(right + wrong), 3),
        "certain": _right(right, wrong, "certain"),
        "likely": _right(right, wrong, "likely"),
        "clean models": round(sum(not alarm & lines for lines in captured) / len(captured), 3),
        "explained models": round(sum(lines <= said for lines in failed) / len(failed), 3),
        "elsewhere": round(1000 * len(elsewhere) / unread, 2),
    }


def verdicts(models: list[dict[str, Any]], own: dict[str, set[Line]], left: set[Line]) -> dict[str, float]:
    """The shares of refused and of captured models, and of both, of which the region of their own class says so."""
    told: dict[bool, list[bool]] = {True: [], False: []}
    for model in models:
        module = str(model.get("model_file", "")).removesuffix(".py").replace("/", ".")
        said = own.get(f"{module}.{model['class']}.forward")
        if said is not None and _complete(model):
            is_refused = bool(refused(model) - left)
            told[is_refused].append(bool((said - left) & executed(model)) is is_refused)
    every = {"refused told": told[True], "captured told": told[False], "verdicts": [*told[True], *told[False]]}
    return {name: round(sum(answers) / len(answers), 3) for name, answers in every.items() if answers}


def _right(right: list[Place], wrong: list[Place], confidence: str) -> float:
    """The share of the places of one confidence that is right."""
    good, bad = (sum(place.confidence == confidence for place in group) for group in (right, wrong))
    return round(good / (good + bad), 3)


def _may_be_skipped(place: Place, statements: Statements) -> bool:
    at = (place.first, place.column)
    return any(start <= at <= end for start, end in statements.skippable(place.file))


def checked(sources: Path, models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The diagnostics of one run over the whole packages: a fault of shared code may be found through any file of them."""
    packages = sorted({str(sources / model["package"]) for model in models})
    command = [sys.executable, "-m", "graphlint", "check", "--format", "json", "--exit-zero", *packages]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(run.stdout)["diagnostics"]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="hold graphlint against what a GPU refused in real models")
    parser.add_argument("models", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--left-out", type=Path, help="[[file, line], ...] that count neither way")
    parser.add_argument("--diagnostics", type=Path, help="a report of an earlier run, as JSON")
    parser.add_argument("--record", default="", help="write the figures to docs/accuracy.json under this name")
    options = parser.parse_args()
    sources = options.sources.resolve()
    every = map(json.loads, options.models.open())
    models = [row for row in every if row["result"] in ("ok", "fail") and (sources / row["package"]).is_dir()]
    rows = json.loads(options.diagnostics.read_text())["diagnostics"] if options.diagnostics else checked(sources, models)
    statements = Statements(sources)
    left = {(file, line) for file, line in json.loads(options.left_out.read_text())} if options.left_out else set()
    own = refusals(sorted({sources / model["package"] for model in models}), sources)
    told = {**figures(models, places(rows, sources, statements), statements, left), **verdicts(models, own, left)}
    for name, value in told.items():
        print(f"{name:18} {value}")
    if options.record:
        _keep(options.record, told)


def _keep(name: str, told: dict[str, float]) -> None:
    record = json.loads(RECORD.read_text())
    others = [row for row in record["sets"] if row["name"] != name]
    today = datetime.date.today().isoformat()
    sets = sorted([*others, {"name": name, "recorded": today, "figures": told}], key=lambda row: str(row["name"]))
    RECORD.write_text(json.dumps({"sets": sets}, indent=1) + "\n")


if __name__ == "__main__":
    main()
