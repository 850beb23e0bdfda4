"""What `graphlint check` says of single statements is what a GPU did when their capture was tried."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from graphlint.check import check_sources
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.judge import Read
from graphlint.registry import Registry
from graphlint.source import parse
from graphlint.types import Confidence

DATA = Path(__file__).parent / "data"
IMPORTS = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport torch.distributions as D\n"
WARM = "side = torch.cuda.Stream()\nwith torch.cuda.stream(side):\n{body}\ntorch.cuda.current_stream().wait_stream(side)\n"
REFUSED = frozenset({"read", "copy", "solver", "other"})


def recorded() -> list[dict[str, str]]:
    """The statements that were captured or refused; lines without one say on which machine the others were tried."""
    lines = (DATA / "statements_h200.jsonl").read_text(encoding="utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if "statement" in record]
    return [record for record in records if record["outcome"] in REFUSED | {"fine"}]


def program(record: dict[str, str]) -> str:
    """The statement as the body of a capture, behind its setup and a warm-up."""
    setup = record["setup"].replace("; ", "\n")
    body = textwrap.indent(record["statement"].replace("; ", "\n"), "    ")
    graph = f"graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n{body}\n"
    return f"{IMPORTS}{setup}\n{WARM.format(body=body)}{graph}"


@pytest.fixture(scope="module")
def wrong(rules: Registry) -> list[str]:
    """Statements of which graphlint says another thing than the GPU, with what the GPU did."""
    config = Config()
    known = {f"statements/statement{number:04}.py": record for number, record in enumerate(recorded())}
    sources = tuple(parse(program(record), name) for name, record in known.items())
    report = check_sources(Read(sources, ()), config, rules, interpreter(config))
    breaking = {
        finding.span.file
        for finding in report.findings
        if dict(finding.effects).get("graph") == "breaks" and finding.confidence > Confidence.POSSIBLE
    }
    differ = [record for name, record in known.items() if (name in breaking) is not (record["outcome"] in REFUSED)]
    return [f"{record['outcome']}: {record['statement']}" for record in differ]


def test_what_a_gpu_refused_is_said_to_break_and_nothing_else(wrong: list[str]) -> None:
    known = (DATA / "statements_apart.txt").read_text(encoding="utf-8").splitlines()
    listed = {line for line in known if line and not line.startswith("#")}
    assert sorted(set(wrong) - listed) == [], "graphlint no longer agrees with the GPU"
    assert sorted(listed - set(wrong)) == [], "these agree now: take them off the list"
