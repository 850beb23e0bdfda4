"""JSON is what an editor takes as diagnostics."""

from __future__ import annotations

import json
from typing import Any

from graphlint.report.json import render
from tests.sample import CLEAN, REPORT


def loaded() -> Any:
    return json.loads(render(REPORT, "9.9"))


def test_the_object_has_the_promised_keys() -> None:
    got = loaded()
    assert list(got) == ["version", "tool", "diagnostics", "regions", "summary"]
    assert got["version"] == 1
    assert got["tool"] == {"name": "graphlint", "version": "9.9"}
    numbers = {"files": 3, "regions": 2, "breaks": 1, "stale": 1, "defeats": 0, "suppressed": 2}
    assert numbers.items() <= got["summary"].items()


def test_a_diagnostic_is_one_of_the_language_server_protocol() -> None:
    (got,) = [each for each in loaded()["diagnostics"] if each["code"] == "GL101"]
    assert got["range"] == {"start": {"line": 1, "character": 15}, "end": {"line": 1, "character": 29}}
    assert (got["file"], got["severity"], got["source"]) == ("src/route.py", 1, "graphlint")
    assert got["codeDescription"]["href"].endswith("#gl101")
    data = got["data"]
    assert data["targets"] == {"graph": "breaks", "compile": "defeats"}
    assert (data["rule"], data["effect"], data["confidence"]) == ("host-read", "breaks", "certain")
    assert (data["region"], data["help"]) == ("model.Model.forward", "keep it on the device")
    assert data["fingerprint"] == "0123456789abcdef"
    assert data["fix"]["edits"][0]["newText"] == "x.max()"


def test_columns_are_utf16_code_units() -> None:
    (got,) = [each for each in loaded()["diagnostics"] if each["code"] == "GL101"]
    (step,) = got["relatedInformation"]
    line = REPORT.lines["src/model.py"][2].encode("utf-16-le")
    place = step["location"]["range"]
    assert place["start"]["line"] == 2
    shown = line[place["start"]["character"] * 2 : place["end"]["character"] * 2].decode("utf-16-le")
    assert shown == "self.route(x)"


def test_severities_follow_effects() -> None:
    assert {each["code"]: each["severity"] for each in loaded()["diagnostics"]} == {"GL101": 1, "GL404": 1, "GL901": 3}


def test_regions_have_their_verdicts() -> None:
    assert loaded()["regions"] == [
        {
            "name": "model.Model.forward",
            "kind": "module",
            "file": "src/model.py",
            "line": 2,
            "verdict": "breaks",
            "findings": 2,
            "unknown_calls": 3,
        },
        {
            "name": "model.Other.forward",
            "kind": "module",
            "file": "src/model.py",
            "line": 9,
            "verdict": "clean",
            "findings": 0,
            "unknown_calls": 0,
        },
    ]


def test_text_is_ascii_and_an_empty_report_parses() -> None:
    assert render(REPORT, "1").isascii()
    assert json.loads(render(CLEAN, "1"))["diagnostics"] == []
