"""Hold the emulator to marked programs whose verdicts were taken on a GPU.

    python -m tests.score_emulated_cases CASES_DIR

CASES_DIR holds `NAME.py` files and `verdicts.jsonl`, one object a file: `kind` is "build" for a file whose
`build(device)` gives a case and "main" for one whose `main(device)` captures by itself; `result`, `lines` and `replay`
say what the GPU did.  Printed are one line a program and, last, one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from graphlint.confirm.build import from_file
from graphlint.confirm.outcome import Outcome
from graphlint.emulate import emulate, emulate_script

RESULTS = {"refused": "refused", "raises": "refused", "wrong": "stale", "fine": "captures"}


def main() -> int:
    folder = Path(sys.argv[1])
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    agreed = [compare(verdict, outcome_of(folder, verdict)) for verdict in verdicts]
    print(json.dumps({"programs": len(agreed), "agree": sum(agreed)}))
    return 0


def outcome_of(folder: Path, verdict: dict[str, Any]) -> Outcome:
    path = folder / f"{verdict['id']}.py"
    if verdict["kind"] == "main":
        return emulate_script(lambda: from_file(path).main("cuda"), target=verdict["id"])
    return emulate(lambda: from_file(path).build("cuda"), target=verdict["id"])


def compare(verdict: dict[str, Any], outcome: Outcome) -> bool:
    """Result, refused lines and the word of each replay."""
    replays = [each.strip() for each in verdict.get("replay", [])]
    stale = "stale" if any(each != "match" for each in replays) else "captures"
    wanted = RESULTS.get(verdict["result"], stale)
    lines = {each["line"] for each in verdict["lines"]} or {verdict["site"][1]} if verdict.get("site") else set()
    got = {each.line for each in outcome.refusals}
    agrees = (
        outcome.result == wanted
        and (wanted != "refused" or got == lines)
        and (not replays or replays == list(outcome.replays))
    )
    print(
        f"{'agrees ' if agrees else 'differs'} {verdict['id']}: {outcome.result} {sorted(got)} {' '.join(outcome.replays)}"
    )
    if not agrees:
        print(f"        wanted {wanted} {sorted(lines)} {' '.join(replays)}; {outcome.reason}")
        for each in outcome.refusals:
            print(f"        {each.line}: {each.op}: {each.message}")
    return agrees


if __name__ == "__main__":
    sys.exit(main())
