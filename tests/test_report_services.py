"""Reports for code scanning services: SARIF and GitHub's workflow commands."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema

from graphlint.report import github, gitlab, rdjson, sarif
from graphlint.report.rebased import rebased
from graphlint.report.sarif import Described
from graphlint.types import Span, Step
from tests.sample import READ, REPORT

RULES = [Described("GL101", "host-read", "a read", "a page"), Described("GL999", "unseen", "x", "y")]


def test_github_shows_a_finding_at_its_line() -> None:
    assert github.render(REPORT).splitlines()[2] == (
        "::error file=src/route.py,line=2,endLine=2,col=16,endColumn=29,title=GL101 host-read::"
        "`x.max().item()` reads a device value back to the host; keep it on the device"
    )


def test_github_shows_what_could_not_be_read_as_an_error() -> None:
    assert github.render(REPORT).splitlines()[1].startswith("::error file=src/old.py,line=7,")
    assert github.render(replace(REPORT, unread=())).splitlines()[1].startswith("::notice file=src/old.py,line=7,")


def test_github_takes_no_columns_of_several_lines() -> None:
    wide = replace(READ, span=READ.span._replace(end_line=3))
    shown = github.render(replace(REPORT, findings=(wide,)))
    assert shown.startswith("::error file=src/route.py,line=2,endLine=3,title=GL101 host-read::")


def test_places_in_notebooks_are_told_in_words() -> None:
    step = Step(Span("a.ipynb:cell 2", 1, 0, 1, 4), "f")
    there = replace(READ, span=Span("a.ipynb:cell 4", 2, 8, 2, 16), trail=(step,), fix=None)
    report = replace(REPORT, findings=(there,), lines={})
    said = "cell 4, line 2: `x.max().item()` reads"
    assert github.render(report).startswith(f"::error file=a.ipynb,line=1,title=GL101 host-read::{said}")
    (issue,) = json.loads(gitlab.render(report))
    assert (issue["location"]["path"], issue["location"]["positions"]["begin"]["line"]) == ("a.ipynb", 1)
    assert issue["description"].startswith(f"GL101: {said}")
    (told,) = json.loads(rdjson.render(report))["diagnostics"]
    assert (told["location"], told["message"].startswith(said)) == ({"path": "a.ipynb"}, True)
    assert told["relatedLocations"][0]["message"] == "cell 2, line 1: called from here"
    (result,) = json.loads(sarif.render(report, "1", RULES))["runs"][0]["results"]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a.ipynb"}}}]
    assert result["message"]["text"].startswith(said)


POSITION = {"type": "object", "required": ["line"], "additionalProperties": False}
POSITION |= {"properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}}}
RANGE = {"type": "object", "required": ["start"], "properties": {"start": POSITION, "end": POSITION}}
PLACE = {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}, "range": RANGE}}
DIAGNOSTIC = {
    "type": "object",
    "required": ["message", "location"],
    "additionalProperties": False,
    "properties": {
        "message": {"type": "string"},
        "location": PLACE,
        "severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
        "code": {"type": "object", "properties": {"value": {"type": "string"}, "url": {"type": "string"}}},
        "suggestions": {"type": "array", "items": {"type": "object", "required": ["range", "text"]}},
        "relatedLocations": {"type": "array", "items": {"type": "object", "required": ["location"]}},
    },
}
ISSUE = {
    "type": "object",
    "required": ["description", "check_name", "fingerprint", "severity", "location"],
    "properties": {
        "fingerprint": {"type": "string", "minLength": 1},
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "location": {
            "required": ["path", "positions"],
            "properties": {"positions": {"required": ["begin"], "properties": {"begin": POSITION, "end": POSITION}}},
        },
    },
}


def test_reviewdog_and_gitlab_find_the_keys_they_document() -> None:
    found = json.loads(rdjson.render(REPORT))
    jsonschema.validate(found, {"required": ["diagnostics"], "properties": {"diagnostics": {"items": DIAGNOSTIC}}})
    known = tuple(replace(each, fingerprint=each.fingerprint or "0" * 16) for each in REPORT.findings)
    issues = json.loads(gitlab.render(replace(REPORT, findings=known)))
    jsonschema.validate(issues, {"type": "array", "items": ISSUE})


def test_services_are_told_paths_of_the_repository() -> None:
    step = Step(Span("../lib/call.py", 3, 0, 3, 4), "f")
    there = replace(READ, trail=(step,), span=READ.span._replace(file="/else/where.py"))
    shown = rebased(replace(REPORT, findings=(*REPORT.findings, there)), "tools/gpu")
    _, broken, read, other = shown.findings
    assert (read.span.file, other.span.file, other.trail[0].span.file) == (
        "tools/gpu/src/route.py",
        "/else/where.py",
        "tools/lib/call.py",
    )
    assert read.fix is not None and read.fix.edits[0].span.file == "tools/gpu/src/route.py"
    assert shown.unread == (broken.span.file,) == ("tools/gpu/src/old.py",)
    columns = [each.split("file=")[1].split(",title")[0] for each in github.render(shown).splitlines()]
    assert columns[2] == "tools/gpu/src/route.py,line=2,endLine=2,col=16,endColumn=29"


def test_github_escapes_what_would_end_a_command() -> None:
    assert github._property("a:b,c%\n") == "a%3Ab%2Cc%25%0A"


def test_sarif_holds_results_rules_and_flows() -> None:
    log = json.loads(sarif.render(REPORT, "9.9", RULES))
    (run,) = log["runs"]
    assert (log["version"], run["columnKind"]) == ("2.1.0", "utf16CodeUnits")
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GL101"]
    read = run["results"][2]
    assert (read["ruleId"], read["level"]) == ("GL101", "error")
    place = read["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/route.py"
    assert place["region"] == {"startLine": 2, "startColumn": 16, "endLine": 2, "endColumn": 30}
    flow = read["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [each["location"]["physicalLocation"]["region"]["startLine"] for each in flow] == [3, 2]
    assert read["partialFingerprints"] == {"graphlint/v1": "0123456789abcdef"}


def test_sarif_describes_a_rule_briefly_and_helps_at_length() -> None:
    page = f"A read.\n\n{'Words and words. ' * 100}\n\nFails:\n\n    x.item()\n\nHow to fix: do not."
    log = json.loads(sarif.render(REPORT, "1", [Described("GL101", "host-read", "A read.", page)]))
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    said = rule["fullDescription"]["text"]
    assert (len(said) <= 1024, said.endswith(" ..."), said.startswith("A read.")) == (True, True, True)
    assert rule["help"]["text"] == page
    assert "Fails:\n\n```python\nx.item()\n```\n\nHow to fix: do not." in rule["help"]["markdown"]


def test_sarif_names_a_file_outside_the_working_folder_with_a_scheme() -> None:
    there = replace(READ, span=READ.span._replace(file="/tmp/a b.py"), trail=(), fix=None)
    (result,) = json.loads(sarif.render(replace(REPORT, findings=(there,)), "1", RULES))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///tmp/a%20b.py"}
