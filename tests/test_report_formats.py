"""Reports that other programs read, each held to what its reader requires."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from pydantic import ValidationError
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from graphlint.report import gitlab, jsonl, junit, markdown, rdjson, sarif
from graphlint.report.sarif import Described
from graphlint.types import RegionReport
from tests.sample import CLEAN, COUNTER, MODEL, OTHER, READ, REPORT

RULES = [Described("GL101", "host-read", "a read", "a page")]


def test_json_lines_hold_what_json_holds() -> None:
    objects = [json.loads(line) for line in jsonl.render(REPORT).splitlines()]
    assert [each["type"] for each in objects] == ["diagnostic"] * 3 + ["region"] * 2 + ["summary"]
    assert objects[2]["code"] == "GL101"
    assert objects[-1]["breaks"] == 1


def test_sarif_follows_its_schema() -> None:
    log = json.loads(sarif.render(REPORT, "1.2.3", RULES))
    found = cast(Any, Sarif.model_validate(log)).runs[0].results
    assert [each.ruleId for each in found] == ["GL404", "GL901", "GL101"]
    assert found[2].fixes[0].artifactChanges[0].replacements[0].insertedContent.text == "x.max()"
    assert found[2].codeFlows[0].threadFlows[0].locations[0].location.message.text == "called from here"
    Sarif.model_validate(json.loads(sarif.render(CLEAN, "1.2.3", RULES)))


def test_the_schema_of_sarif_refuses_what_is_none() -> None:
    log = json.loads(sarif.render(REPORT, "1.2.3", RULES))
    for key, value in (("level", "fatal"), ("locations", 3), ("surprise", 1)):
        wrong = json.loads(json.dumps(log))
        wrong["runs"][0]["results"][0][key] = value
        with pytest.raises(ValidationError):
            Sarif.model_validate(wrong)


def test_gitlab_issues_have_all_that_is_asked_for() -> None:
    issues = json.loads(gitlab.render(REPORT))
    assert issues[2] == {
        "description": "GL101: `x.max().item()` reads a device value back to the host",
        "check_name": "host-read",
        "fingerprint": "0123456789abcdef",
        "severity": "critical",
        "location": {
            "path": "src/route.py",
            "positions": {"begin": {"line": 2, "column": 16}, "end": {"line": 2, "column": 30}},
        },
    }
    assert {each["severity"] for each in issues} <= {"info", "minor", "major", "critical", "blocker"}


def test_junit_has_a_case_for_every_finding_and_clean_region() -> None:
    root = ElementTree.fromstring(junit.render(REPORT))
    suites = {suite.get("name"): suite for suite in root}
    assert sorted(map(str, suites)) == ["src/model.py", "src/old.py", "src/route.py"]
    model = suites["src/model.py"]
    assert (model.get("tests"), model.get("failures")) == ("2", "1")
    assert [case.get("name") for case in model] == ["GL404 host-mutation src/model.py:4:9", "model.Other.forward"]
    assert (suites["src/old.py"].get("failures"), suites["src/old.py"].get("errors")) == ("0", "1")
    error = suites["src/old.py"].find("testcase/error")
    assert error is not None
    assert error.get("type") == "unreadable-file"
    failure = suites["src/route.py"].find("testcase/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("breaks", READ.message)


def test_junit_tells_apart_clean_regions_of_one_name() -> None:
    one, other = (replace(MODEL, span=MODEL.span._replace(line=line)) for line in (2, 9))
    clean = (RegionReport(one, "clean", 0, 0), RegionReport(other, "clean", 0, 0), RegionReport(OTHER, "clean", 0, 0))
    root = ElementTree.fromstring(junit.render(replace(REPORT, findings=(), regions=clean)))
    assert [each.get("name") for each in root.iter("testcase")] == [
        "model.Model.forward:2",
        "model.Model.forward:9",
        "model.Other.forward",
    ]


def test_junit_escapes_what_xml_cannot_hold() -> None:
    odd = replace(COUNTER, message='`"<&\x00\ud800>"` 宽')
    text = junit.render(replace(REPORT, findings=(odd,)))
    failure = ElementTree.fromstring(text).find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == '`"<&\ufffd\ufffd>"` 宽'


def test_rdjson_counts_columns_in_bytes_and_offers_the_fix() -> None:
    counter, _, read = json.loads(rdjson.render(REPORT))["diagnostics"]
    assert counter["location"]["range"]["start"] == {"line": 4, "column": 9}
    assert read["severity"] == "ERROR"
    assert read["suggestions"] == [{"range": read["location"]["range"], "text": "x.max()"}]
    step = read["relatedLocations"][0]["location"]
    assert (step["path"], step["range"]["start"]) == ("src/model.py", {"line": 3, "column": 36})


def test_markdown_has_a_row_for_every_finding_and_ends_no_cell_early() -> None:
    odd = replace(COUNTER, message="`a | b` is\nboth")
    text = markdown.render(replace(REPORT, findings=(odd, READ)))
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == 3
    assert "`a \\| b` is both" in rows[0]
    assert "[GL101](https://" in rows[1]
    assert "no findings" in markdown.render(CLEAN)
