"""One definition of the configuration: what is read, its JSON schema, and what `graphlint config` shows."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest

from graphlint import config, options
from graphlint.config import Config
from graphlint.errors import ConfigError
from graphlint.options import OPTIONS
from tests.conftest import CheckText
from tests.test_cli import CLEAN, FAULTY, graphlint

OWN = ("root", "origin", "said")


def schema() -> dict[str, object]:
    return options.schema(config.defaults())


def test_every_key_is_a_field_and_every_field_a_key() -> None:
    assert sorted(each.field for each in OPTIONS) == sorted(each.name for each in fields(Config) if each.name not in OWN)


def test_the_schema_accepts_and_refuses_what_the_reader_does(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    values: list[object] = [["a"], "graph", "possible", "stale", True, {}, {"a": ["b"]}, {"a": "b"}, 3, [1], "x"]
    for option in OPTIONS:
        for value in values:
            valid = jsonschema.Draft202012Validator(schema()).is_valid({option.key: value})
            try:
                config.parsed({option.key: value}, tmp_path / "graphlint.toml")
            except ConfigError:
                assert not valid, (option.key, value)
            else:
                assert valid, (option.key, value)
    assert not jsonschema.Draft202012Validator(schema()).is_valid({"selekt": []})


def test_the_schema_says_the_defaults() -> None:
    properties = schema()["properties"]
    assert isinstance(properties, dict)
    assert properties["min-confidence"]["default"] == "likely"
    assert all(jsonschema.Draft202012Validator(each).is_valid(each["default"]) for each in properties.values())


def test_settings_are_shown_with_where_they_come_from(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[tool.graphlint]\ntarget = "graph"\n\n'
        '[tool.graphlint.per-file-ignores]\n"a.py" = ["GL1"]\n'
    )
    text = graphlint("config", cwd=tmp_path).stdout
    assert "# pyproject.toml\n" in text
    assert 'target = "graph"' in text
    assert "# pyproject.toml:5" in text
    assert 'per-file-ignores = {"a.py" = ["GL1"]}' in text
    assert "# pyproject.toml:7" in text
    shown = json.loads(graphlint("config", "--format", "json", cwd=tmp_path).stdout)["settings"]
    assert shown["fail-on"] == {"value": "defeats", "origin": "default"}
    assert json.loads(graphlint("config", "--schema", cwd=tmp_path).stdout) == schema()
    assert "no configuration file was found" in graphlint("config", cwd=Path(tmp_path.root)).stdout


def test_what_is_shown_can_be_written_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "graphlint.toml").write_text(graphlint("config", cwd=tmp_path).stdout)
    found = config.load(tmp_path)
    assert {each.field: getattr(found, each.field) or None for each in OPTIONS} == {
        each.field: getattr(Config(), each.field) or None for each in OPTIONS
    }


def test_codes_are_left_out_by_file(tmp_path: Path) -> None:
    for name in ("model.py", "tools/model.py", "tools/deep/other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FAULTY)
    (tmp_path / "graphlint.toml").write_text(
        'select = ["GL101"]\n[per-file-ignores]\n"tools/" = ["GL1"]\n"deep/*.py" = []\n'
    )
    assert graphlint("check", "--format", "concise", cwd=tmp_path).stdout.count("GL101") == 1
    assert graphlint("check", "--format", "concise", "model.py", cwd=tmp_path / "tools").returncode == 0
    (tmp_path / "graphlint.toml").write_text('[per-file-ignores]\n"tools/" = ["GL77"]\n')
    assert "no rule has the code or name `GL77`" in graphlint("check", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("settings", "regions"),
    [
        ({}, 2),
        ({"only_regions": ("*.Model.*",)}, 1),
        ({"only_regions": ("nothing",)}, 0),
        ({"skip_regions": ("*.Model.forward",)}, 1),
        ({"only_regions": ("*",), "skip_regions": ("example.*",)}, 0),
    ],
)
def test_regions_are_chosen_by_name(check_text: CheckText, settings: dict[str, object], regions: int) -> None:
    text = FAULTY + CLEAN.replace("Model", "Other").removeprefix("import torch\n")
    assert len(check_text(text, **settings).regions) == regions


def test_packs_are_chosen_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FAULTY)
    (tmp_path / "graphlint.toml").write_text('packs = ["builtin"]\n')
    assert graphlint("check", cwd=tmp_path).returncode == 1
    (tmp_path / "graphlint.toml").write_text('packs = ["bultin"]\n')
    done = graphlint("check", cwd=tmp_path)
    assert (done.returncode, "no rule pack `bultin` is installed\n  did you mean `builtin`?" in done.stderr) == (2, True)


def test_reasons_can_be_required(check_text: CheckText) -> None:
    bare = FAULTY.replace(".item()", ".item()  # graphlint: ignore[GL101]")
    assert [each.code for each in check_text(bare).findings] == ["GL906"]
    assert [each.code for each in check_text(bare, require_reasons=True).findings] == ["GL101", "GL906"]
    told = FAULTY.replace(".item()", ".item()  # graphlint: ignore[GL101] -- once")
    assert check_text(told, require_reasons=True).findings == ()
