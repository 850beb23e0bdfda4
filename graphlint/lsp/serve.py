"""The features of the server, one function each, and how it is started."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from functools import partial

from lsprotocol import types as lsp

from graphlint.commands.explain import page
from graphlint.errors import GraphlintError
from graphlint.lsp import actions, convert
from graphlint.lsp.desk import Desk
from graphlint.lsp.server import DELAY, Server, caught
from graphlint.report.fenced import fenced
from graphlint.types import Finding

KINDS: list[lsp.CodeActionKind | str] = [lsp.CodeActionKind.QuickFix, actions.FIX_ALL]

WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/graphlint.toml")


def initialized(server: Server, params: lsp.InitializedParams) -> None:
    server.settle()
    watching = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
    if watching and watching.dynamic_registration:
        options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(each) for each in WATCHED])
        files = lsp.Registration("graphlint.files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(lsp.RegistrationParams([files]), lambda _: None)


def ended(server: Server, params: None) -> None:
    server.is_ended = True


def moved(server: Server, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    server.settle()
    check_again(server, server.desks)


def stirred(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Other files changed on disk; what an editor has open counts as it stands there."""
    paths = [convert.path(each.uri) for each in params.changes]
    check_again(server, [desk for desk in server.desks if any(path not in desk.open for path in paths)])


def check_again(server: Server, desks: Iterable[Desk]) -> None:
    for desk in desks:
        if desk.open:
            server.later(desk, DELAY, True)


def opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    check_soon(server, server.held(params.text_document.uri), True)


def changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    check_soon(server, server.held(params.text_document.uri), False)


def saved(server: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    check_soon(server, server.held(params.text_document.uri), True)


def check_soon(server: Server, path: str, thorough: bool) -> None:
    """Check around a file, if it is one: at once, or when the typing stops where checks take long."""
    if path:
        desk = server.desk(path)
        server.later(desk, 0.0 if thorough or desk.is_quick else DELAY, thorough)


def closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    """What others rest on is from now on what is on disk."""
    address = params.text_document.uri
    path = server.path(address)
    if server.documents.get(path) == (address,):
        del server.documents[path]
    put_away(server, path)
    server.show(address, [])


def opened_notebook(server: Server, params: lsp.DidOpenNotebookDocumentParams) -> None:
    check_soon(server, server.held_notebook(params.notebook_document.uri), True)


def changed_notebook(server: Server, params: lsp.DidChangeNotebookDocumentParams) -> None:
    check_soon(server, server.held_notebook(params.notebook_document.uri), False)


def saved_notebook(server: Server, params: lsp.DidSaveNotebookDocumentParams) -> None:
    check_soon(server, server.held_notebook(params.notebook_document.uri), True)


def closed_notebook(server: Server, params: lsp.DidCloseNotebookDocumentParams) -> None:
    path = convert.path(params.notebook_document.uri)
    server.forget(path)
    put_away(server, path)


def put_away(server: Server, path: str) -> None:
    """Drop what an editor held, and check what rests on it as it is on disk."""
    if server.desk(path).open.pop(path, None) is not None:
        check_again(server, [server.desk(path)])


def hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    """The page of every rule with a finding at a place."""
    desk = server.desk(server.path(params.text_document.uri))
    found = server.at(params.text_document.uri, lsp.Range(params.position, params.position), desk.report)
    if not found:
        return None
    known = desk.rules(desk.settings())
    pages = [markdown(page(known.page(each.code)), each) for each in _once(found)]
    range = server.writer(desk, desk.report).range(found[0].span)
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(pages)), range)


def _once(found: list[Finding]) -> list[Finding]:
    return list({each.code: each for each in reversed(found)}.values())[::-1]


def markdown(text: str, finding: Finding) -> str:
    """A page as Markdown: its head line, what was found, and its examples as code."""
    head, _, rest = text.partition("\n\n")
    return f"**{head}**\n\n{finding.message}\n\n{fenced(rest)}"


async def code_actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
    """Fixes, suppressions and trails at a place; a client that lost interest cancels the request."""
    only = params.context.only
    address = params.text_document.uri
    desk = server.desk(server.path(address))
    open = dict(desk.open)
    stop = threading.Event()
    again = partial(server.again, desk, stop.is_set)

    def made() -> list[lsp.CodeAction | lsp.Command]:
        found: list[lsp.CodeAction | lsp.Command] = []
        report = again({})
        writer = server.writer(desk, report)
        if not only or any("quickfix".startswith(kind) for kind in only):
            form = desk.form(actions.REASON)
            found += actions.offered(report, server.at(address, params.range, report), again, open, writer, form)
        if only and any(actions.FIX_ALL.startswith(kind) for kind in only):
            every = actions.fix_all(report, convert.path(address), again, open, writer)
            found += [] if every is None else [every]
        return found

    try:
        return await server.work(partial(caught, made)) or []
    except asyncio.CancelledError:
        stop.set()
        raise
    except GraphlintError as error:
        server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, str(error)))
        return []


def show(server: Server, address: str, line: int, character: int) -> None:
    """Open a place in the editor."""
    place = lsp.Position(line, character)
    server.window_show_document(lsp.ShowDocumentParams(address, take_focus=True, selection=lsp.Range(place, place)))


FEATURES: dict[str, Callable[..., object]] = {
    lsp.INITIALIZED: initialized,
    lsp.SHUTDOWN: ended,
    lsp.TEXT_DOCUMENT_DID_OPEN: opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: saved,
    lsp.TEXT_DOCUMENT_DID_CLOSE: closed,
    lsp.NOTEBOOK_DOCUMENT_DID_OPEN: opened_notebook,
    lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: changed_notebook,
    lsp.NOTEBOOK_DOCUMENT_DID_SAVE: saved_notebook,
    lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: closed_notebook,
    lsp.TEXT_DOCUMENT_HOVER: hover,
    lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: moved,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: stirred,
}


def made() -> Server:
    """A server with all its features."""
    server = Server()
    for name, feature in FEATURES.items():
        server.feature(name)(feature)
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=KINDS))(code_actions)
    server.command(actions.OPEN)(show)
    return server


def run() -> bool:
    """Serve over stdin and stdout until the client ends it; whether it asked for the end first, as the protocol wants."""
    server = made()
    server.start_io()
    return server.is_ended
