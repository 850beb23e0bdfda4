"""What `graphlint check` says of the compile target is what Dynamo did, over small modules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphlint.check import check_sources
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.interp.untraced import KEPT_OUT
from graphlint.judge import Read
from graphlint.registry import Registry
from graphlint.source import parse
from graphlint.types import Confidence, Effect
from tests.gpu.traced import blocks, module

RECORD = Path(__file__).parent / "data" / "traced_cpu.jsonl"


def recorded() -> dict[str, list[str]]:
    lines = RECORD.read_text(encoding="utf-8").splitlines()[1:]
    return {record["block"]: record["breaks"] for record in map(json.loads, lines)}


def test_every_block_is_recorded_and_nothing_else() -> None:
    assert set(recorded()) == {block.text for block in blocks()}
    assert len({block.text for block in blocks()}) == len(blocks())


@pytest.fixture(scope="module")
def said(rules: Registry) -> dict[str, str]:
    """Blocks that are said to split, with the first finding that says so."""
    config = Config(min_confidence=Confidence.POSSIBLE)
    known = {f"traced/block{number:04}.py": block.text for number, block in enumerate(blocks())}
    sources = tuple(parse(module(text), name) for name, text in known.items())
    report = check_sources(Read(sources, ()), config, rules, interpreter(config))
    return {
        known[finding.span.file]: f"{finding.code} {finding.message}"
        for finding in report.findings
        if dict(finding.effects).get("compile") is Effect.DEFEATS
        # What its author keeps out on purpose is told, as possible only, where nobody is seen compiling the module.
        and (finding.confidence > Confidence.POSSIBLE or KEPT_OUT in finding.message)
        and finding.rule != "graphs-skipped"  # Dynamo traces it whole; what Inductor does then was not recorded
    }


def test_what_dynamo_splits_is_said_to_split_and_nothing_else(said: dict[str, str]) -> None:
    assert [*wrong(said, is_known=False)] == []


def test_what_is_known_to_be_wrong_is_wrong(said: dict[str, str]) -> None:
    known = {block.text for block in blocks() if block.is_known}
    assert known - {text for text, _, _ in wrong(said, is_known=True)} == set(), "mended: take the `!` away"


def wrong(said: dict[str, str], is_known: bool) -> Iterator[tuple[str, list[str], str]]:
    measured = recorded()
    for block in blocks():
        if block.is_known is is_known and bool(measured[block.text]) != (block.text in said):
            yield block.text, measured[block.text], said.get(block.text, "nothing is said")
