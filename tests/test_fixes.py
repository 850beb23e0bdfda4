"""Fixes, each with a file before and after: what is written, that nothing else changes, and that eager code agrees."""

from __future__ import annotations

import ast
import importlib.util
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import libcst
import pytest
import torch

from graphlint.check import check, check_sources, read_text
from graphlint.config import Config
from graphlint.emulate import emulate
from graphlint.fix.names import undefined
from graphlint.fix.splice import overlap, spliced
from graphlint.fix.trial import Candidate, Mended, Texts, mended, tried, verified
from graphlint.interp import interpret, interpreter
from graphlint.registry import Registry
from graphlint.testing import assert_case_capturable
from graphlint.types import Edit, Fix, Report, Span

FOLDER = Path(__file__).parent / "fixes"
BEFORE = sorted(FOLDER.glob("*.before.py"))
NAME = "case.py"


def level(path: Path) -> str:
    words = path.name.split(".")
    return words[1] if words[1] in ("unsafe", "suggestion") else "safe"


def after(path: Path) -> Path:
    return path.with_name(path.name.replace(".before.", ".after."))


def checker(data: bytes, rules: Registry) -> Any:
    def check(texts: Texts) -> Report:
        return check_sources(read_text(texts.get(NAME, data), NAME), Config(), rules, interpret)

    return check


def fixed(path: Path, rules: Registry, to: str) -> bytes:
    data = path.read_bytes()
    check = checker(data, rules)
    done = mended(check({}), check, lambda name: data, to)
    assert done.refused == []
    return done.texts.get(NAME, data)


@pytest.mark.parametrize("path", BEFORE, ids=lambda path: path.name.removesuffix(".before.py"))
def test_what_is_written(path: Path, rules: Registry) -> None:
    assert fixed(path, rules, level(path)).decode() == after(path).read_text() != path.read_text()


@pytest.mark.parametrize(
    "path", [each for each in BEFORE if level(each) == "unsafe"], ids=lambda path: path.name.removesuffix(".before.py")
)
def test_what_is_unsafe_is_not_written_unasked(path: Path, rules: Registry) -> None:
    before = {ast.unparse(node) for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.expr)}
    unsafe = {ast.unparse(node) for node in ast.walk(ast.parse(after(path).read_bytes())) if isinstance(node, ast.expr)}
    safe = {ast.unparse(node) for node in ast.walk(ast.parse(fixed(path, rules, "safe"))) if isinstance(node, ast.expr)}
    assert unsafe - before
    assert not (unsafe - before) <= safe


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fix_{path.stem.replace('.', '_')}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case(path: Path) -> object:
    return loaded(path).build("cuda")


