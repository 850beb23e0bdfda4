"""For test suites: hold a model to capturing, and hold rules to marked source files.

`assert_capturable` captures a step, replays it with new inputs and compares with eager, on the GPU or on the emulator.

Marked files are for graphlint's own rules and for those of other packages:

    marks   = mark { ( "|" | "#" ) mark }
    mark    = word ":" item { "," item }
    word    = "expect" | "ok" | "todo" | "todo-ok"
    item    = code [ '"' part of the message '"' ]

A mark stands in a comment behind the line it speaks of, or alone above it.  `expect` is found; `ok` is not found,
though a hasty rule would; `todo` should be found and is not yet; `todo-ok` is found and should not be.  Every finding
needs a mark and every mark holds, so a `todo` that begins to be found fails and wants to become an `expect`.

`# capture: step breaks` says what a real capture of a function or class does, and is read by the GPU tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from graphlint.case import as_case
from graphlint.source import Source, comments, lines
from graphlint.types import Finding

WORDS = ("expect", "ok", "todo", "todo-ok")
OPENING = re.compile(r"#\s*(expect|ok|todo|todo-ok|capture)\s*:", re.IGNORECASE)
JOINT = re.compile(r"\s[|#]\s*(?=[\w-]+\s*:)")
ITEM = re.compile(r'\s*(?P<code>[A-Z]{2,4}\d{3})(?:\s+"(?P<text>[^"]*)")?\s*')
CAPTURE = re.compile(r"#\s*capture:\s*(?P<entry>\w+)\s+(?P<outcome>captures|breaks|stale)(?:\s+(?P<error>\S+))?\s*$")


def assert_capturable(
    fn: Callable[..., Any],
    *args: Any,
    vary: Callable[[], Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    device: str = "auto",
    warmup: int = 3,
    replays: int = 3,
) -> None:
    """Raise `AssertionError` unless `fn(*args, **kwargs)` captures and its replays are equal to eager.

    `vary()` gives new inputs of the same shapes; without it they are made by dtype.  `fn` and what its closure holds
    are copied, so neither the step nor its inputs change.  `device` is "auto", "cuda" or "emulated"; raises
    `graphlint.errors.GraphlintError` where there is none.
    """
    __tracebackhide__ = True
    from graphlint.confirm import assertion  # imports torch

    build = assertion.copies(fn, args, kwargs or {}, vary)
    name = getattr(fn, "__name__", type(fn).__name__)
    assertion.hold(assertion.observed(build, device, warmup, replays, name))


def assert_case_capturable(
    make: Callable[[], object], *, device: str = "auto", warmup: int = 3, replays: int = 3, target: str = "case"
) -> None:
    """The same for a factory, which is called once for every build and gives any form of a case."""
    from graphlint.confirm import assertion  # imports torch

    assertion.hold(assertion.observed(lambda: as_case(make()), device, warmup, replays, target))


class Mark(NamedTuple):
    """What is said about one code on one line; `text` must be part of the message."""

    line: int
    word: str
    code: str
    text: str = ""


class Capture(NamedTuple):
    """What capturing a function or class of the file really does; `error` is a CUDA code or an exception's name."""

    entry: str
    outcome: str
    error: str = ""


def marks(source: Source) -> tuple[Mark, ...]:
    """All marks of a file; raises `ValueError` for one that cannot be read."""
    found: list[Mark] = []
    for comment in comments(source, OPENING):
        if OPENING.match(comment.text) and not comment.text.lower().startswith(("# capture:", "#capture:")):
            found += _read(comment.text[1:], _line(source, comment.line, comment.column), source.name)
    return tuple(found)


def captures(source: Source) -> tuple[Capture, ...]:
    """What a file says about real captures; raises `ValueError` for a line that cannot be read."""
    found: list[Capture] = []
    for comment in comments(source, OPENING):
        if re.match(r"#\s*capture\s*:", comment.text, re.IGNORECASE):
            match = CAPTURE.match(comment.text)
            if match is None:
                raise ValueError(f"{source.name}:{comment.line}: `{comment.text}` cannot be read")
            found.append(Capture(match["entry"], match["outcome"], match["error"] or ""))
    return tuple(found)


def _line(source: Source, line: int, column: int) -> int:
    """A comment speaks of its own line, or of the next line of code when it stands alone."""
    text = lines(source)
    if text[line - 1].encode()[:column].strip():
        return line
    below = (n for n in range(line, len(text)) if text[n].strip() and not text[n].lstrip().startswith("#"))
    return next(below, line - 1) + 1


def _read(text: str, line: int, file: str) -> Iterator[Mark]:
    for part in JOINT.split(text):
        word, colon, items = part.partition(":")
        if not colon or word.strip() not in WORDS:
            raise ValueError(f"{file}:{line}: `{part.strip()}` is no mark; the words are {', '.join(WORDS)}")
        for item in re.split(r",(?=\s*[A-Z]{2,4}\d{3})", items):
            match = ITEM.fullmatch(item)
            if match is None:
                raise ValueError(f'{file}:{line}: `{item.strip()}` is no code with an optional "text"')
            yield Mark(line, word.strip(), match["code"], match["text"] or "")


def faults(source: Source, findings: Iterable[Finding]) -> list[str]:
    """Where marks and findings differ, one sentence each with its line; empty when they agree."""
    said = marks(source)
    found = [each for each in findings if each.span.file == source.name]
    wanted = Counter((mark.line, mark.code) for mark in said if mark.word in ("expect", "todo-ok"))
    present = Counter((each.span.line, each.code) for each in found)
    wrong = [_unmarked(each, said) for each in found if (each.span.line, each.code) not in wanted]
    wrong += [_missed(mark) for mark in said if wanted[mark.line, mark.code] > present[mark.line, mark.code]]
    wrong += [
        f"{n}: {code} is found {present[n, code]} times here" for n, code in wanted if present[n, code] > wanted[n, code]
    ]
    wrong += [_misworded(mark) for mark in said if mark.text and not _is_worded(mark, found)]
    text = lines(source)
    return [f"{each}\n    {text[int(each.partition(':')[0]) - 1].strip()}" for each in sorted(set(wrong))]


def _unmarked(finding: Finding, said: tuple[Mark, ...]) -> str:
    here = {mark.word for mark in said if (mark.line, mark.code) == (finding.span.line, finding.code)}
    what = f"{finding.span.line}: {finding.code} `{finding.message}`"
    if "todo" in here:
        return f"{what} is found now: turn `todo` into `expect`"
    return f"{what} is found, though the line says `ok`" if "ok" in here else f"{what} is found without a mark"


def _missed(mark: Mark) -> str:
    cure = ": turn `todo-ok` into `ok`" if mark.word == "todo-ok" else ""
    return f"{mark.line}: {mark.code} is marked `{mark.word}` and is not found{cure}"


def _misworded(mark: Mark) -> str:
    return f'{mark.line}: no {mark.code} here says "{mark.text}"'


def _is_worded(mark: Mark, found: Iterable[Finding]) -> bool:
    here = [each.message for each in found if (each.span.line, each.code) == (mark.line, mark.code)]
    return mark.word not in ("expect", "todo-ok") or not here or any(mark.text in message for message in here)
