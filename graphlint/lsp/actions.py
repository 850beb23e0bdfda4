"""What an editor offers at a finding: fixes that were seen to hold, a suppression, and the calls that lead there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import libcst
from lsprotocol import types as lsp

from graphlint import notebook
from graphlint.errors import Unreadable, why
from graphlint.fix import marks
from graphlint.fix.cure import SAFE, SUGGESTION
from graphlint.fix.tree import Tree
from graphlint.fix.trial import Candidate, Mended, apart, candidates, tried
from graphlint.lsp import notebooks
from graphlint.lsp.convert import Writer
from graphlint.notices import FAMILY
from graphlint.source import parse_bytes
from graphlint.types import Finding, Report

OPEN = "graphlint.open"
FIX_ALL = "source.fixAll.graphlint"
REASON = "TODO: say why"
Check = Callable[[Mapping[str, bytes]], Report]


def reader(open: Mapping[str, bytes]) -> Callable[[str], bytes]:
    """Reads a reported file or cell as the editor holds it, else from disk."""

    def read(name: str) -> bytes:
        file, cell = notebook.split(name)
        path = os.path.abspath(file)
        try:
            data = open[path] if path in open else Path(path).read_bytes()
        except OSError as error:
            raise Unreadable(f"cannot be opened: {why(error)}") from None
        return data if cell is None else notebooks.cell(data, cell)

    return read


def offered(
    report: Report,
    chosen: Sequence[Finding],
    check: Check,
    open: Mapping[str, bytes],
    writer: Writer,
    form: marks.Form,
) -> Iterator[lsp.CodeAction | lsp.Command]:
    """The actions for some findings of a report; `form` is that of a suppression."""
    read = reader(open)
    few = Report(_outside_notebooks(chosen), lines=report.lines)
    for each in candidates(few, read, SUGGESTION):
        if _holds(report, each, check, read):
            yield _fix(each, writer)
    for finding in chosen:
        yield from _suppression(finding, read, writer, form)
        yield from _trail(finding, writer)


def fix_all(report: Report, path: str, check: Check, open: Mapping[str, bytes], writer: Writer) -> lsp.CodeAction | None:
    """All safe fixes of a file that hold together."""
    read = reader(open)
    own = tuple(each for each in report.findings if os.path.abspath(each.span.file) == path)
    group = apart(candidates(Report(_outside_notebooks(own)), read, SAFE))
    if not group or tried(Mended(report=report), group, check, read) is None:
        return None
    edit = writer.edit(edit for each in group for edit in each.fix.edits)
    return lsp.CodeAction("graphlint: make all safe fixes", kind=FIX_ALL, edit=edit)


def _outside_notebooks(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """What a fix changes in several cells must hold for the notebook as a whole, which is left to `--fix`."""
    return tuple(each for each in findings if notebook.split(each.span.file)[1] is None)


def _holds(report: Report, candidate: Candidate, check: Check, read: Callable[[str], bytes]) -> bool:
    return tried(Mended(report=report), [candidate], check, read) is not None


def _fix(candidate: Candidate, writer: Writer) -> lsp.CodeAction:
    fix = candidate.fix
    title = f"graphlint: {fix.title}" + ("" if fix.safety == SAFE else f" ({fix.safety})")
    return lsp.CodeAction(
        title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[writer.diagnostic(candidate.finding)],
        edit=writer.edit(fix.edits),
        is_preferred=fix.safety == SAFE,
    )


def _suppression(
    finding: Finding, read: Callable[[str], bytes], writer: Writer, form: marks.Form
) -> Iterator[lsp.CodeAction]:
    if finding.code.startswith(FAMILY):
        return
    try:
        tree = Tree(parse_bytes(read(finding.span.file), finding.span.file))
    except (Unreadable, libcst.ParserSyntaxError):
        return
    yield lsp.CodeAction(
        f"graphlint: accept {finding.code} here",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[writer.diagnostic(finding)],
        edit=writer.edit(marks.edits(tree, [finding], form)),
    )


def _trail(finding: Finding, writer: Writer) -> Iterator[lsp.Command]:
    for number, step in enumerate(finding.trail, 1):
        place = writer.location(step.span)
        title = f"graphlint: go to call {number} of {len(finding.trail)} that leads here"
        arguments = [place.uri, place.range.start.line, place.range.start.character]
        yield lsp.Command(title, OPEN, arguments=arguments)
