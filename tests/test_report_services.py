"""Reports for code scanning services: SARIF and GitHub's workflow commands."""

from __future__ import annotations

import json

from graphlint.report import github, sarif
from graphlint.report.sarif import Described
from tests.sample import REPORT

RULES = [Described("GL101", "host-read", "a read", "a page"), Described("GL999", "unseen", "x", "y")]


def test_github_shows_a_finding_at_its_line() -> None:
    assert github.render(REPORT).splitlines()[2] == (
        "::error file=src/route.py,line=2,endLine=2,col=16,endColumn=29,title=GL101 host-read::"
        "`x.max().item()` reads a device value back to the host; keep it on the device"
    )


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
