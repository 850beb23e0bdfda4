"""What graphlint says about itself: the family GL9xx, which no rule file declares.

A notice never predicts a fault of the code; it says that something was not read, not needed or not understood.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from graphlint import notebook
from graphlint.record import NamedTuple
from graphlint.types import Confidence, Effect, Finding, Span

FAMILY = "GL9"


class Notice(NamedTuple):
    """A code of the engine's own family with its page; `summary` is the page's first line."""

    code: str
    name: str
    page: str

    @property
    def summary(self) -> str:
        return self.page.split("\n", 1)[0]


UNREADABLE = Notice(
    "GL901",
    "unreadable-file",
    """A file cannot be read or parsed, so nothing is known about it.

The message gives the reason and the line: a syntax error, an encoding, a size, a permission. The other files are
checked all the same, and the run fails, because "no findings" would be a claim about a file that was never read.

To fix: mend the file, or leave it out with `exclude = ["path/to/file.py"]` in `[tool.graphlint]`.
""",
)
UNUSED = Notice(
    "GL902",
    "unused-suppression",
    """A suppression comment no longer suppresses anything.

The finding it was written for is gone, so the comment only hides what comes next. Remove it, or the code in it that
the message names.
""",
)
UNKNOWN_CODE = Notice(
    "GL903",
    "unreadable-suppression",
    """A comment addressed to graphlint is not understood, so it has no effect.

Understood are `# graphlint: ignore[GL101] -- reason` on the line of the finding or alone above it,
`# graphlint: ignore-function[GL101] -- reason` above or in a function or class,
`# graphlint: ignore-file[GL101] -- reason` anywhere in a file, `# noqa: GL101`, and `# graphlint: region` above a
function that will be captured. Codes and names of rules may be given; several are separated by commas.
""",
)
LIMIT = Notice(
    "GL904",
    "limit-reached",
    """The analysis stopped short here, so faults behind this place may be missing from the report.

Calls are followed only so deep and each region only so far. What lies behind the limit was not looked at; it is
neither clean nor faulty.
""",
)
INTERNAL = Notice(
    "GL905",
    "internal-error",
    """graphlint itself failed here; the other regions and files were still checked.

This is a fault of graphlint, or of a rule of another pack that the message names, never of the code it reads. Please
report it with the message and the smallest piece of code that shows it. To go on meanwhile, leave the file out with
`exclude` in `[tool.graphlint]`, or the rule out of `rules` and `packs`.
""",
)
NO_REASON = Notice(
    "GL906",
    "suppression-without-reason",
    """A suppression does not say why.

The next reader cannot tell an accepted cost from a fault nobody looked at. Write the reason behind two dashes:
`# graphlint: ignore[GL101] -- warm-up only, never captured`.
""",
)
NOTICES = (UNREADABLE, UNUSED, UNKNOWN_CODE, LIMIT, INTERNAL, NO_REASON)


def notice(kind: Notice, span: Span, message: str, help: str = "") -> Finding:
    """A notice as a finding of effect "note"."""
    effects = (("graph", Effect.NOTE), ("compile", Effect.NOTE))
    return Finding(kind.code, kind.name, span, message, Effect.NOTE, effects, Confidence.CERTAIN, help)


def top(file: str, line: int = 1) -> Span:
    """A span for what concerns a whole line or, at line 1, a whole file."""
    return Span(file, line, 0, line, 0)


def internal(error: BaseException, span: Span, doing: str) -> Finding:
    """An unexpected exception as a finding."""
    told = f"graphlint failed while {doing}: {raised(error)}"
    return notice(INTERNAL, span, told, "please report this; `exclude` in `[tool.graphlint]` leaves a file out")


def raised(error: BaseException) -> str:
    """An exception in one line, with the innermost place it comes from: its file alone, as paths differ by machine."""
    import traceback  # here because only a fault of graphlint needs it

    frames = traceback.extract_tb(error.__traceback__)
    where = f" at `{Path(frames[-1].filename).name}:{frames[-1].lineno}`" if frames else ""
    text = " ".join(str(error).split())[:200]
    return f"`{type(error).__name__}{': ' + text if text else ''}`{where}"


def is_unread(finding: Finding, unread: Collection[str]) -> bool:
    """Whether a finding says of one of these files that it was not looked at, for which a run fails."""
    return notebook.split(finding.span.file)[0] in unread and finding.code in (UNREADABLE.code, LIMIT.code, INTERNAL.code)
