"""The effects table says what the GPU said, and what it says can be read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from graphlint.effects import conditions, table
from graphlint.effects.conditions import AllOf, AnyOf, Not, evaluate
from graphlint.effects.described import DescribedCall, read_call
from graphlint.effects.grammar import Argument, Effect, Like, Reduce, RowError, parse_condition, parse_row
from graphlint.effects.measure import disagreements, measured
from graphlint.types import Target
from tests.predicted import Said, SaidMany, said

DATA = Path(__file__).parent / "data"
MEASUREMENT = DATA / "ops_h200.jsonl"
RESULTS = DATA / "results_cpu.jsonl"
BREAKS = DATA / "ops_dynamo.jsonl"
NOT_PUBLIC = ("torch.Tensor.slice", "torch.Tensor.native_dropout_backward", "torch.Tensor.max_pool2d_with_indices_backward")
KNOWN_PROVENANCE = ("h200-", "dynamo-", "doc", "source-", "source:", "catalogue:", "pytorch#")


def facts(row: str, call: str) -> DescribedCall:
    return DescribedCall(parse_row(row), read_call(call))


def test_the_table_disagrees_with_the_gpu_on_no_operator() -> None:
    assert [*disagreements(MEASUREMENT)] == []


def test_the_measurement_is_as_large_as_it_was() -> None:
    refused = {each.op for each in measured(MEASUREMENT) if any(outcome != "fine" for _, outcome in each.calls)}
    assert sum(1 for _ in measured(MEASUREMENT)) > 680
    assert len(refused) > 80


def test_every_operator_that_the_gpu_refused_has_a_row() -> None:
    refused = {each.op for each in measured(MEASUREMENT) if any(outcome != "fine" for _, outcome in each.calls)}
    assert [op for op in sorted(refused) if table.lookup(op) is None] == []


def test_every_row_can_be_read() -> None:
    assert [name for name in sorted(table.names()) if table.lookup(name) is None] == []


def test_no_name_has_two_rows() -> None:
    folder = Path(table.__file__).parent
    lines = [line for path in folder.glob("*.rows") for line in path.read_text(encoding="utf-8").splitlines()]
    names = Counter(line[: line.index(" ->")].partition("(")[0] for line in lines if line and not line.startswith("#"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_row_says_how_it_is_known() -> None:
    rows = [row for name in table.names() if (row := table.lookup(name))]
    assert [row.name for row in rows if not all(word.startswith(KNOWN_PROVENANCE) for word in row.provenance)] == []


def test_every_alias_leads_to_a_row() -> None:
    assert [name for name in table.index().aliases if table.lookup(name) is None] == []


def test_a_name_that_no_family_has_is_looked_for_once() -> None:
    assert [left for left, right in table.index().prefixes if right.startswith(left)], "a family within the other"
    assert [table.lookup(f"{right}nothing") for _, right in table.index().prefixes] == [None] * len(table.index().prefixes)


def test_results_agree_with_what_torch_returned() -> None:
    wrong = []
    for line in RESULTS.read_text(encoding="utf-8").splitlines()[1:]:
        record = json.loads(line)
        row = table.lookup(record["op"])
        if row is None:
            assert record["op"].rpartition(".")[2].startswith("_") or record["op"] in NOT_PUBLIC, record["op"]
            continue
        for call, result in record["calls"]:
            told = said(row.result, DescribedCall(row, read_call(call)))
            if not agrees(told, result):
                wrong.append((record["op"], call, result, told))
    assert wrong == []


def agrees(told: object, result: object) -> bool:
    """`result` is "kind rank" for a tensor, a list of such, or "other"."""
    if isinstance(told, Said):
        kind, _, rank = str(result).partition(" ")
        return (told.kind is None or told.kind == kind) and (told.rank is None or str(told.rank) == rank)
    if isinstance(told, SaidMany) and isinstance(result, list):
        items = told.items * len(result) if told.form == "list" else told.items
        return len(items) == len(result) and all(map(agrees, items, result))
    return not isinstance(told, SaidMany)


def test_what_dynamo_broke_on_is_said_to_affect_the_compile_target() -> None:
    wrong = []
    for line in BREAKS.read_text(encoding="utf-8").splitlines()[1:]:
        record = json.loads(line)
        row = table.lookup(record["op"])
        if row is None:
            continue
        for call, broke in record["calls"]:
            described = DescribedCall(row, read_call(call))
            kinds = ("read", "shape", "break", "argument")
            live = [e for e in row.effects if e.targets & Target.COMPILE and e.kind in kinds]
            if any(table.happens(effect, described) for effect in live) != broke:
                wrong.append((record["op"], call, broke))
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("torch.Tensor.add", "torch.add"),
        ("torch.functional.norm", "torch.norm"),
        ("torch.concat", "torch.cat"),
        ("torch.special.expit", "torch.sigmoid"),
        ("torch.Tensor.__matmul__", "torch.matmul"),
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.optim.adam.Adam.step", "torch.optim.Adam.step"),
        ("torch.ops.aten.nonzero", "torch.nonzero"),
        ("torch.inverse", "torch.linalg.inv"),
    ],
)
def test_one_thing_is_found_under_all_its_names(name: str, canonical: str) -> None:
    assert table.canonical(name) == canonical


def test_an_in_place_method_does_what_its_twin_does_and_returns_its_receiver() -> None:
    row, twin = table.lookup("torch.Tensor.masked_fill_"), table.lookup("torch.masked_fill")
    assert row is not None and twin is not None
    assert row.result == Argument("input")
    assert row.effects == twin.effects


def test_a_library_is_known_by_its_rows() -> None:
    assert {"nn", "cuda", "optim"} <= (table.parts("torch") or set())
    assert table.parts("triton") == frozenset()
    assert (table.parts("tor"), table.parts("nothing")) == (None, None)


def test_an_unknown_name_has_no_row() -> None:
    assert table.lookup("torch.no_such_thing") is None
    assert table.lookup("shutil.copytree") is None


def test_a_host_number_parameter_reads_a_device_tensor() -> None:
    row = parse_row("torch.f(input, k: int, dim=-1) -> like(input) @ doc")
    assert row.effects == (Effect("argument", "k", conditions.Test("device", "k")),)


def test_a_row_is_read_in_all_its_parts() -> None:
    row = parse_row(
        "torch.f(input, dim=None, *, out=None) -> reduce(input, int) if true(dim) else like(input, rank=rank(input)+1)"
        ' ! read when device(input) and not none(dim) unless empty(input) "because" on graph since 2.1 until 2.9'
        " @ doc, h200-2.11"
    )
    assert row.parameters[1].default is None
    assert row.result[1:] == (Reduce("input", "int"), Like("input", rank=row.result[2].rank))  # type: ignore[union-attr, misc]
    effect = row.effects[0]
    assert effect.condition == AllOf((conditions.Test("device", "input"), Not(conditions.Test("none", "dim"))))
    assert (effect.exempt, effect.why, effect.targets) == (conditions.Test("empty", "input"), "because", Target.GRAPH)
    assert (effect.since, effect.until) == ((2, 1), (2, 9))
    assert row.provenance == ("doc", "h200-2.11")


@pytest.mark.parametrize(
    "line",
    [
        "torch.f(input) -> like(input)",
        "torch.f(input) -> like(other) @ doc",
        "torch.f(input) -> like(input) ! explode @ doc",
        "torch.f(input) -> like(input) ! read when device(other) @ doc",
        "torch.f(input) -> like(input) ! read when devise(input) @ doc",
        "torch.f(input: str) -> like(input) @ doc",
        "torch.f(input -> like(input) @ doc",
    ],
)
def test_a_row_with_a_fault_is_an_error_and_not_a_silent_nothing(line: str) -> None:
    with pytest.raises(RowError):
        parse_row(line)


def test_conditions_are_judged_in_three_values() -> None:
    row = "torch.f(input, a=None, b=1, *, c=0) -> like(input) @ doc"
    call = facts(row, "float32[2, 2]@device, b=2")
    assert evaluate(parse_condition("device(input) and none(a) and equal(b, 1, 2) and same(c, c)"), call) is True
    assert evaluate(parse_condition("host(input) or scalar(input) or true(c)"), call) is False
    assert evaluate(parse_condition("not (square(input) and above(input, 3))"), call) is False
    assert evaluate(parse_condition("training"), call) is None
    assert evaluate(parse_condition("training and host(input)"), call) is False
    assert evaluate(AnyOf((conditions.Test("training", ""), conditions.Test("device", "input"))), call) is True


def test_what_is_not_known_does_not_exempt() -> None:
    row = parse_row("torch.f(input) -> like(input) ! read when device(input) unless training @ doc")
    assert table.happens(row.effects[0], DescribedCall(row, read_call("float32[2]@device"))) is True
    assert table.happens(row.effects[0], DescribedCall(row, read_call("float32[2]@device"), training=True)) is False


@pytest.mark.parametrize(
    ("versions", "has"),
    [("since 2.11", True), ("since 2.12", False), ("until 2.11", False), ("until 2.12", True), ("", True)],
)
def test_an_effect_lasts_from_one_version_until_another(versions: str, has: bool) -> None:
    row = parse_row(f"torch.f(input) -> like(input) ! {'read ' + versions if versions else 'read'} @ doc")
    assert table.TORCH == (2, 11)
    assert table.happens(row.effects[0], DescribedCall(row, read_call("float32[2]@device"))) is has


def test_guards_are_constants_of_the_target() -> None:
    capturing = table.lookup("torch.cuda.is_current_stream_capturing")
    compiling = table.lookup("torch.compiler.is_compiling")
    tracing = table.lookup("torch.jit.is_tracing")
    assert capturing is not None and compiling is not None and tracing is not None
    assert (capturing.result, compiling.result, tracing.result) == ((True, False), (False, True), (False, False))


def test_words_of_tensors_do_not_belong_to_other_things() -> None:
    import collections
    import logging

    shared = {"size", "dim", "view"}
    owners = [list, dict, str, set, tuple, collections.deque, logging.Logger]
    taken = {word for owner in owners for word in dir(owner)}
    assert (table.methods() - shared) & taken == set()
    assert {"unsqueeze", "masked_fill", "size", "numel"} <= table.methods()


def test_functions_that_tensors_do_not_have_are_no_methods() -> None:
    torch = pytest.importorskip("torch")
    text = (Path(table.__file__).parent / "functions.words").read_text()
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    assert words == sorted(set(words)) and {"cat", "zeros", "load"} <= set(words)
    assert [word for word in words if hasattr(torch.Tensor, word)] == []
    assert [word for word in words if table.lookup(f"torch.Tensor.{word}") is not None] == []
    assert [word for word in words if table.lookup(f"torch.{word}") is None] == []


def test_loading_the_table_reads_no_row_and_no_torch() -> None:
    code = (
        "import sys; from graphlint.effects import table; table.index();"
        "assert table.lookup.cache_info().currsize == 0; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
