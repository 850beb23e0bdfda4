"""What `graphlint check` imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "numpy", "libcst", "pygls", "rich", "multiprocessing", "asyncio")
ERRORS = ("difflib", "traceback", "shlex")
NEEDLESS = ("tomllib", "tomli", "pathspec", "importlib.metadata", "unittest", "email", "ssl", "_hashlib", *ERRORS)
PROGRAM = """
import sys
before = set(sys.modules)
from graphlint.cli import main
sys.argv = ["graphlint", "check", "model.py"]
try:
    main()
finally:
    print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
TEXT = "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(TEXT)
    return tmp_path


def test_checking_a_file_imports_nothing_heavy(model: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=model, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not [name for name in HEAVY + NEEDLESS if name in loaded]
    besides = [name for name in loaded if not name.startswith("graphlint_rules.")]  # a rule is a module
    assert len(besides) < 210, "more modules than before are imported on the way to a check"


def test_repeating_a_check_imports_next_to_nothing() -> None:
    program = "import sys; before = set(sys.modules); import graphlint.commands.quick; print(*set(sys.modules) - before)"
    # Without `site`, which in some environments imports much before anything is asked for.
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "graphlint.cache.printed" in loaded
    assert not loaded & {"typing", "re", "collections", "contextlib", "hashlib", "dataclasses", "pathlib"}
