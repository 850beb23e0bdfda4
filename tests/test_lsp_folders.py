"""What an editor does around its buffers: several folders, files that change on disk, a configuration that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.test_cli import FAULTY
from tests.test_lsp import HELPER, USES, Editor, play


def changed(editor: Editor, name: str, kind: lsp.FileChangeType = lsp.FileChangeType.Changed) -> None:
    events = [lsp.FileEvent(editor.uri(name), kind)]
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))


def test_each_folder_of_a_workspace_has_its_own_configuration(tmp_path: Path) -> None:
    for name, text in (("one", 'ignore = ["GL101"]\n'), ("two", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "graphlint.toml").write_text(text)
    both = Editor(tmp_path)
    both.folders = ["one", "two"]

    async def scene(editor: Editor) -> None:
        for name in ("one/model.py", "two/model.py", "model.py"):
            editor.open(name, FAULTY)
        await editor.codes("one/model.py", [])
        (found,) = await editor.codes("two/model.py", ["GL101"])
        await editor.codes("model.py", [])  # outside of both, it goes by the first
        titles = [each.title for each in await editor.actions("two/model.py", found.range)]
        assert "graphlint: accept GL101 here" in titles
        gone = lsp.WorkspaceFoldersChangeEvent([], [lsp.WorkspaceFolder(editor.uri("one"), "one")])
        editor.client.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(gone))
        await editor.codes("model.py", ["GL101"])

    play(tmp_path, scene, both)


def test_files_that_change_on_disk_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def read(x):\n    return x\n")
    watching = Editor(tmp_path)
    ability = lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    watching.capabilities = lsp.ClientCapabilities(
        workspace=lsp.WorkspaceClientCapabilities(did_change_watched_files=ability)
    )

    async def scene(editor: Editor) -> None:
        await editor.until(lambda: bool(editor.watched))
        assert [each.method for each in editor.watched] == [lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES]
        editor.open("model.py", USES)
        await editor.codes("model.py", [])
        (tmp_path / "helper.py").write_text(HELPER)
        editor.open("helper.py", HELPER)
        await editor.codes("helper.py", ["GL101"])
        (tmp_path / "graphlint.toml").write_text('ignore = ["GL101"]\n')
        changed(editor, "graphlint.toml", lsp.FileChangeType.Created)
        await editor.codes("helper.py", [])
        (tmp_path / "graphlint.toml").unlink()
        changed(editor, "graphlint.toml", lsp.FileChangeType.Deleted)
        await editor.codes("helper.py", ["GL101"])

    play(tmp_path, scene, watching)


def test_others_are_checked_again_when_a_buffer_is_closed(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def read(x):\n    return x\n")
    reads = USES.replace("from helper import read\n", "from helper import read, other\n")

    async def scene(editor: Editor) -> None:
        editor.open("model.py", reads)
        editor.open("helper.py", "import torch\n\n\n# graphlint: region\ndef read(x):\n    return x.sum().item()\n")
        await editor.codes("helper.py", ["GL101"])
        await editor.until(lambda: editor.uri("model.py") in editor.told)
        told = len(editor.told[editor.uri("model.py")])
        params = lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(editor.uri("helper.py")))
        editor.client.text_document_did_close(params)
        await editor.codes("helper.py", [])
        await editor.until(lambda: len(editor.told[editor.uri("model.py")]) > told)

    play(tmp_path, scene)


def test_configuration_and_its_errors_reach_the_editor(tmp_path: Path) -> None:
    (tmp_path / "graphlint.toml").write_text('ignore = ["GL101"]\n')

    async def scene(editor: Editor) -> None:
        editor.open("model.py", FAULTY)
        await editor.codes("model.py", [])
        (tmp_path / "graphlint.toml").write_text("")
        editor.save("model.py")
        await editor.codes("model.py", ["GL101"])
        (tmp_path / "graphlint.toml").write_text("ignor = []\n")
        editor.save("model.py")
        await editor.until(lambda: bool(editor.logged))
        assert "unknown key `ignor`" in editor.logged[0].message

    play(tmp_path, scene)


def test_a_wrong_configuration_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "graphlint.toml").write_text("ignor = []\n")

    async def scene(editor: Editor) -> None:
        editor.open("model.py", FAULTY)
        await editor.until(lambda: len(editor.logged) == 1)
        editor.save("model.py")
        await editor.until(lambda: len(editor.logged) == 2)
        assert len(editor.said) == 1
        assert "unknown key `ignor`" in editor.said[0]
        (tmp_path / "graphlint.toml").write_text("")
        editor.save("model.py")
        await editor.codes("model.py", ["GL101"])

    play(tmp_path, scene)


def test_a_buffer_that_was_never_saved_is_checked(tmp_path: Path) -> None:
    address = "untitled:Untitled-1"

    async def scene(editor: Editor) -> None:
        for where, language in ((address, "python"), ("untitled:Untitled-2", "markdown")):
            item = lsp.TextDocumentItem(where, language, 0, FAULTY)
            editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        await editor.until(lambda: any(editor.told.get(address, [])))
        ((found,),) = editor.told[address]
        document = lsp.TextDocumentIdentifier(address)
        page = await editor.client.text_document_hover_async(lsp.HoverParams(document, found.range.start))
        assert page is not None
        editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
        await editor.until(lambda: editor.told[address][-1] == [])
        assert set(editor.told) == {address}

    play(tmp_path, scene)


def test_a_line_ends_where_the_protocol_says(tmp_path: Path) -> None:
    odd = 'NOTE = "\u2028\x0c"\n'

    async def scene(editor: Editor) -> None:
        editor.open("model.py", odd + FAULTY)
        (found,) = await editor.codes("model.py", ["GL101"])
        assert found.range.start.line == 1 + FAULTY[: FAULTY.index(".item()")].count("\n")

    play(tmp_path, scene)


@pytest.mark.parametrize(("asks", "status"), [(True, 0), (False, 1)])
def test_an_end_that_was_not_asked_for_is_a_failure(asks: bool, status: int, tmp_path: Path) -> None:
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        *([{"id": 2, "method": "shutdown"}] if asks else []),
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **each}).encode() for each in messages]
    said = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(each), each) for each in bodies)
    command = [sys.executable, "-c", "from graphlint.cli import main; main()", "lsp"]
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, input=said, capture_output=True, cwd=tmp_path, env=settings, timeout=60)
    assert done.returncode == status
