"""Predictions against outcomes, records, plans and what is printed: all without torch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphlint.case import Case, as_case, varied
from graphlint.confirm import codec, evidence, plan, predictions, process, show
from graphlint.confirm.outcome import Difference, Machine, Outcome, Refusal, StateChange
from graphlint.confirm.plan import InputSpec, Options, parse_input, parse_target
from graphlint.confirm.predictions import Predicted
from graphlint.confirm.reconcile import Missed, Reconciled, reconcile
from graphlint.confirm.shapes_form import parse
from graphlint.confirm.writers import written
from graphlint.errors import UsageError
from graphlint.types import Span, Step

H200 = Machine("cuda", "NVIDIA H200", "2.11.0", "580", "13.0")
ITEM = Refusal(
    "m.py", 12, "count", "aten._local_scalar_dense.default", "AcceleratorError", "not permitted",
    (Step(Span("m.py", 5, 0, 5, 0), "forward"), Step(Span("m.py", 12, 0, 12, 0), "count")), "x.sum().item()",
)  # fmt: skip
REFUSED = Outcome("m.py:case", "refused", H200, (ITEM,), executed={"m.py": (3, 4, 5, 12)})
STALE = Outcome(
    "m.py:case", "stale", H200, differences=(Difference("output", 2, 0.5, 1e-4, "values"),),
    state_changes=(StateChange("M.step", "m.py", 4),), executed={"m.py": (3, 4, 5)}, replays=("match", "values", "values"),
)  # fmt: skip
FINE = Outcome("m.py:case", "captures", H200, executed={"m.py": (3, 4)}, replays=("match",) * 3)


def predicted(line: int, effect: str = "breaks", code: str = "GL101", **effects: str) -> Predicted:
    marks = tuple(sorted((effects or {"graph": effect}).items()))
    return Predicted(code, "rule", "m.py", line, line, effect, f"line {line}", "certain", f"f{line}", marks)


def words(outcome: Outcome, *findings: Predicted) -> list[str]:
    return [each.verdict for each in reconcile(findings, outcome).verdicts]


def test_a_finding_is_confirmed_by_its_line_or_by_a_call_on_it() -> None:
    assert words(REFUSED, predicted(12), predicted(5), predicted(3), predicted(40)) == [
        "confirmed", "confirmed", "refuted", "not exercised",
    ]  # fmt: skip


def test_lines_behind_the_end_of_a_capture_are_not_refuted() -> None:
    ended = replace(REFUSED, complete=False, executed={"m.py": (3, 4, 5, 12, 13)})
    assert words(ended, predicted(3), predicted(12), predicted(13)) == ["refuted", "confirmed", "not exercised"]
    assert words(replace(ended, complete=True), predicted(13)) == ["refuted"]


def test_a_refused_line_without_a_finding_is_missed() -> None:
    found = reconcile([predicted(3)], REFUSED)
    assert found.missed == (Missed("breaks", "m.py", 12, "`x.sum().item()`: not permitted"),)
    assert reconcile([predicted(5)], REFUSED).missed == ()


def test_stale_is_judged_by_replays_and_by_the_line_that_wrote() -> None:
    assert words(STALE, predicted(4, "stale"), predicted(5, "stale"), predicted(9, "stale")) == [
        "confirmed", "confirmed", "not exercised",
    ]  # fmt: skip
    assert words(FINE, predicted(4, "stale")) == ["refuted"]
    assert words(REFUSED, predicted(4, "stale")) == ["not exercised"]
    assert [each.effect for each in reconcile([], STALE).missed] == ["stale"]


def test_what_only_compiling_shows_waits_for_a_compiled_run() -> None:
    finding = predicted(4, "defeats", "GL801", compile="defeats")
    section = {"result": "breaks", "breaks": [{"file": "m.py", "line": 4, "reason": "print"}], "skips": 0, "said": []}
    assert words(FINE, finding) == ["not exercised"]
    assert words(replace(FINE, sections={"compile": section}), finding) == ["confirmed"]
    assert words(replace(FINE, sections={"compile": {**section, "breaks": []}}), finding) == ["refuted"]
    assert words(replace(FINE, sections={"compile": section})) == []
    assert reconcile([], replace(FINE, sections={"compile": section})).missed[0].effect == "defeats"


def test_a_stream_that_goes_astray_is_noticed_further_down() -> None:
    join = replace(ITEM, line=9, op="?", message="dependency created on uncaptured work in another stream", trail=())
    outcome = replace(REFUSED, refusals=(join,), executed={"m.py": (7, 9)})
    found = reconcile([predicted(7, code="GL601")], outcome)
    assert [each.verdict for each in found.verdicts] == ["confirmed"] and found.missed == ()


def test_a_run_that_did_not_happen_says_nothing() -> None:
    outcome = replace(REFUSED, result="not-run", refusals=())
    assert words(outcome, predicted(12)) == ["not exercised"]


@pytest.mark.parametrize("outcome", [REFUSED, STALE, FINE], ids=lambda each: each.result)
def test_outcomes_survive_json(outcome: Outcome) -> None:
    assert codec.decode(json.loads(json.dumps(codec.encode(outcome)))) == outcome


def test_plans_survive_json(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("")
    one = replace(
        parse_target("m.py:case", Options(lengths=(1, 2)), tmp_path),
        inputs=(InputSpec("x", "int64", (2, "n")),),
        init={"a": 1},
    )
    assert plan.decode(json.loads(json.dumps(plan.encode(one)))) == one


@pytest.mark.parametrize("text", ["m.py", "nothing.py:case", ":case", "m.py:", "m.py:a b"])
def test_a_target_that_is_none_says_how_one_is_written(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="make_case"):
        parse_target(text, Options(), tmp_path)


def test_inputs_are_read_with_device_and_values() -> None:
    assert parse_input("ids=int64[2,length]@cpu=0..99") == InputSpec("ids", "int64", (2, "length"), "cpu", "0..99")
    assert parse_input("mask=bool[4]=ones").values == "ones"
    for wrong in ("x", "x=float33[2]", "x=float32[2,-1]", "x=float32[2]=sometimes", "1x=float32[2]"):
        with pytest.raises(UsageError):
            parse_input(wrong)


def test_buckets_are_powers_of_two_up_to_the_largest_size() -> None:
    assert parse("batch=1..6")[1] == (1, 2, 4, 6)
    assert parse("n=3..64")[1] == (4, 8, 16, 32, 64)
    assert parse("n=8,2,4")[1:] == ((2, 4, 8), tuple(range(1, 9)))
    with pytest.raises(UsageError, match="--shapes"):
        parse("batch")


def test_every_form_of_a_case_is_one() -> None:
    assert as_case((abs, (1,))).fn is abs
    assert as_case((abs, [1], {"a": 2})).kwargs == {"a": 2}
    assert as_case({"fn": abs, "args": (1,), "vary": None}) == Case(abs, (1,))
    for wrong in (None, 42, (abs,), (abs, 1), {"fn": abs, "arguments": ()}):
        with pytest.raises(UsageError, match="not a case"):
            as_case(wrong)
    assert varied(((1, 2), {"a": 3})) == ((1, 2), {"a": 3})
    assert varied((1, 2)) == ((1, 2), {})


def test_a_record_marks_findings_and_knows_when_code_changed(tmp_path: Path) -> None:
    source = tmp_path / "m.py"
    source.write_text("a = 1\n")
    outcome = replace(REFUSED, executed={str(source): (1,)})
    found = reconcile([predicted(12), predicted(3)], REFUSED)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(evidence.record([(outcome, found)], tmp_path, "2026-01-31")))
    read = evidence.read(path)
    assert read.mark("f12") == "confirmed on NVIDIA H200, torch 2.11.0"
    assert read.mark("unknown") == ""
    assert read.changed(["m.py", "other.py"], tmp_path) == ()
    source.write_text("a = 2\n")
    assert read.changed(["m.py"], tmp_path) == ("m.py",)
    path.write_text("{}")
    with pytest.raises(UsageError, match="--record"):
        evidence.read(path)


def test_the_line_that_wrote_is_one_that_ran(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(
        "class M:\n  def a(self):\n    self.n = 0\n  def b(self):\n    self.n += 1\n    self.seen.append(self.n)\n"
    )
    lines = {str(file): (5, 6)}
    found = written(["M.n", "M.seen", "M.seen[0]", "M.other"], lines)
    assert [each.line for each in found] == [5, 6, 6, 0]


def test_what_is_printed_says_what_where_and_what_was_foretold(tmp_path: Path) -> None:
    text = show.text(REFUSED, reconcile([predicted(12)], REFUSED), "", tmp_path)
    assert "m.py:12: `x.sum().item()` is refused: not permitted" in text
    assert "called from forward (m.py:5)" in text
    assert "confirmed  GL101  m.py:12" in text
    assert (
        show.status([FINE]) == 0
        and show.status([FINE, STALE]) == 1
        and show.status([REFUSED, replace(FINE, result="not-run")]) == 2
    )
    assert "0.5" in show.text(STALE, Reconciled(), "", tmp_path)


def test_diagnostics_are_read_from_the_json_of_check() -> None:
    span = {"start": {"line": 11, "character": 0}, "end": {"line": 11, "character": 4}}
    data = {
        "rule": "host-read",
        "effect": "breaks",
        "targets": {"graph": "breaks"},
        "confidence": "certain",
        "fingerprint": "f",
    }
    row = {"file": "m.py", "range": span, "code": "GL101", "message": "reads", "data": data}
    own = {**row, "code": "GL901"}
    (found,) = predictions.parsed({"diagnostics": [row, own]}, Path("/root"))
    assert (found.file, found.line, found.end_line, found.effects) == ("/root/m.py", 12, 12, (("graph", "breaks"),))


def test_what_is_predicted_is_for_the_torch_that_ran(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("import torch\n\n\n# graphlint: region\ndef step(x):\n    return torch.multinomial(x, 1)\n")
    for version, codes in (("2.4.1+cu121", ["GL106", "GL801"]), ("2.11.0", []), ("", [])):
        assert [each.code for each in predictions.predicted([str(path)], tmp_path, version)] == codes


def test_a_miss_without_any_prediction_says_how_code_is_marked() -> None:
    hint = "`# graphlint: region` above a `def`"
    assert hint in show.text(REFUSED, reconcile([], REFUSED), "", Path("."))
    assert hint not in show.text(REFUSED, reconcile([predicted(12)], REFUSED), "", Path("."))


def test_places_are_told_as_seen_from_the_root_and_one_is_no_plural(tmp_path: Path) -> None:
    why = f"rank 1 is missing (call 2, {tmp_path}/m.py:11)"
    text = show.text(FINE, Reconciled((), (Missed("stale", f"{tmp_path}/m.py", 11, why),)), "", tmp_path)
    assert "missed     stale  m.py:11: rank 1 is missing (call 2, m.py:11)\n" in text
    wrong = replace(STALE, differences=STALE.differences * 4)
    assert "and 1 more difference\n" in show.text(wrong, Reconciled(), "", tmp_path)


def test_what_torch_says_of_a_missing_numpy_is_not_what_a_target_printed() -> None:
    set_already = process._environment({"PYTHONWARNINGS": "error::DeprecationWarning"}, "")
    assert set_already["PYTHONWARNINGS"] == "error::DeprecationWarning,ignore:Failed to initialize NumPy"
    assert process._environment({"A": "1"}, "2")["CUDA_VISIBLE_DEVICES"] == "2"
