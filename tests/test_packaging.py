"""What is on disk is what is shipped, and what is installed is not mixed up."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import graphlint
from graphlint import packs, registry
from graphlint.errors import InstallError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def on_disk() -> set[str]:
    folders = {path.parent for path in (ROOT / "graphlint").rglob("*.py")}
    engine = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    pack = {path.parent.relative_to(ROOT / "rules") for path in (ROOT / "rules").rglob("*.py")}
    return engine | {".".join(("graphlint_rules", *folder.parts)) for folder in pack}


def test_every_package_on_disk_is_listed() -> None:
    assert on_disk() == set(SETUPTOOLS["packages"]), "list it under [tool.setuptools] packages in pyproject.toml"


def test_every_data_file_is_shipped() -> None:
    shipped = {(package, pattern) for package, patterns in SETUPTOOLS["package-data"].items() for pattern in patterns}
    for package in on_disk():
        folder = ROOT.joinpath(*package.split(".")) if package.startswith("graphlint") else ROOT / "rules"
        folder = ROOT / "rules" if package == "graphlint_rules" else folder
        for path in folder.iterdir():
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                assert {("*", path.name), ("*", f"*{path.suffix}")} & shipped, f"{path} is not in package-data"


def test_version_is_said_once_in_each_place_that_needs_it() -> None:
    assert PROJECT["project"]["version"] == graphlint.__version__


def test_nothing_recommends_the_unrelated_distribution() -> None:
    wrong = re.compile(r"pip3? install (-U |--upgrade )?[\"']?graphlint\b")
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("graphlint/**/*.py"), *ROOT.glob("rules/*.py")]
    assert not [str(path) for path in texts if wrong.search(path.read_text())]


def test_the_pack_refuses_another_name() -> None:
    done = subprocess.run([sys.executable, "-c", "import rules"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "imported as `graphlint_rules`" in done.stderr


def test_a_pack_of_another_installation_is_refused(tmp_path: Path) -> None:
    pack = ModuleType("graphlint_rules")
    pack.__file__ = str(tmp_path / "graphlint_rules" / "__init__.py")
    with pytest.raises(InstallError, match="two installations are mixed up"):
        packs._side_by_side(pack)


def test_no_rule_at_all_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "declared", lambda: ())
    with pytest.raises(InstallError, match="no rule is installed"):
        registry.load()


def test_entry_points_are_read_as_the_standard_library_reads_them() -> None:
    metadata = importlib.import_module("importlib.metadata")
    found = {packs.Pack(each.name, each.value) for each in metadata.entry_points(group=packs.GROUP)}
    assert set(packs.declared()) == found


def test_a_pack_is_declared_by_its_section_alone(tmp_path: Path) -> None:
    folder = tmp_path / "other-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text(
        "[console_scripts]\nx = y:z\n\n[graphlint.rules]\n# ours\nextra = other.rules\n"
    )
    assert packs.declared([str(tmp_path), str(tmp_path / "missing")]) == (packs.Pack("extra", "other.rules"),)


def test_the_unrelated_distribution_is_noticed(tmp_path: Path) -> None:
    assert packs.stranger([str(tmp_path)]) == ""
    (tmp_path / "graphlint-0.3.dist-info").mkdir()
    assert packs.stranger([str(tmp_path)]) == str(tmp_path)


def test_every_rule_file_declares_one_rule_of_its_name() -> None:
    for pack in packs.declared():
        for module in packs.modules(pack):
            name = module.__name__.rpartition(".")[2].replace("_", "-")
            assert [rule.name for rule in registry.declared(module)] == [name], f"{module.__file__}"


def test_what_an_earlier_build_left_is_not_built_again(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for package in on_disk():
        folder = tmp_path / ("rules" if package == "graphlint_rules" else package.replace(".", "/"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    left = tmp_path / "build" / "lib" / "graphlint_rules" / "retired.py"
    left.parent.mkdir(parents=True)
    left.touch()
    build = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    subprocess.run([sys.executable, "-c", build], cwd=tmp_path, capture_output=True, check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "graphlint_rules/__init__.py" in names
    assert "graphlint_rules/retired.py" not in names
