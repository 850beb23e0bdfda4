"""Comments by which people accept a finding.

    mark     = "graphlint:" ( word codes | "region" anything ) [ "--" reason ]
             | "noqa:" code { ("," | " ") code }          only GLnnn codes are ours
    word     = "ignore" | "ignore-function" | "ignore-file"
    codes    = "[" word { "," word } "]"                  a word is a code or the name of a rule

A mark behind code speaks of findings that start in its statement; a mark alone on its line speaks of the statement
below.  `ignore-function` speaks of the function or class whose first lines hold it or follow it, or that it stands in;
`ignore-file` of the whole file, wherever it stands.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from graphlint.errors import near
from graphlint.notices import NO_REASON, UNKNOWN_CODE, UNUSED, notice
from graphlint.record import NamedTuple
from graphlint.source import Comment, Source, comments, lines
from graphlint.types import Finding, Span

# Compiled by `re` when a file has a mark: few have.
MARK = r"(?i)#\s*graphlint:\s*(?P<word>[\w-]*)\s*(?P<codes>\[[^\]]*\])?(?P<rest>.*)"
NOQA = r"(?i)#\s*noqa\s*:\s*(?P<codes>[A-Za-z]+[0-9]+(?:[\s,]+[A-Za-z]+[0-9]+)*)"
OURS = r"GL\d{3}$"
WORDS = ("ignore", "ignore-function", "ignore-file")
EVERYWHERE = (1, sys.maxsize)
HELP = "write `# graphlint: ignore[GL101] -- reason`; `graphlint explain GL903` lists all forms"


class Mark(NamedTuple):
    """One accepted code at one place, as the comment spells it; `first` to `last` are the lines it speaks of."""

    code: str
    first: int
    last: int
    span: Span
    word: str = ""


class Reach(NamedTuple):
    """The first and last line of the statement and of the function that a comment may speak of."""

    statement: tuple[int, int]
    function: tuple[int, int]


class Marks(NamedTuple):
    """The marks of a file, and what is wrong with some of them."""

    marks: tuple[Mark, ...]
    notices: tuple[Finding, ...]


class Kept(NamedTuple):
    """Findings after suppression, how many were suppressed, and marks that suppressed nothing."""

    findings: tuple[Finding, ...]
    suppressed: int
    unused: tuple[Mark, ...]


def marks(source: Source, names: Mapping[str, str], need_reasons: bool = False) -> Marks:
    """Read a file's marks; `names` maps every code and every rule name to the code.

    Where reasons are needed, a mark without one accepts nothing.
    """
    found: list[Mark] = []
    wrong: list[Finding] = []
    written = comments(source)
    reach = _reach(source, written) if written else {}
    for comment in written:
        for reader, pattern in ((_ignore, MARK), (_noqa, NOQA)):
            for match in re.finditer(pattern, comment.text):
                read = reader(match, _span(source, comment, match), reach[comment.line], names)
                lacks_reason = any(each.code == NO_REASON.code for each in read.notices)
                found += () if need_reasons and lacks_reason else read.marks
                wrong += read.notices
    return Marks(tuple(found), tuple(wrong))


def _ignore(match: re.Match[str], span: Span, reach: Reach, names: Mapping[str, str]) -> Marks:
    if match["word"].lower() == "region":
        return Marks((), ())
    fault, help = _fault(match, names)
    if fault:
        return Marks((), (notice(UNKNOWN_CODE, span, fault, help),))
    first, last = {"ignore": reach.statement, "ignore-function": reach.function}.get(match["word"].lower(), EVERYWHERE)
    meant = ((word, _meant(word, names)) for word in _codes(match["codes"]))
    found = tuple(Mark(code, first, last, span, word) for word, code in meant if code)
    if match["rest"].strip().removeprefix("--").strip():
        return Marks(found, ())
    return Marks(found, (notice(NO_REASON, span, "a suppression does not say why", "add `-- reason` behind it"),))


def is_understood(match: re.Match[str], names: Mapping[str, str], need_reasons: bool = False) -> bool:
    """Whether a mark of one line or statement is read as it is written, so that a code added to it counts."""
    has_reason = bool(match["rest"].strip().removeprefix("--").strip())
    return match["word"].lower() == "ignore" and not _fault(match, names)[0] and (has_reason or not need_reasons)


def _noqa(match: re.Match[str], span: Span, reach: Reach, names: Mapping[str, str]) -> Marks:
    codes = [code for code in re.split(r"[\s,]+", match["codes"].upper()) if re.match(OURS, code)]
    unknown = [code for code in codes if code not in names]
    return Marks(
        tuple(Mark(code, *reach.statement, span, code) for code in codes if code in names),
        tuple(notice(UNKNOWN_CODE, span, *_unknown(code, names)) for code in unknown),
    )


def _codes(bracket: str | None) -> list[str]:
    return [word.strip() for word in (bracket or "").strip("[]").split(",") if word.strip()]


def _meant(word: str, names: Mapping[str, str]) -> str | None:
    """The code that a word of a mark means, in whatever case it is written."""
    return names.get(word) or names.get(word.upper()) or names.get(word.lower())


def _fault(match: re.Match[str], names: Mapping[str, str]) -> tuple[str, str]:
    """What is wrong with a mark, and what to write instead; empty where nothing is."""
    if match["word"].lower() not in WORDS:
        return f"`graphlint: {match['word']}` is no mark that is understood", HELP
    codes = _codes(match["codes"])
    if not codes:
        return f"`graphlint: {match['word']}` names no code", HELP
    if match["rest"].strip() and not match["rest"].strip().startswith("--"):
        return f"`{match['rest'].strip()}` is not understood behind the codes", HELP
    unknown = [word for word in codes if _meant(word, names) is None]
    return _unknown(unknown[0], names) if unknown else ("", "")


def _unknown(word: str, names: Mapping[str, str]) -> tuple[str, str]:
    if any(code.startswith(word.upper()) for code in names.values()):
        return f"`{word}` is the beginning of codes, and a suppression takes whole ones", HELP
    return f"there is no rule `{word}` to suppress", near(word, names) or HELP


def _span(source: Source, comment: Comment, match: re.Match[str]) -> Span:
    start = comment.column + len(comment.text[: match.start()].encode())
    length = len(match[0].rstrip().encode())
    return Span(source.name, comment.line, start, comment.line, start + length)


def _reach(source: Source, written: Iterable[Comment]) -> dict[int, Reach]:
    """What a comment on each line may speak of."""
    text = lines(source)
    reach: dict[int, Reach] = {}
    statements, functions = _statements(source.tree), _functions(source.tree)
    for comment in written:
        line = comment.line
        if not text[line - 1].encode()[: comment.column].strip():
            line += 1
            while line <= len(text) and (not text[line - 1].strip() or text[line - 1].lstrip().startswith("#")):
                line += 1
        reach[comment.line] = Reach(statements.get(line, (line, line)), _around(functions, comment.line, line))
    return reach


def _functions(tree: ast.Module) -> list[tuple[int, int]]:
    """The first line, decorators included, and the last line of every function and class, outermost first."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return sorted(
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in found
    )


