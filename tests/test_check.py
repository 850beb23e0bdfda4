"""From events to a report: one finding a place, nothing lost when something fails."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from graphlint.baseline import written
from graphlint.check import check, check_sources
from graphlint.config import Config
from graphlint.errors import ConfigError, UsageError
from graphlint.events import Event, GraphBreak, HostRead, LimitReached
from graphlint.interp import interpret
from graphlint.judge import Read
from graphlint.ledger import Ledger
from graphlint.registry import Registry, registry
from graphlint.rule import Judge, Rule, finding
from graphlint.source import Source, parse
from graphlint.types import Confidence, Effect, Finding, Region, Report, Span, Step, Target
from tests.conftest import CheckText

TEXT = "def f(x):\n    y = x.item()\n    return x.item()\n"
FIRST, SECOND = Span("x.py", 2, 8, 2, 16), Span("x.py", 3, 11, 3, 19)


class Told(NamedTuple):
    region: Region
    events: tuple[Event, ...]
    unknown_calls: int = 0
    failure: Exception | None = None
    away: tuple[Event, ...] = ()


def reads(event: HostRead) -> Finding | None:
    return finding(event, f"`{event.text}` reads")


def splits(event: GraphBreak) -> Finding | None:
    return finding(event, f"`{event.construct}` splits")


def fails(event: GraphBreak) -> Finding | None:
    raise ZeroDivisionError("no")


READS = Rule("GL101", "host-read", HostRead, Effect.BREAKS, Effect.DEFEATS, reads, "page")
SPLITS = Rule("GL801", "graph-break", GraphBreak, None, Effect.DEFEATS, splits, "page")
FAILS = Rule("GL802", "failing", GraphBreak, None, Effect.DEFEATS, fails, "page")
RULES = registry([READS, SPLITS])


def told(name: str, *events: Event) -> Told:
    return Told(Region(name, "module", Span("x.py", 1, 0, 3, 19)), events)


def read(span: Span = FIRST, trail: int = 0, sure: Confidence = Confidence.CERTAIN, live: Target = Target.BOTH) -> HostRead:
    steps = tuple(Step(Span("x.py", n + 1, 0, n + 1, 1), "f") for n in range(trail))
    return HostRead(span=span, text="x.item()", method="item", trail=steps, confidence=sure, targets=live)


def run(*regions: Told, text: str = TEXT, rules: Registry = RULES, **settings: object) -> Report:
    given = Read((parse(text, "x.py"),), ())
    return check_sources(given, Config(**settings), rules, lambda sources, named=(), names=None, ledger=None: regions)  # type: ignore[arg-type]


def test_a_place_reached_twice_is_one_finding_with_the_shortest_trail() -> None:
    report = run(told("b", read(trail=2)), told("a", read(trail=1, sure=Confidence.LIKELY)))
    (found,) = report.findings
    assert (found.region, len(found.trail), found.regions) == ("a", 1, ("a", "b"))
    assert found.confidence is Confidence.CERTAIN
    assert [(each.region.name, each.verdict, each.findings) for each in report.regions] == [
        ("a", "breaks", 1),
        ("b", "breaks", 1),
    ]


def test_a_region_where_a_finding_is_hidden_does_not_lead_to_it() -> None:
    report = run(told("a", read(sure=Confidence.POSSIBLE)), told("b", read(trail=1)))
    (found,) = report.findings
    assert (found.region, len(found.trail), found.confidence) == ("b", 1, Confidence.CERTAIN)
    assert [(each.region.name, each.verdict) for each in report.regions] == [("a", "clean"), ("b", "breaks")]


def test_a_region_that_is_told_twice_counts_a_finding_once() -> None:
    report = run(told("a", read(), read(SECOND)), told("a", read()))
    assert [(each.region.name, each.findings, each.unknown_calls) for each in report.regions] == [("a", 2, 0)]
    assert report.regions[0].counts == (("breaks", 2),)


def test_findings_are_sorted_whatever_the_order_of_events() -> None:
    one, two = run(told("a", read(SECOND), read(FIRST))), run(told("a", read(FIRST), read(SECOND)))
    assert one == two
    assert [each.span.line for each in one.findings] == [2, 3]


def test_effects_are_those_of_the_live_targets() -> None:
    both, graph, compiled = (
        run(told("a", read(live=live))).findings[0] for live in (Target.BOTH, Target.GRAPH, Target.COMPILE)
    )
    assert both.effects == (("graph", Effect.BREAKS), ("compile", Effect.DEFEATS))
    assert (both.effect, graph.effect, compiled.effect) == (Effect.BREAKS, Effect.BREAKS, Effect.DEFEATS)
    joined = run(told("a", read(live=Target.GRAPH)), told("b", read(live=Target.COMPILE)))
    assert joined.findings[0].effects == both.effects


def test_a_rule_without_an_effect_under_a_live_target_is_silent() -> None:
    split = GraphBreak(span=FIRST, text="print()", construct="print", why="it prints", targets=Target.GRAPH)
    assert run(told("a", split)).findings == ()


def test_a_target_can_be_asked_for() -> None:
    (found,) = run(told("a", read()), target=Target.COMPILE).findings
    assert (found.effect, found.effects) == (Effect.DEFEATS, (("compile", Effect.DEFEATS),))
    assert run(told("a", read(live=Target.GRAPH)), target=Target.COMPILE).findings == ()


def test_less_certain_findings_are_hidden_and_counted() -> None:
    event = read(sure=Confidence.POSSIBLE)
    report = run(told("a", event))
    assert (report.findings, report.hidden, report.regions[0].verdict) == ((), 1, "clean")
    assert len(run(told("a", event), min_confidence=Confidence.POSSIBLE).findings) == 1


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ({"select": ("GL1",)}, ["GL101"]),
        ({"ignore": ("GL1",)}, ["GL801"]),
        ({"ignore": ("host-read",)}, ["GL801"]),
        ({"select": ("GL101", "GL8"), "ignore": ("GL1",)}, ["GL101", "GL801"]),
    ],
)
def test_rules_are_selected_by_code_prefix_and_name(settings: dict[str, object], codes: list[str]) -> None:
    split = GraphBreak(span=SECOND, text="p", construct="print", why="it prints")
    found = run(told("a", read(), split), **settings)  # type: ignore[arg-type]
    assert [each.code for each in found.findings] == codes


def test_a_selector_that_selects_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no rule has the code or name `host-reed`\n  did you mean `host-read`"):
        check([str(tmp_path)], Config(select=("host-reed",)), RULES, lambda sources, named=(), names=None, ledger=None: ())


def test_suppressed_findings_are_counted_and_leave_their_region_clean() -> None:
    text = TEXT.replace("x.item()\n    return", "x.item()  # graphlint: ignore[GL101] -- known\n    return")
    report = run(told("a", read()), text=text)
    assert (report.findings, report.suppressed, report.regions[0].verdict) == ((), 1, "clean")


def test_a_suppression_that_is_not_needed_is_told_unless_its_rule_is_off() -> None:
    text = TEXT.replace("def f(x):", "def f(x):  # graphlint: ignore[GL101] -- known")
    assert [each.code for each in run(text=text).findings] == ["GL902"]
    assert run(text=text, select=("GL8",)).findings == ()


def test_a_suppression_of_a_hidden_finding_is_needed() -> None:
    text = TEXT.replace("x.item()\n    return", "x.item()  # graphlint: ignore[GL101] -- known\n    return")
    report = run(told("a", read(sure=Confidence.POSSIBLE)), text=text)
    assert (report.findings, report.suppressed, report.hidden) == ((), 0, 1)


@pytest.mark.parametrize(
    ("judge", "said"),
    [(fails, "`ZeroDivisionError: no` at `test_check.py:"), (lambda event: 3, "a rule gives a finding or None, not int")],
)
def test_a_failing_rule_loses_only_its_own_findings(judge: Judge, said: str) -> None:
    split = GraphBreak(span=SECOND, text="p", construct="print", why="it prints")
    report = run(told("a", split, read()), rules=registry([READS, SPLITS, replace(FAILS, judge=judge)]))
    assert [each.code for each in report.findings] == ["GL101", "GL801", "GL905"]
    assert said in report.findings[2].message


def test_a_failing_interpreter_loses_only_what_comes_after() -> None:
    def interpret(
        sources: Sequence[Source],
        named: Collection[str] = (),
        names: Mapping[str, str] | None = None,
        ledger: Ledger | None = None,
    ) -> Iterator[Told]:
        yield told("a", read())
        raise RecursionError("maximum recursion depth exceeded")

    report = check_sources(Read((parse(TEXT, "x.py"),), ()), Config(), RULES, interpret)
    assert sorted(each.code for each in report.findings) == ["GL101", "GL905"]


def test_a_region_that_fails_loses_only_itself() -> None:
    report = run(told("a", read()), told("b")._replace(failure=KeyError("x")))
    assert [each.code for each in report.findings] == ["GL905", "GL101"]
    assert "while interpreting `b`; it was not checked to its end: `KeyError: 'x'`" in report.findings[0].message


def test_a_region_that_nests_too_deeply_is_told_as_a_limit() -> None:
    report = run(told("b")._replace(failure=RecursionError()))
    (found,) = report.findings
    assert (found.code, found.message) == ("GL904", "`b` nests too deeply to be followed; it was not checked to its end")
    assert (report.regions, report.unread) == ((), ("x.py",))


def test_what_was_found_before_a_region_failed_is_told() -> None:
    report = run(told("b", read())._replace(failure=RecursionError()))
    assert sorted(each.code for each in report.findings) == ["GL101", "GL904"]
    assert [each.verdict for each in report.regions] == ["breaks"]


def test_a_limit_is_counted_and_told_when_asked_for() -> None:
    stopped = told("a", LimitReached(span=FIRST, text="f()", limit="call depth"))
    report = run(stopped)
    assert (report.findings, report.hidden, report.limits) == ((), 0, 1)
    (found,) = run(stopped, min_confidence=Confidence.POSSIBLE).findings
    assert [each.code for each in run(stopped, select=("GL904",)).findings] == ["GL904"]
    assert (found.code, found.message, found.region) == ("GL904", "the analysis stopped here: call depth", "a")


def test_files_that_cannot_be_read_do_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text("print 'x'\n")
    (tmp_path / "x.py").write_text(TEXT)
    report = check(["."], Config(), RULES, lambda sources, named=(), names=None, ledger=None: [told("a", read())])
    assert [(each.code, each.span.file) for each in report.findings] == [("GL901", "bad.py"), ("GL101", "x.py")]
    assert (report.files, report.unread) == (2, ("bad.py",))
    assert run(select=("GL8",)).unread == ()
    silent = check(["."], Config(select=("GL8",)), RULES, lambda sources, named=(), names=None, ledger=None: ())
    assert silent.unread == ("bad.py",)


def test_fingerprints_survive_moves_of_lines_and_tell_equal_lines_apart() -> None:
    before = run(told("a", read(FIRST), read(SECOND))).findings
    moved = "# new\n\n" + TEXT.replace("y = x", "y  =  x")
    spans = [span._replace(line=span.line + 2, end_line=span.line + 2) for span in (FIRST, SECOND)]
    after = run(told("a", *map(read, spans)), text=moved).findings
    assert [each.fingerprint for each in before] == [each.fingerprint for each in after]
    twice = run(told("a", read(FIRST), read(FIRST._replace(column=9)))).findings
    assert len({each.fingerprint for each in twice}) == 2


def test_a_baseline_accepts_what_it_lists(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(written(run(told("a", read(FIRST))).findings))
    report = run(told("a", read(FIRST), read(SECOND)), baseline=str(file))
    assert ([each.span.line for each in report.findings], report.suppressed) == ([3], 1)
    file.write_text("{}")
    with pytest.raises(ConfigError, match="is not a baseline file"):
        run(baseline=str(file))
    with pytest.raises(ConfigError, match="--write-baseline"):
        run(baseline=str(tmp_path / "gone.json"))


def test_a_file_called_torch_below_a_package_stands_for_torch_nowhere_else(tmp_path: Path, rules: Registry) -> None:
    inner = tmp_path / "own" / "backends"
    inner.mkdir(parents=True)
    (tmp_path / "own" / "__init__.py").write_text("")
    (inner / "torch.py").write_text("def array(x):\n    return x\n")
    model = tmp_path / "model.py"
    model.write_text(
        "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.nonzero(x)\n"
    )
    report = check([str(tmp_path)], Config(root=tmp_path), rules, interpret)
    assert [(each.code, each.span.line) for each in report.findings] == [("GL201", 5)]


@pytest.mark.parametrize(
    "strays",
    [
        ["own/torch/__init__.py"],
        ["own/torch/__init__.py", "own/torch/nn.py", "own/torch/utils.py"],
        ["own/math.py"],
        ["own/random/__init__.py"],
    ],
)
def test_a_folder_called_like_a_library_stands_for_it_nowhere(tmp_path: Path, rules: Registry, strays: list[str]) -> None:
    for stray in strays:
        (tmp_path / stray).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / stray).write_text("def array(x):\n    return x\n")
    model = tmp_path / "model.py"
    model.write_text(
        "import math\nimport random\nimport torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
        "        return torch.nonzero(x * math.sqrt(2) + random.random())\n"
    )
    report = check([str(tmp_path)], Config(root=tmp_path), rules, interpret)
    assert [(each.code, each.span.line) for each in report.findings] == [("GL201", 7), ("GL401", 7)]


def test_what_a_library_counts_on_is_told_where_a_checked_file_computes_with_it(tmp_path: Path, rules: Registry) -> None:
    (tmp_path / "library.py").write_text(
        "class Cache:\n    def __init__(self):\n        self.used = 0\n\n"
        "    def take(self, n):\n        self.used += n\n        return self.used\n"
    )
    (tmp_path / "model.py").write_text(
        "import torch\nfrom library import Cache\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.cache = Cache()\n\n"
        "    def forward(self, x):\n        return x * self.cache.take(x.shape[0])\n"
    )
    alone = check([str(tmp_path / "model.py")], Config(root=tmp_path), rules, interpret)
    whole = check([str(tmp_path)], Config(root=tmp_path), rules, interpret)
    assert [(each.code, each.span.line) for each in alone.findings] == [("GL406", 10)]
    assert [each.code for each in whole.findings] == ["GL404", "GL406"]


NEIGHBOUR = "def maximum(a, b):\n    return a\n\n\ndef nonzero(x):\n    return x\n"


@pytest.mark.parametrize(
    ("imported", "called", "codes"),
    [
        ("import torch", "torch.nonzero(x)", ["GL201"]),
        ("import numpy", "numpy.maximum(x, x)", ["GL303"]),
        ("from pkg.kernels import torch as other", "other.nonzero(x)", []),
        ("from .torch import nonzero", "nonzero(x)", []),
        ("from ..ops import rows", "rows(x)", ["GL201"]),
        ("from helper import rows", "rows(x)", ["GL201"]),
    ],
)
def test_a_folder_inside_a_package_belongs_to_it(
    tmp_path: Path, rules: Registry, imported: str, called: str, codes: list[str]
) -> None:
    inner = tmp_path / "pkg" / "kernels"
    inner.mkdir(parents=True)
    for name in ("torch.py", "numpy.py"):
        (inner / name).write_text(NEIGHBOUR)
    (tmp_path / "pkg" / "__init__.py").write_text("")
    for path in (tmp_path / "pkg" / "ops.py", inner / "helper.py"):
        path.write_text("import torch\n\n\ndef rows(x):\n    return torch.nonzero(x)\n")
    model = f"class Model(nn.Module):\n    def forward(self, x):\n        return {called}\n"
    (inner / "model.py").write_text(f"{imported}\nfrom torch import nn\n\n\n{model}")
    report = check([str(tmp_path)], Config(root=tmp_path), rules, interpret)
    assert sorted(each.code for each in report.findings) == codes
    assert [each.region.name for each in report.regions] == ["pkg.kernels.model.Model.forward"]


CALLED = """import argparse
import functools
import io
import json
from dataclasses import dataclass

