"""Record on a GPU what captures do, for the tests that hold predictions against it.

    python -m tests.gpu.record pages                                both examples of every rule's page
    python -m tests.gpu.record fixtures                             every `# capture:` mark
    python -m tests.gpu.record pages fixtures --changed             only what is new or was changed since the record
    python -m tests.gpu.record regimes                              the two regimes, training, buckets, compile
    python -m tests.gpu.record cases --from DIR                     programs with `build(device)` or `main(device)`
    python -m tests.gpu.record models --from ZOO --ids FILE         models of a zoo, one id a line

`--truth FILE` adds to each case or model what somebody else's capture gave, as `expected`: `result` and `lines`.

Each writes `tests/data/verdicts/NAME.json`: the machine, the date, a digest of every source, and an outcome a target.
Predictions are not recorded: the tests make them anew and compare.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import site
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphlint import page, registry, source
from graphlint.confirm import evidence, process
from graphlint.confirm.plan import Options, Plan
from graphlint.confirm.process import Result
from graphlint.testing import captures

ROOT = Path(__file__).parents[2]
ENTRIES = Path(__file__).with_name("entries.py")
REGIMES = Path(__file__).with_name("regimes.py")
DATA = ROOT / "tests" / "data" / "verdicts"
QUICK = Options(device="cuda", timeout=120.0, worth=False)
FULL = Options(device="cuda", timeout=240.0)
LANES = 6
"""Children at a time on one GPU where nothing is timed: most of a target's time is importing and building on the host.

