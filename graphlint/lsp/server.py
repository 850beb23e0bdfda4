"""The protocol: a check on open, on save and a moment after the last change; what is no longer wanted is given up.

Checks run one after another in a thread of their own, so that requests are answered meanwhile.  Each folder of a
workspace has a desk, with a configuration and rules of its own; what is outside of them all lies on the first.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from graphlint import __version__, notebook
from graphlint.discover import reported
from graphlint.errors import GraphlintError
from graphlint.lsp import convert, notebooks
from graphlint.lsp.convert import Writer
from graphlint.lsp.desk import Desk, Stopped
from graphlint.types import Finding, Report

DELAY = 0.25
PATIENCE = 1.0
"""Seconds after which it is shown that a check is under way."""
STACK = 256 << 20
"""Bytes of stack of the thread that checks: expressions of generated code nest deeply."""
UNSAVED = "untitled:"
"""How the address begins of a buffer that was never saved."""
T = TypeVar("T")


class Server(LanguageServer):
    """A server with its desks, by their roots; `generation` counts what makes a check that is still running useless.

    `documents` are, by path, the addresses of what is open otherwise than as a file: the cells of a notebook, or a buffer
    that was never saved, which is given a path in the first folder.
    """

    def __init__(self) -> None:
        super().__init__("graphlint", __version__, notebook_document_sync=notebooks.SYNC)
        self.documents: dict[str, tuple[str, ...]] = {}
        self.desks = [Desk(Path.cwd())]
        self.generation: Counter[Path] = Counter()
        self.pending: dict[Path, asyncio.Task[None]] = {}
        self.refused: dict[Path, str] = {}
        self.is_ended = False
        before = threading.stack_size(STACK)
        self.worker = ThreadPoolExecutor(1, "graphlint")
        self.worker.submit(int).result()  # the thread takes its stack when it starts
        threading.stack_size(before)

    def settle(self) -> None:
        """A desk for every folder of the workspace; those that are there already stay, and what is open moves."""
        folders = [path for each in self.workspace.folders if (path := convert.path(each))]
        first = self.workspace.root_path or (folders[0] if folders else str(Path.cwd()))
        known = {desk.root: desk for desk in self.desks}
        texts = {path: text for desk in self.desks for path, text in desk.open.items()}
        roots = [Path(each) for each in dict.fromkeys((first, *folders))]
        self.desks = [known.get(root) or Desk(root) for root in roots]
        for desk in self.desks:
            desk.open.clear()
        for path, text in texts.items():
            self.desk(path).open[path] = text

    def desk(self, path: str) -> Desk:
        """The desk of the innermost folder around a file, or the first."""
        around = [desk for desk in self.desks if path.startswith(os.path.join(desk.root, ""))]
        return max(around, key=lambda desk: len(str(desk.root)), default=self.desks[0])

    async def work(self, doing: Callable[[], T]) -> T:
        """Do something in the thread that checks; what takes long is shown as under way where the client can show it."""
        telling = asyncio.create_task(self._tell()) if self._shows_progress() else None
        try:
            return await asyncio.get_running_loop().run_in_executor(self.worker, doing)
        finally:
            if telling is not None:
                telling.cancel()

    def _shows_progress(self) -> bool:
        window = self.client_capabilities.window
        return window is not None and bool(window.work_done_progress)

    async def _tell(self) -> None:
        """Show that something is under way, from a moment later until this is cancelled."""
        await asyncio.sleep(PATIENCE)
        token = str(uuid4())
        await self.work_done_progress.create_async(token)
        self.work_done_progress.begin(token, lsp.WorkDoneProgressBegin("graphlint", message="checking"))
        try:
            await asyncio.Event().wait()
        finally:
            self.work_done_progress.end(token, lsp.WorkDoneProgressEnd())

    def writer(self, desk: Desk, report: Report) -> Writer:
        open = {reported(path): text for path, text in desk.open.items()}
        return Writer(convert.texts(report.lines, open), self.workspace.position_encoding or "utf-16", self.address)

    def address(self, file: str) -> str:
        """Where an editor has a reported file, or a cell of one."""
        name, cell = notebook.split(file)
        known = self.documents.get(os.path.abspath(name), ())
        return known[min(cell or 1, len(known)) - 1] if known else convert.uri(file)

    def path(self, address: str) -> str:
        """The file of an address, the notebook of a cell, or the path that a buffer was given; empty for what is none."""
        return next((path for path, every in self.documents.items() if address in every), "") or convert.path(address)

    def later(self, desk: Desk, delay: float, thorough: bool) -> None:
        """Check after a delay, in the place of what was going to be checked."""
        root = desk.root
        self.generation[root] += 1
        if root in self.pending:
            self.pending[root].cancel()
        doing = self._check(desk, delay, thorough, self.generation[root])
        self.pending[root] = asyncio.get_running_loop().create_task(doing)

    async def _check(self, desk: Desk, delay: float, thorough: bool, generation: int) -> None:
        await asyncio.sleep(delay)
        texts = dict(desk.open)
        try:
            doing = partial(desk.kept_up, texts, thorough, lambda: generation != self.generation[desk.root])
            report = await self.work(partial(caught, doing))
        except GraphlintError as error:
            self.tell(desk, str(error))
            return
        if report is not None and generation == self.generation[desk.root]:
            self.refused.pop(desk.root, None)
            desk.report = report
            self.publish(desk)

    def tell(self, desk: Desk, said: str) -> None:
        """Say that nothing can be checked: before the eyes of the user once, and always in the log."""
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, said))
        if self.refused.get(desk.root) != said:
            self.refused[desk.root] = said
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"graphlint: {said}"))

    def publish(self, desk: Desk) -> None:
        """Send what was found in every open file."""
        writer = self.writer(desk, desk.report)
        for path in sorted(desk.open):
            # A notebook that is open as text has none: places in cells say nothing of its lines.
            is_text = path.endswith(notebook.SUFFIX) and path not in self.documents
            found = [] if is_text else desk.findings(path)
            for there in self.documents.get(path, (self.address(path),)):
                self.show(there, [writer.diagnostic(each) for each in found if writer.address(each.span.file) == there])

    def show(self, address: str, found: list[lsp.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(address, found))

    def held(self, address: str) -> str:
        """Take over the text of a buffer; gives its path, or nothing for what is no Python file."""
        document = self.workspace.get_text_document(address)
        path = self.path(address)
        if address.startswith(UNSAVED) and document.language_id == "python" and not path:
            name = re.sub(r"\W+", "_", address.removeprefix(UNSAVED))
            path = os.path.abspath(os.path.join(self.desks[0].root, f"{name}.py"))
            self.documents[path] = (address,)
        if not path.endswith((".py", ".ipynb")):
            return ""
        self.desk(path).open[path] = document.source.encode(errors="replace")
        return path

    def held_notebook(self, address: str) -> str:
        """Take over a notebook; gives its path. What is no longer one of its cells has no findings any more."""
        path = convert.path(address)
        document = self.workspace.get_notebook_document(notebook_uri=address)
        if document is None or not path:
            return ""
        cells = tuple(each.document for each in document.cells if each.kind == lsp.NotebookCellKind.Code)
        self.forget(path, cells)
        self.documents[path] = cells
        self.desk(path).open[path] = notebooks.data(cells, lambda each: self.workspace.get_text_document(each).source)
        return path

    def forget(self, path: str, kept: tuple[str, ...] = ()) -> None:
        """Take the findings away from documents of a path that are gone."""
        for each in self.documents.pop(path, ()):
            if each not in kept:
                self.show(each, [])

    def at(self, address: str, place: lsp.Range, report: Report) -> list[Finding]:
        """The findings of a report whose range touches another."""
        path = self.path(address)
        writer = self.writer(self.desk(path), report)
        where = {address, convert.uri(path)} if path else {address}
        own = (each for each in report.findings if writer.address(each.span.file) in where)
        return [each for each in own if _touch(writer.range(each.span), place)]

    def again(self, desk: Desk, is_stale: Callable[[], bool], texts: Mapping[str, bytes]) -> Report:
        """Check with some files changed, by reported name; raises `Stopped`."""
        changed = {convert.path(convert.uri(name)): text for name, text in texts.items()}
        return desk.checked({**desk.open, **changed}, True, is_stale)


def caught(doing: Callable[[], T]) -> T | None:
    """What is done, or None if it was given up."""
    try:
        return doing()
    except Stopped:
        return None


def _touch(one: lsp.Range, other: lsp.Range) -> bool:
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(place: lsp.Position) -> tuple[int, int]:
    return place.line, place.character
