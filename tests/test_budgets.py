"""Files and functions stay short; what is over its budget is listed here, and the lists may only shrink."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE, FUNCTION, RULE = 400, 40, 120
LONG_FILES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
VAGUE = {"utils", "common", "helpers", "misc", "shared"}


def sources() -> list[Path]:
    folders = ("graphlint", "rules", "tests")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_files_are_short() -> None:
    lengths = {named(path): len(path.read_text().splitlines()) for path in sources()}
    assert {name: length for name, length in lengths.items() if length > FILE} == LONG_FILES


def test_functions_are_short() -> None:
    found: dict[str, int] = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION:
                    found[f"{named(path)}:{node.name}"] = length
    assert found == LONG_FUNCTIONS


def test_rule_files_are_short() -> None:
    assert not [named(path) for path in sorted((ROOT / "rules").glob("*.py")) if len(path.read_text().splitlines()) > RULE]


def test_modules_are_named_by_what_they_hold() -> None:
    assert not [named(path) for path in sources() if path.stem in VAGUE or path.parent.name in VAGUE]


def test_every_module_says_what_it_is() -> None:
    assert not [
        named(path) for path in sources() if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
