"""Modules import only from their own layer and from lower ones, and only the command line talks to the world."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = (
    ("graphlint", "digest", "frames", "record", "types", "later", "errors", "case"),
    ("events", "around_events", "site_events"),
    ("notebook", "syntax", "platforms", "roots", "asked", "source", "outline"),
    ("discover", "options", "config", "perfile", "forked", "spread", "generated", "misnamed"),
    ("modules", "project", "ledger"),
    ("values",),
    ("effects",),
    ("captors", "spellings"),
    ("regions",),
    ("interp", "site"),
    ("rule", "notices", "page"),
    ("packs", "registry"),
    ("merge", "unmark", "suppress", "baseline"),
    ("account", "beyond"),
    ("judge", "pages"),
    ("cache",),
    ("check",),
    ("retold", "rerun"),
    ("report", "fix"),
    ("confirm", "emulate"),
    ("commands", "cli", "testing", "pytest_plugin", "__main__", "lsp"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
TALK = ("print", "sys.exit", "exit", "os.environ", "os.getenv", "sys.stdout")
FACE = ("commands", "cli", "__main__", "confirm", "emulate")
MODULES = sorted(path for path in (ROOT / "graphlint").rglob("*.py") if "__pycache__" not in path.parts)


def layer(path: Path) -> str:
    parts = path.relative_to(ROOT / "graphlint").with_suffix("").parts
    return "graphlint" if parts == ("__init__",) else parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names that a module imports, those for type checkers included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path: Path) -> None:
    own = layer(path)
    assert own in LEVEL, f"`{own}` has no layer yet: add it to LAYERS in tests/test_layers.py"
    for name in imported(ast.parse(path.read_text())):
        if name.startswith("graphlint."):
            below = name.split(".")[1]
            if below in LEVEL:
                assert LEVEL[below] <= LEVEL[own], f"`{own}` may not import `{name}`"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_imports_stay_at_the_edge(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(ast.parse(path.read_text()))}
    if layer(path) not in ("confirm", "emulate"):
        assert "torch" not in roots
    if layer(path) not in ("fix", "lsp") and path.stem != "mend":
        assert "libcst" not in roots, "only what writes sources needs libcst"
    assert "graphlint_rules" not in roots, "the rule pack is found through its entry point"


@pytest.mark.parametrize("path", [path for path in MODULES if layer(path) not in FACE], ids=lambda path: path.name)
def test_only_commands_print_exit_and_read_the_environment(path: Path) -> None:
    if 'if __name__ == "__main__"' in path.read_text():
        return
    for node in ast.walk(ast.parse(path.read_text())):
        text = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        assert text not in ("print", "sys.exit", "exit", "os.environ", "os.getenv", "sys.stdout"), (
            f"`{text}` in line {getattr(node, 'lineno', 0)}"
        )
