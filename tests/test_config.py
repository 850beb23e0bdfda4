"""The nearest configuration file wins, and what it says is either understood or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.config import Config, load
from graphlint.errors import ConfigError
from graphlint.types import Confidence, Effect, Target


def project(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)


def test_every_key_is_read(tmp_path: Path) -> None:
    project(
        tmp_path,
        '[tool.graphlint]\nselect = ["GL1"]\nignore = ["GL104"]\nexclude = ["old"]\nmin-confidence = "possible"\n'
        'target = "graph"\nfail-on = "stale"\nregions = ["m.step"]\nrules = ["my.py"]\nbaseline = "b.json"\n'
        '[tool.graphlint.confirm]\ntargets = ["x.py:make"]\n',
    )
    found = load(tmp_path)
    assert (found.select, found.ignore, found.exclude) == (("GL1",), ("GL104",), ("old",))
    assert (found.min_confidence, found.target, found.fail_on) == (Confidence.POSSIBLE, Target.GRAPH, Effect.STALE)
    assert (found.regions, found.rules, found.baseline) == (("m.step",), ("my.py",), "b.json")
    assert found.confirm == {"targets": ["x.py:make"]}
    assert found.root == tmp_path


def test_the_nearest_file_wins_and_graphlint_toml_comes_first(tmp_path: Path) -> None:
    project(tmp_path, '[tool.graphlint]\nselect = ["GL1"]\n')
    project(tmp_path / "a", "[tool.other]\nx = 1\n")
    (tmp_path / "a" / "b").mkdir()
    assert load(tmp_path / "a" / "b").select == ("GL1",)
    (tmp_path / "graphlint.toml").write_text('select = ["GL2"]\n')
    assert load(tmp_path / "a").select == ("GL2",)


def test_nothing_above_the_repository_is_read(tmp_path: Path) -> None:
    project(tmp_path, '[tool.graphlint]\nselect = ["GL1"]\n')
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert load(tmp_path / "repo") == Config(root=tmp_path / "repo")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selekt = ["GL1"]', "unknown key `selekt`\n  did you mean `select`"),
        ('select = "GL1"', '`select` must be a list of strings\n  write it as `select = ["..."]`'),
        ("select = [1]", "`select` must be a list of strings"),
        ('target = "gpu"', '`target` must be one of graph, compile, both, not `gpu`\n  write it as `target = "graph"`'),
        ('min-confidence = "likly"', "not `likly`\n  did you mean `likely`?"),
        ("baseline = 1", "`baseline` must be a string"),
        ("confirm = 1", "`confirm` must be a table"),
        ("select = [", "`graphlint check --isolated`"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "graphlint.toml").write_text(text + "\n")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
    assert "graphlint.toml" in str(caught.value)


def test_a_table_of_another_kind_is_refused(tmp_path: Path) -> None:
    project(tmp_path, "[tool]\ngraphlint = 3\n")
    with pytest.raises(ConfigError, match="not a table"):
        load(tmp_path)
