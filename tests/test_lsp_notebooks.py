"""A notebook in an editor that has its cells as documents of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from graphlint.errors import Unreadable
from graphlint.lsp import notebooks
from tests.test_lsp import Editor, play

FIRST = "%matplotlib inline\nimport torch\nfrom torch import nn\n"
HELPER = "def read(x):\n    note = '𝄞'; n = x.sum().item()\n    return x * n"
MODEL = "class Model(nn.Module):\n    def forward(self, x):\n        return read(x)\n"


def cell(name: str) -> str:
    return f"vscode-notebook-cell:/book.ipynb#{name}"


def item(name: str, text: str) -> lsp.TextDocumentItem:
    return lsp.TextDocumentItem(cell(name), "python", 0, text)


def code(name: str) -> lsp.NotebookCell:
    return lsp.NotebookCell(lsp.NotebookCellKind.Code, cell(name))


class Notebook(Editor):
    """An editor with one notebook."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        ability = lsp.NotebookDocumentClientCapabilities(lsp.NotebookDocumentSyncClientCapabilities())
        self.capabilities = lsp.ClientCapabilities(notebook_document=ability)

    def uri(self, name: str) -> str:
        return super().uri(name) if "." in name else cell(name)

    def show(self, **cells: str) -> None:
        document = lsp.NotebookDocument(self.uri("book.ipynb"), "jupyter-notebook", 0, [code(each) for each in cells])
        params = lsp.DidOpenNotebookDocumentParams(document, [item(name, text) for name, text in cells.items()])
        self.client.notebook_document_did_open(params)

    def edit(self, change: lsp.NotebookDocumentCellChanges) -> None:
        self.version += 1
        identity = lsp.VersionedNotebookDocumentIdentifier(self.version, self.uri("book.ipynb"))
        event = lsp.NotebookDocumentChangeEvent(cells=change)
        self.client.notebook_document_did_change(lsp.DidChangeNotebookDocumentParams(identity, event))

    def type(self, name: str, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(1, cell(name))
        content = lsp.NotebookDocumentCellContentChanges(document, [lsp.TextDocumentContentChangeWholeDocument(text)])
        self.edit(lsp.NotebookDocumentCellChanges(text_content=[content]))

    def close(self) -> None:
        identity = lsp.NotebookDocumentIdentifier(self.uri("book.ipynb"))
        cells = [lsp.TextDocumentIdentifier(cell(name)) for name in ("first", "model")]
        self.client.notebook_document_did_close(lsp.DidCloseNotebookDocumentParams(identity, cells))


def test_findings_stand_in_their_cells_with_all_that_is_offered(tmp_path: Path) -> None:
    async def scene(editor: Editor) -> None:
        assert isinstance(editor, Notebook)
        editor.show(first=FIRST, helper=HELPER, model=MODEL)
        (found,) = await editor.codes("helper", ["GL101"])
        assert (found.range.start, found.range.end) == (lsp.Position(1, 21), lsp.Position(1, 35))
        assert [each.location.uri for each in found.related_information or ()] == [cell("model")]
        for clean in ("first", "model"):
            await editor.codes(clean, [])
        document = lsp.TextDocumentIdentifier(cell("helper"))
        page = await editor.client.text_document_hover_async(lsp.HoverParams(document, found.range.start))
        assert page is not None and "GL101 host-read" in str(page.contents)
        (accept,) = await editor.actions("helper", found.range)
        assert accept.edit is not None and accept.edit.changes is not None
        ((where, edits),) = accept.edit.changes.items()
        assert (where, edits[0].range.start) == (cell("helper"), lsp.Position(1, 35))

    play(tmp_path, scene, Notebook(tmp_path))


def test_findings_follow_the_cells(tmp_path: Path) -> None:
    async def scene(editor: Editor) -> None:
        assert isinstance(editor, Notebook)
        editor.show(first=FIRST, helper=HELPER, model=MODEL)
        await editor.codes("helper", ["GL101"])
        editor.type("helper", "def read(x):\n    return x")
        await editor.codes("helper", [])
        editor.type("helper", HELPER)
        await editor.codes("helper", ["GL101"])
        moved = lsp.NotebookCellArrayChange(1, 1, [code("other")])
        structure = lsp.NotebookDocumentCellChangeStructure(
            moved, [item("other", f"\n{HELPER}")], [lsp.TextDocumentIdentifier(cell("helper"))]
        )
        editor.edit(lsp.NotebookDocumentCellChanges(structure=structure))
        (found,) = await editor.codes("other", ["GL101"])
        assert found.range.start.line == 2
        await editor.codes("helper", [])
        editor.type("first", "def torn(:\n")
        await editor.codes("first", ["GL901"])
        editor.close()
        await editor.codes("first", [])

    play(tmp_path, scene, Notebook(tmp_path))


def test_a_cell_is_read_line_for_line() -> None:
    data = notebooks.data(("a", "b"), {"a": "!ls\nx = 1", "b": "y = 2\n"}.__getitem__)
    assert notebooks.cell(data, 1) == b"pass\nx = 1\n"
    assert notebooks.cell(data, 2) == b"y = 2\n\n"
    with pytest.raises(Unreadable, match="no cell 3"):
        notebooks.cell(data, 3)