import torch
from torch import nn


def spare(x):
    return x.nonzero()


@dataclass
class Base:
    part: torch.Tensor

    def __post_init__(self):
        self.size = self.part.sum().item()
        self.pick = spare


@dataclass
class Derived(Base):
    other: int = 0


class Written(Base):
    def __init__(self):
        self.part = None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = Derived(torch.zeros(4))

    def forward(self, x: torch.Tensor):
        {line}
        return x
"""


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        ("sorted([x, x], key=functools.cmp_to_key(mycmp=lambda a, b: a.item()))", ["`a.item()` reads"]),
        ("sorted([x, x], key=functools.cmp_to_key(lambda a, b: a.item()))", ["`a.item()` reads"]),
        ("sorted([x, x], key=functools.cmp_to_key())", []),
        ("one, two = Derived(x), Derived(x)\n        one is two == one", ["part.sum().item()", "`==`"]),
        ("one, two = Derived(x), Derived(x)\n        one is two is one", ["part.sum().item()"]),
        ('json.dump({"a": 1}, io.StringIO())', ["`json.dump` "]),
        ('json.dumps({"a": 1})', ["`json.dumps` "]),
        ("argparse.Namespace(rate=1)", []),
        ("Derived(x)", ["part.sum().item()"]),
        ("Written()", []),
        ("x = self.held.pick(x)", ["nonzero"]),
    ],
)
def test_what_python_calls_itself_is_followed(line: str, messages: list[str], check_text: CheckText) -> None:
    found = [each.message for each in check_text(CALLED.format(line=line)).findings]
    assert [word in text for word, text in zip(messages, found, strict=True)] == [True] * len(messages)
