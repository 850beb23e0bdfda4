"""Findings, spans and edits in the words of the language server protocol, in the columns the client counts in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lsprotocol import types as lsp
from pygls import uris

from graphlint import notebook
from graphlint.report import links
from graphlint.report.json import SEVERITIES
from graphlint.report.positions import Lines, character, line_at, utf16
from graphlint.types import Edit, Finding, Span

SOURCE = "graphlint"
LINE = re.compile("\r\n|\r|\n")
"""What ends a line in the protocol, as in Python."""


def uri(file: str) -> str:
    """The address of a file as reports name it."""
    return str(uris.from_fs_path(os.path.abspath(notebook.split(file)[0])))


@dataclass(frozen=True)
class Writer:
    """Converts with the text of the files at hand, the unit of columns agreed on, and the addresses an editor knows."""

    lines: Lines
    encoding: str
    address: Callable[[str], str] = uri

    def position(self, file: str, line: int, column: int) -> lsp.Position:
        text = line_at(self.lines, file, line)
        if self.encoding == lsp.PositionEncodingKind.Utf8:
            return lsp.Position(line - 1, column)
        count = utf16 if self.encoding == lsp.PositionEncodingKind.Utf16 else character
        return lsp.Position(line - 1, count(text, column))

    def range(self, span: Span) -> lsp.Range:
        start = self.position(span.file, span.line, span.column)
        return lsp.Range(start, self.position(span.file, span.end_line, span.end_column))

    def diagnostic(self, finding: Finding) -> lsp.Diagnostic:
        """A finding with the calls that lead to it; `data` has its fingerprint, by which actions find it again."""
        trail = [lsp.DiagnosticRelatedInformation(self.location(step.span), "called from here") for step in finding.trail]
        return lsp.Diagnostic(
            range=self.range(finding.span),
            severity=lsp.DiagnosticSeverity(SEVERITIES[finding.effect]),
            code=finding.code,
            code_description=lsp.CodeDescription(page) if (page := links.page(finding.code)) else None,
            source=SOURCE,
            message=f"{finding.message}\n{finding.help}" if finding.help else finding.message,
            related_information=trail,
            data={"fingerprint": finding.fingerprint, "rule": finding.rule, "effect": finding.effect.value},
        )

    def location(self, span: Span) -> lsp.Location:
        return lsp.Location(self.address(span.file), self.range(span))

    def edit(self, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        """Edits by file; equal ones are made once."""
        changes: dict[str, list[lsp.TextEdit]] = {}
        for each in sorted(set(edits), key=lambda one: one.span):
            changes.setdefault(self.address(each.span.file), []).append(lsp.TextEdit(self.range(each.span), each.text))
        return lsp.WorkspaceEdit(changes=changes)


def path(address: str) -> str:
    """The absolute path of an address; empty for what is no file."""
    found = uris.to_fs_path(address)
    return os.path.abspath(found) if found and address.startswith("file:") else ""


def texts(lines: Lines, more: Mapping[str, bytes]) -> dict[str, tuple[str, ...]]:
    """The lines of a report, with those of other files as the editor holds them."""
    return {**{name: tuple(LINE.split(text.decode(errors="replace"))) for name, text in more.items()}, **lines}
