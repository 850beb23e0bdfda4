"""Odd and huge but valid files are read to their end, quickly, and never with a traceback."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import pytest

from graphlint.baseline import fingerprinted
from graphlint.digest import blake2b
from graphlint.types import Report, Span
from tests.conftest import CheckText
from tests.sample import READ

HEAD = "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
PROGRAMS = {
    "a long sum": HEAD + "        return " + " + ".join(["x"] * 900) + "\n",
    "a long chain of calls": HEAD + "        return x" + ".relu()" * 300 + ".item()\n",
    "nested lists": HEAD + "        return " + "[" * 90 + "x.item()" + "]" * 90 + "\n",
    "nested lambdas": HEAD + "        return " + "(lambda: " * 60 + "x.item()" + ")()" * 60 + "\n",
    "many lines": HEAD + "".join(f"        x = x + {n}\n" for n in range(10_000)) + "        return x.item()\n",
    "many classes": "".join(HEAD.replace("Model", f"M{n}") + "        return x.item()\n" for n in range(500)),
    "a large table": "T = {" + ",".join(f"'{n}': {n}" for n in range(10_000)) + "}\n" + HEAD + "        return x.item()\n",
    "deep branches": HEAD
    + "".join("    " * (2 + n) + f"if self.a{n}:\n" for n in range(80))
    + "    " * 82
    + "return x.item()\n",
    "a long line": HEAD + "        return [" + "x.item(), " * 3000 + "'x'" + ", 1" * 200_000 + "]\n",
    "many branches": HEAD + "".join(f"        if self.a == {n}:\n            x = x.item()\n" for n in range(500)),
    "recursion": HEAD + "        return self.forward(self.forward(x)).item()\n",
    "bases in a circle": "class A(B): ...\nclass B(A): ...\n"
    + HEAD.replace("torch.nn.Module", "torch.nn.Module, A")
    + "        return x.item()\n",
    "an import of itself": "from example import *\nimport example\n" + HEAD + "        return x.item()\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_read_to_its_end(name: str, check_text: CheckText) -> None:
    started = time.perf_counter()
    report: Report = check_text(PROGRAMS[name])
    assert time.perf_counter() - started < 30, "far longer than any of these takes"
    assert not [each.message for each in report.findings if each.code == "GL905"]
    assert report.regions or any(each.code == "GL904" for each in report.findings)


def test_calls_that_lead_to_ever_new_arguments_are_cut_off_and_say_so(check_text: CheckText) -> None:
    calls = [f"f{m}(x, (n, {m}))" for m in range(7)]
    functions = "".join(f"def f{m}(x, n):\n    return {' + '.join(calls)}\n\n\n" for m in range(7))
    first, later = HEAD + "        y = x.sum().item()\n", "        return f0(x, y)\n\n\n"
    other = HEAD.replace("Model", "Other").replace("import torch\n", "") + "        return f0(x, 1), x.max().item()\n"
    started = time.process_time()
    report = check_text(functions + first + later + other)
    assert time.process_time() - started < 30, "each region ends after a set amount of work"
    assert [each.code for each in report.findings] == ["GL101", "GL101"]
    assert (len(report.regions), report.limits > 0) == (2, True)


def test_what_is_found_before_the_end_of_the_stack_is_told(check_text: CheckText) -> None:
    deep = HEAD + "        first = x.sum().item()\n        return first + helper(x)\n\n\n"
    deep += f"def helper(x):\n    second = x.max().item()\n    return {'x + ' * 1500}second\n"
    report = check_text(deep + HEAD.replace("Model", "Other").replace("import torch\n", "") + "        return helper(x)\n")
    assert sorted(each.code for each in report.findings) == ["GL101", "GL101", "GL904", "GL904"]
    (shared,) = (each for each in report.findings if "max" in each.message)
    assert shared.regions == ("example.Model.forward", "example.Other.forward")


def test_an_iterator_that_is_its_own_is_followed_by_its_next(check_text: CheckText) -> None:
    own = "class Walk:\n    def __init__(self, x):\n        self.x = x\n\n    def __iter__(self):\n        return self\n\n"
    following = "    def __next__(self):\n        return self.x.item()\n\n\n"
    body = "        for each in Walk(x):\n            x = x + each\n        return x\n"
    report = check_text(own + following + HEAD + body)
    assert [each.code for each in report.findings] == ["GL101"]
    assert check_text(own + "\n" + HEAD + body).findings == ()


CAPTURE = (
    "def main(model, x):\n    graph = torch.cuda.CUDAGraph()\n    with torch.cuda.graph(graph):\n        y = model(x)\n"
)
RUN = "    def run(v):\n        x.copy_(v)\n        graph.replay()\n        return y\n"
KEEPING = CAPTURE.replace("model, x", "model, x, state").replace("y = model(x)", "y = model(x)\n        state.y = y")
REPEATED = {
    "results that a region keeps": ("import torch\n" + KEEPING, "        state.y = y * 2\n"),
    "a parameter bound anew": (HEAD.replace("x)", "x, y)"), "        x = y * 2\n"),
    "calls of what replays": ("import torch\n" + CAPTURE + RUN, "    run(x)\n"),
}


@pytest.mark.parametrize("name", REPEATED)
def test_four_times_as_much_takes_about_four_times_as_many_calls(name: str, check_text: CheckText) -> None:
    head, part = REPEATED[name]

    def calls(times: int) -> int:
        made = 0

        def note(frame: object, event: str, given: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            report = check_text(head + part * times)
        finally:
            sys.setprofile(None)
        assert report.regions
        return made

    calls(25)  # what is loaded once
    few, many = calls(100), calls(400)
    assert many < 6 * few, f"{many:,} calls for {few:,}"


def test_the_text_of_a_line_is_gone_through_once_however_many_findings_stand_on_it() -> None:
    found = [replace(READ, span=Span("m.py", 1, column, 1, column + 1)) for column in range(50)]
    asked: list[Span] = []

    def text(span: Span) -> str:
        asked.append(span)
        return "x = [x.item(),   x.item()]"

    marks = [each.fingerprint for each in fingerprinted([*found, replace(READ, span=Span("n.py", 1, 0, 1, 1))], text, str)]
    keys = [*(("m.py", number) for number in range(1, 51)), ("n.py", 1)]
    expected = [f"GL101\n{file}\nx = [x.item(), x.item()]\n{number}".encode() for file, number in keys]
    assert marks == [blake2b(each, digest_size=8).hexdigest() for each in expected]
    assert len(asked) == 2