Pages and fixtures get a process each: they are about library handles that are not there yet and about global switches,
which a target before them would have made or turned.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=sorted(KINDS))
    parser.add_argument("--from", dest="folder", type=Path, default=Path())
    parser.add_argument("--ids", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=LANES)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--out", type=Path, default=DATA)
    options = parser.parse_args()
    if options.device == "cuda":
        need(parser, 1)
    options.out.mkdir(parents=True, exist_ok=True)
    for what in options.what:
        begun = time.monotonic()
        record = KINDS[what](options)
        if options.truth:
            _expect(record, options.truth)
        (options.out / f"{what}.json").write_text(written(record))
        print(f"{what}: {len(record['targets'])} targets in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 0


def need(parser: argparse.ArgumentParser, gpus: int) -> None:
    """End before anything is written where there are not as many GPUs: a record of nothing would take the place of one."""
    import torch  # here because help and a wrong option need none

    if torch.cuda.device_count() < gpus:
        parser.error(f"{gpus} GPU{'s' * (gpus != 1)} needed, {torch.cuda.device_count()} found; nothing was written")


def written(record: dict[str, Any]) -> str:
    """JSON with one target a line, so that a recording anew shows what changed."""
    targets = ",\n".join(json.dumps(each) for each in record["targets"])
    head = json.dumps({key: value for key, value in record.items() if key != "targets"}, indent=1)
    return f'{head[:-2]},\n "targets": [\n{targets}\n]}}\n'


def pages(options: argparse.Namespace) -> dict[str, Any]:
    """`GL101-fails` and `GL101-captures` for every rule that one GPU can show."""
    with tempfile.TemporaryDirectory() as folder:
        plans = [entry_plan(path, entry(path), path.stem, compiled) for path, compiled in page_files(Path(folder))]
        return _again("pages", plans, options, Path(folder))


def page_files(folder: Path) -> Iterable[tuple[Path, bool]]:
    """Writes the examples of all rules' pages as files; the flag says that only compiling shows the rule."""
    for rule in registry.load().rules:
        if rule.gpu:
            continue
        parts = page.parsed(rule.page)
        for word, example in (("fails", parts.fails), ("captures", parts.captures)):
            path = folder / f"{rule.code}-{word}.py"
            path.write_text(page.program(example))
            yield path, rule.predicts is None


def entry(path: Path) -> str:
    """The name an example is entered by: `main`, `Step`, `step`, or its only module."""
    text = path.read_text()
    modules = re.findall(r"^class (\w+)\((?:torch\.)?nn\.Module\)", text, re.MULTILINE)
    named = [name for name in ("main", "Step", "step") if f"class {name}(" in text or f"def {name}(" in text]
    return (named or modules or ["main"])[0]


def entry_plan(path: Path, name: str, target: str, compiled: bool = False) -> Plan:
    settings = replace(QUICK, compile=compiled)
    if captures_itself(path, name):
        return Plan(target, name, path=str(path), options=settings)
    return Plan(target, "entry_case", path=str(ENTRIES), init={"file": str(path), "entry": name}, options=settings)


def captures_itself(path: Path, name: str) -> bool:
    """Whether an entry is a program with captures of its own: it is called `main`, or takes no tensor."""
    return name == "main" or re.search(rf"^def {name}\((device\b[^,)]*)?\)", path.read_text(), re.M) is not None


def fixtures(options: argparse.Namespace) -> dict[str, Any]:
    """`host_read/spellings.py:step` for every mark."""
    folder = ROOT / "fixtures"
    plans = []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        for mark in captures(source.read(path, name)):
            plans.append(entry_plan(path, mark.entry, f"{name}:{mark.entry}"))
    return _again("fixtures", plans, options, folder)


def _again(what: str, plans: Sequence[Plan], options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """A process for each target, and with `--changed` what is known of those that are as they were."""
    kept = _unchanged(what, folder) if options.changed else {}
    fresh = [each for each in plans if each.target not in kept]
    if not fresh and kept:
        known: dict[str, Any] = json.loads((DATA / f"{what}.json").read_text())
        return known
    found = _record(run(fresh, options, shared=False), folder)
    targets = {**kept, **{each["target"]: each for each in found["targets"]}}
    # What crashes in its process says of no machine, and may be all that is run anew.
    found["machine"] = next((each["machine"] for each in targets.values() if each["machine"]["name"]), found["machine"])
    found["targets"] = [targets[each.target] for each in plans if each.target in targets]
    return _digested(found, folder)


def _unchanged(what: str, folder: Path) -> dict[str, Any]:
    """The recorded targets whose file, and all that ran for them, is as it was."""
    record = json.loads((DATA / f"{what}.json").read_text())
    same = {file for file, digest in record["sources"].items() if code_digest(folder / file) == digest}
    return {each["target"]: each for each in record["targets"] if each["executed"] and same.issuperset(_files_of(each))}


def _files_of(target: dict[str, Any]) -> set[str]:
    file, colon, _ = target["target"].partition(":")
    return {file if colon else f"{file}.py", *target["executed"]}


def cases(options: argparse.Namespace) -> dict[str, Any]:
    """Every program of a folder, by its file's name."""
    plans = []
    for path in sorted(options.folder.glob("[0-9]*.py")):
        name = "build" if "def build(" in path.read_text() else "main"
        plans.append(Plan(path.stem, name, path=str(path.resolve()), options=QUICK))
    return _record(run(plans, options), options.folder.resolve())


def models(options: argparse.Namespace) -> dict[str, Any]:
    """The models whose ids a file lists."""
    ids = [line.strip() for line in options.ids.read_text().splitlines() if line.strip()]
    init = {"folder": str(options.folder.resolve())}
    plans = [Plan(each, "zoo_case", path=str(ENTRIES), init={**init, "case_id": each}, options=QUICK) for each in ids]
    return _record(run(plans, options), options.folder.resolve())


def regimes(options: argparse.Namespace) -> dict[str, Any]:
    """What is timed runs alone, each in a process of its own."""
    asked = {
        "decode_step": FULL, "large_batch": FULL, "training_step": FULL, "too_large": FULL,
        "buckets": replace(FULL, shapes="batch=1..64", lengths=(1, 3, 7, 12, 20, 33, 48, 64)),
        "whole": replace(FULL, compile=True), "broken": replace(FULL, compile=True), "looped": replace(FULL, compile=True),
        "graphed": replace(FULL, graphed=True),
    }  # fmt: skip
    plans = [Plan(name, name, path=str(REGIMES), options=each) for name, each in asked.items()]
    return _record(run(plans, options, alone=True), ROOT / "tests" / "gpu")


def run(plans: Sequence[Plan], options: argparse.Namespace, alone: bool = False, shared: bool = True) -> list[Result]:
    plans = [replace(each, options=replace(each.options, device=options.device)) for each in plans]
    lanes = 1 if alone else min(options.lanes, max(len(plans) // 2, 1))
    return process.run(plans, gpus=("0",) * lanes, shared=shared and not alone)


def _record(results: Sequence[Result], root: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"version": evidence.VERSION, "date": time.strftime("%Y-%m-%d")}
    found["machine"] = evidence.machine([each.outcome for each in results])
    found["targets"] = [_target(each, root) for each in results]
    return _digested(found, root)


def _digested(found: dict[str, Any], root: Path) -> dict[str, Any]:
    files = sorted({file for each in found["targets"] for file in each["executed"]})
    found["sources"] = {file: code_digest(root / file) for file in files}
    return found


def code_digest(path: Path) -> str:
    """A short fingerprint of a file's code line by line: marks and other comments may change."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            lines[line - 1] = lines[line - 1][:column]
    return hashlib.sha256("\n".join(each.rstrip() for each in lines).encode()).hexdigest()[:16]


def _expect(record: dict[str, Any], truth: Path) -> None:
    rows = {each["id"]: each for each in map(json.loads, truth.read_text().splitlines())}
    for each in record["targets"]:
        known = rows.get(each["target"], {})
        lines = known.get("illegal_lines", known.get("lines")) or []
        places = sorted({(line["file"], line["line"]) for line in lines})
        each["expected"] = {"result": known.get("result", ""), "lines": places, "replay": known.get("replay")}


def _target(result: Result, root: Path) -> dict[str, Any]:
    """An outcome, with the lines that ran in the files of the recording's own folder."""
    plain = evidence.moved(result.outcome, root)
    plain["executed"] = {file: lines for file, lines in plain["executed"].items() if (root / file).is_file()}
    text = json.dumps({**plain, "seconds": round(result.seconds, 2)})
    for folder in (root, ROOT / "tests" / "gpu", ROOT, *map(Path, site.getsitepackages())):
        text = text.replace(f"{folder}/", "")
    found: dict[str, Any] = json.loads(text)
    return found


KINDS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    each.__name__: each for each in (pages, fixtures, cases, models, regimes)
}

if __name__ == "__main__":
    sys.exit(main())
