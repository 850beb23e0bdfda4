"""What a server keeps between two checks changes how long the second takes and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.interp.readout import Reader
from graphlint.interp.standing import Standing
from graphlint.lsp.desk import Desk
from graphlint.modules import Module
from graphlint.registry import Registry
from graphlint.types import Report
from tests.benchmarks.edits import Editor
from tests.test_cache import package as package  # a fixture

CONFIG = Config()


class Server:
    """Checks some files from buffers, with a standing project and without."""

    def __init__(self, rules: Registry, folder: Path) -> None:
        self.standing = Standing()
        self._rules = rules
        self._folder = folder

    def texts(self) -> dict[str, bytes]:
        """What an editor holds: every file but the helper, which others import from disk."""
        return {str(path): path.read_bytes() for path in sorted(self._folder.rglob("*.py")) if path.name != "helper.py"}

    def check(self, standing: Standing | None) -> Report:
        texts = self.texts()
        interpret = interpreter(CONFIG, texts, standing)
        return check(sorted(texts), CONFIG, self._rules, interpret, texts, at_once=True)


@pytest.fixture
def server(package: Path, rules: Registry) -> Server:
    return Server(rules, package)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules whose regions are interpreted, by the last word of their name."""
    names: list[str] = []
    plain = Reader.regions

    def noted(self: Reader, module: Module):  # type: ignore[no-untyped-def]  # gives what the method gives
        names.append(module.name.rpartition(".")[2])
        return plain(self, module)

    monkeypatch.setattr(Reader, "regions", noted)
    return names


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_lead_to_what_a_new_server_says(package: Path, server: Server, seed: int) -> None:
    editor = Editor(package, seed)
    server.check(server.standing)
    for _ in range(25):
        what = editor.edit()
        assert server.check(server.standing) == server.check(None), what


def test_only_what_rests_on_an_edit_is_interpreted_again(package: Path, server: Server, read: list[str]) -> None:
    server.check(server.standing)
    for path, expected in (
        (package / "model_1.py", ["model_1"]),
        (package / "layer.py", ["layer", *(f"model_{number}" for number in range(5))]),
    ):
        path.write_text(path.read_text() + "\nchanged = True\n")
        read.clear()
        server.check(server.standing)
        assert read == expected


def test_a_file_that_does_not_parse_for_a_moment_costs_nothing(package: Path, server: Server, read: list[str]) -> None:
    before = server.check(server.standing)
    path = package / "model_3.py"
    text = path.read_text()
    path.write_text(text + "def (\n")
    read.clear()
    assert [each.code for each in server.check(server.standing).findings if each.span.file.endswith("model_3.py")] == [
        "GL901"
    ]
    path.write_text(text)
    assert server.check(server.standing) == before
    assert read == []


def test_an_imported_file_is_read_again_when_it_was_written(package: Path, server: Server) -> None:
    before = server.check(server.standing)
    path = package / "helper.py"
    path.write_text(path.read_text().replace(".item()", ".abs()"))
    assert server.check(server.standing) == server.check(None) != before


def test_everything_is_dropped_after_many_edits(package: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphlint.interp.standing.MOST", 2)
    path = package / "model_1.py"
    for number in range(8):
        path.write_text(path.read_text() + f"\nchanged = {number}\n")
        assert server.check(server.standing) == server.check(None)


def test_settings_are_read_again_when_they_were_written(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.settings().ignore == ()
    (tmp_path / "graphlint.toml").write_text('ignore = ["GL1"]\n')
    assert desk.settings().ignore == ("GL1",)
    assert desk.settings() is desk.settings()