def flat(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else [tensor for each in value for tensor in flat(each)]


@pytest.mark.parametrize(
    "path",
    [each for each in BEFORE if "def run" in each.read_text()],
    ids=lambda path: path.name.removesuffix(".before.py"),
)
def test_eager_code_computes_the_same(path: Path) -> None:
    first, second = (flat(loaded(each).run()) for each in (path, after(path)))
    assert first
    for one, other in zip(first, second, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    "path",
    [each for each in BEFORE if "def build" in each.read_text()],
    ids=lambda path: path.name.removesuffix(".before.py"),
)
def test_a_capture_is_refused_or_stale_before_and_right_afterwards(path: Path) -> None:
    first, second = (emulate(partial(case, each)).result for each in (path, after(path)))
    assert first in ("refused", "stale")
    assert second == "captures"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(
    "path",
    [each for each in BEFORE if "def build" in each.read_text()],
    ids=lambda path: path.name.removesuffix(".before.py"),
)
def test_a_gpu_agrees(path: Path) -> None:
    with pytest.raises(AssertionError):
        assert_case_capturable(partial(case, path), device="cuda")
    assert_case_capturable(partial(case, after(path)), device="cuda")


def test_nothing_is_written_into_what_is_generated(rules: Registry) -> None:
    data = b"# generated from `layers/template.py`\n" + next(each for each in BEFORE if level(each) == "safe").read_bytes()
    check = checker(data, rules)
    done = mended(check({}), check, lambda name: data)
    assert done.report is not None and done.report.findings
    assert (done.texts, done.held, done.refused) == ({}, [], [])


@pytest.mark.parametrize("style", ["\r\n", "\r", "bom", "latin"])
def test_line_ends_and_encodings_stay(style: str, rules: Registry, tmp_path: Path) -> None:
    text = (FOLDER / "literals.before.py").read_text()
    wanted = (FOLDER / "literals.after.py").read_text()

    def styled(plain: str) -> bytes:
        if style == "latin":
            return ("# coding: latin-1\n# né\n" + plain).encode("latin-1")
        return b"\xef\xbb\xbf" + plain.encode() if style == "bom" else plain.replace("\n", style).encode()

    path = tmp_path / NAME
    path.write_bytes(styled(text))
    assert fixed(path, rules, "safe") == styled(wanted)


def test_a_fix_that_brings_another_finding_is_left(rules: Registry) -> None:
    text = (
        b"import torch\n\n\n# graphlint: region\ndef step(x):\n"
        b"    position = torch.arange(4)\n    first = [int(each) for each in position]\n"
        b"    return x + position.to(x.device), first\n"
    )
    check = checker(text, rules)
    done = mended(check({}), check, lambda name: text, "unsafe")
    assert [each.finding.code for each in done.refused] == ["GL302"]
    assert done.texts == {}


def test_what_may_be_a_list_is_left_to_a_person(rules: Registry) -> None:
    text = (FOLDER / "literal_names.unsafe.before.py").read_bytes().replace(b"scale: float", b"scale")
    check = checker(text, rules)
    assert b"torch.tensor(self.scale" in mended(check({}), check, lambda name: text, "unsafe").texts[NAME]
    assert {each.safety for each in verified(check({}), check, lambda name: text).values()} == {"suggestion", "unsafe"}


def test_fixes_that_hold_are_known_without_writing(rules: Registry) -> None:
    data = (FOLDER / "literals.before.py").read_bytes()
    check = checker(data, rules)
    report = check({})
    found = verified(report, check, lambda name: data)
    assert set(found) == {each.fingerprint for each in report.findings}
    assert {each.safety for each in found.values()} == {"safe"}


@pytest.mark.parametrize("nearby", [False, True])
def test_one_fix_that_does_not_hold_takes_no_other_with_it(rules: Registry, nearby: bool) -> None:
    good = "".join(
        f"\n\n# graphlint: region\ndef good{i}(x):\n    return x * torch.tensor({i}.5, device=x.device)\n" for i in range(5)
    )
    text = (
        b"import torch\n\n\n# graphlint: region\ndef step(x):\n"
        b"    position = torch.arange(4)\n    first = [int(each) for each in position]\n"
        b"    return x + position.to(x.device), first\n"
    ) + good.encode()
    check = checker(text, rules)
    report = check({})
    asked: list[int] = []

    def counted(texts: Texts) -> Report:
        asked.append(len(texts))
        found: Report = check(texts)
        return found

    fixes = verified(report, counted, lambda name: text, "unsafe", (lambda texts, files: check(texts)) if nearby else None)
    held = [each.code for each in report.findings if each.fingerprint in fixes]
    assert held == ["GL301"] * 5 and "GL302" in {each.code for each in report.findings}
    assert len(asked) <= (2 if nearby else 6)


def test_edits_that_touch_are_not_made_together() -> None:
    one, same = (Edit(Span("a.py", 1, 2, 1, 5), "x") for _ in range(2))
    inside, behind = Edit(Span("a.py", 1, 3, 1, 4), "y"), Edit(Span("a.py", 1, 5, 1, 6), "z")
    assert not overlap([one], [same])
    assert overlap([one], [inside])
    assert not overlap([one], [behind])
    assert not overlap([one], [Edit(Span("b.py", 1, 3, 1, 4), "y")])
    assert spliced(b"ab-xx-c\n", [Edit(Span("a.py", 1, 2, 1, 6), "+"), Edit(Span("a.py", 1, 2, 1, 6), "+")]) == b"ab+c\n"


def test_libcst_gives_back_every_byte_of_real_files() -> None:
    files = sorted(each for each in Path(torch.__file__).parent.rglob("*.py") if each.stat().st_size < 12_000)
    sample = random.Random(7).sample(files, 500)
    for path in sample:
        data = path.read_bytes()
        assert libcst.parse_module(data).bytes == data, path


USER = """import torch
from .common import shifted


class Model{number}(torch.nn.Module):
    def forward(self, x):
        return shifted(x / x.abs().max().item())
"""
COMMON = "import torch\n\n\ndef shifted(x):\n    return x + torch.arange(8).to(x.device)\n"


def test_a_tree_is_mended_file_by_file_and_checked_as_a_whole(
    rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package").mkdir()
    files = {"__init__.py": "", "common.py": COMMON} | {f"m{n}.py": USER.format(number=n) for n in range(30)}
    for name, text in files.items():
        (tmp_path / "package" / name).write_text(text)
    asked: list[int] = []

    def run(texts: Texts, files: Sequence[str] = ()) -> Report:
        asked.append(len(files))
        unsaved = {str(tmp_path / name): text for name, text in texts.items()}
        paths = [str(tmp_path / name) for name in files] or [str(tmp_path)]
        return check(paths, Config(root=tmp_path), rules, interpreter(Config(), unsaved), unsaved)

    done = mended(run({}), run, lambda name: (tmp_path / name).read_bytes(), near=run)
    assert (len(done.held), done.refused, len(done.texts)) == (31, [], 31)
    assert done.report is not None and done.report.findings == ()
    assert b"torch.arange(8, device=x.device)" in done.texts["package/common.py"]
    assert asked.count(0) == 2, "at first, and after all files were mended by themselves"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import torch\n\n\ndef f(x):\n    return torch.ones(x) + y\n", {"y"}),
        ("y = 1\n\n\nclass A:\n    z = y\n\n    def f(self):\n        return z + len(self.__class__.__name__)\n", {"z"}),
        ("def f():\n    global g\n    g = 1\n\n\ndef h():\n    return g, [k for k in h()], lambda a: a + b\n", {"b"}),
        ("print(a)\n", {"a"}),
        ("x = (", set()),
    ],
)
def test_names_that_nothing_defines_are_known(text: str, wanted: set[str]) -> None:
    assert undefined(text) == wanted


def test_a_fix_that_reads_what_is_not_there_is_refused(rules: Registry) -> None:
    data = b"# graphlint: region\ndef step(x):\n    return x / x.max().item()\n"
    report = checker(data, rules)({})
    (found,) = report.findings
    for text, holds in (("x.max().detach()", True), ("y.max().detach()", False)):
        fix = Fix("try", "safe", (Edit(found.span, text),))
        made = tried(Mended(report=report), [Candidate(found, fix)], checker(data, rules), lambda name: data)
        assert (made is not None) is holds