def _around(functions: Iterable[tuple[int, int]], comment: int, line: int) -> tuple[int, int]:
    """The function that begins on the line a comment speaks of, else the innermost one the comment stands in."""
    begun = [each for each in functions if each[0] <= line <= each[1] and line != comment and each[0] == line]
    inside = [each for each in functions if each[0] <= comment <= each[1]]
    return (begun or inside or [(line, line)])[-1]


def _statements(tree: ast.Module) -> dict[int, tuple[int, int]]:
    """For every line the first and last line of the innermost statement there; of a compound one, its header."""
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            first, last = node.lineno, _header_end(node)
            for line in range(first, last + 1):
                if line not in found or last - first <= found[line][1] - found[line][0]:
                    found[line] = (first, last)
    return found


def _header_end(node: ast.stmt) -> int:
    last = node.end_lineno or node.lineno
    body: list[ast.stmt | ast.match_case] = getattr(node, "body", None) or getattr(node, "cases", None) or []
    if not body:
        return last
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    decorated: list[int] = [each.lineno for each in getattr(first, "decorator_list", [])]
    return max(node.lineno, min([first.lineno, *decorated]) - 1)


def apply(findings: Iterable[Finding], accepted: Mapping[str, Marks]) -> Kept:
    """Drop the findings that a mark of their file accepts."""
    used: set[Mark] = set()
    kept: list[Finding] = []
    suppressed = 0
    for finding in findings:
        file = accepted.get(finding.span.file)
        hits = list(_hits(finding, file.marks)) if file else []
        used.update(hits)
        suppressed += bool(hits)
        if not hits:
            kept.append(finding)
    unused = tuple(mark for name in sorted(accepted) for mark in accepted[name].marks if mark not in used)
    return Kept(tuple(kept), suppressed, unused)


def _hits(finding: Finding, accepted: Iterable[Mark]) -> Iterator[Mark]:
    for mark in accepted:
        if mark.code == finding.code and mark.first <= finding.span.line <= mark.last:
            yield mark


def unused(accepted: Iterable[Mark], active: Collection[str], sources: Mapping[str, Source] | None = None) -> list[Finding]:
    """Notices for marks that suppressed nothing although their rule was run, with the fix where the file is at hand."""
    useless = [mark for mark in accepted if mark.code in active]
    words: dict[Span, set[str]] = {}
    for mark in useless:
        words.setdefault(mark.span, set()).add(mark.word)
    return [_unused(mark, words[mark.span], (sources or {}).get(mark.span.file)) for mark in useless]


def _unused(mark: Mark, words: Collection[str], source: Source | None) -> Finding:
    told = notice(UNUSED, mark.span, f"nothing here is `{mark.code}`, so this suppresses nothing", "remove it")
    if source is None:
        return told
    from graphlint import unmark  # here because few suppressions are useless

    return replace(told, fix=unmark.removal(source, mark.span, words))
