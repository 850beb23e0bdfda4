"""Record what capturing single statements does, where torch's operator database has nothing: classes, methods, sites.

    python -m tests.gpu.statements           needs a GPU           -> tests/data/statements_h200.jsonl

A setup runs once, then each of its statements is warmed up on a side stream and captured.  Names in a setup begin
anew for every statement, and what it set for the whole process is put back, so that none sees what another did.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
import warnings
from pathlib import Path

import torch

from tests.gpu.capturing import outcome
from tests.gpu.defaults import kept

DATA = Path(__file__).parents[1] / "data"
IMPORTS = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport torch.distributions as D\n"


def statements() -> list[tuple[str, str]]:
    """Pairs of a setup and a statement, from `statements.txt`: a line that begins with `>` is a setup."""
    pairs, setup = [], ""
    for line in (DATA / "statements.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(">"):
            setup = line[1:].strip()
        elif line.strip() and not line.startswith("#"):
            pairs.append((setup, line.strip()))
    return pairs


def tried(setup: str, statement: str) -> str:
    """What capturing the statement did; what it set for the whole process is as before."""
    scope: dict[str, object] = {}
    with kept():
        exec(IMPORTS + setup.replace("; ", "\n"), scope)
        body = textwrap.indent(statement.replace("; ", "\n"), "    ")
        exec(f"def run():\n    global {', '.join(_named(scope))}\n{body}", scope)
        run = scope["run"]
        assert callable(run)
        return outcome(run)


def _named(scope: dict[str, object]) -> list[str]:
    return [name for name in scope if not name.startswith("__")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=DATA / "statements_h200.jsonl")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "recorded": time.strftime("%Y-%m-%d")}
    with options.to.open("w", encoding="utf-8") as out:
        print(json.dumps(machine), file=out)
        for setup, statement in statements():
            torch.cuda.synchronize()  # a device assertion ends the recording here, not in what comes after
            try:
                told = tried(setup, statement)
            except Exception as error:
                print(f"{statement}: {error!r}"[:200], file=sys.stderr)
                continue
            print(json.dumps({"setup": setup, "statement": statement, "outcome": told}), file=out, flush=True)


if __name__ == "__main__":
    main()
