"""The nouns every layer shares: frozen data without behaviour beyond formatting.

A *region* is code that will be captured.  A *finding* predicts what capturing it does, at one place, with the
trail of calls that leads there from the region.  Lines are 1-based and columns are 0-based UTF-8 byte offsets, as
in `ast`; only `graphlint.report` converts them for readers that count otherwise.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import field

from graphlint.record import NamedTuple, Record, frozen

OURS = "GL"
"""What codes of our own rules and notices begin with; other rule packs have other letters."""


class Effect(str, enum.Enum):
    """What happens to code under capture; `confirm` can observe each of the first three."""

    BREAKS = "breaks"
    STALE = "stale"
    DEFEATS = "defeats"
    NOTE = "note"


class Confidence(enum.IntEnum):
    """How sure a prediction is; the default report shows the upper two."""

    POSSIBLE = 0
    LIKELY = 1
    CERTAIN = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class Target(enum.IntFlag):
    """The capture mechanism that code runs under; a path may be live under one, both or neither."""

    NONE = 0
    GRAPH = 1
    COMPILE = 2
    BOTH = 3

    # `enum` makes a new member at every operation; these are asked for millions of times.
    def __and__(self, other: int) -> Target:
        return TARGETS[int.__and__(self, other)]

    def __or__(self, other: int) -> Target:
        return TARGETS[int.__or__(self, other)]

    def __bool__(self) -> bool:
        return int.__bool__(self)


TARGETS = (Target.NONE, Target.GRAPH, Target.COMPILE, Target.BOTH)


class Span(NamedTuple):
    """One stretch of source; `file` is the path as it is reported."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Step(NamedTuple):
    """One call on the way from a region to a finding."""

    span: Span
    function: str


@frozen
class Region(Record):
    """Code that will be captured, and why that is believed."""

    name: str
    kind: str
    span: Span


@frozen
class Edit(Record):
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@frozen
class Fix(Record):
    """Edits that cure a finding; `safety` is "safe", "unsafe" or "suggestion"."""

    title: str
    safety: str
    edits: tuple[Edit, ...]


@frozen
class Finding(Record):
    """One prediction at one place.

    `effects` maps each target ("graph", "compile") that is affected to its effect; `effect` is the headline.
    `regions` are all the regions that reach the place, `region` is the one that `trail` starts from.  `evidence` says
    what a recorded run saw of it.
    """

    code: str
    rule: str
    span: Span
    message: str
    effect: Effect
    effects: tuple[tuple[str, Effect], ...]
    confidence: Confidence
    help: str = ""
    region: str = ""
    trail: tuple[Step, ...] = ()
    fix: Fix | None = None
    fingerprint: str = ""
    regions: tuple[str, ...] = ()
    evidence: str = ""


@frozen
class RegionReport(Record):
    """What is predicted for one region; `verdict` is an effect's word or "clean", `counts` has the findings by effect.

    `elsewhere` has by effect what the region leads to in files that the run does not check; the verdict heeds it.
    """

    region: Region
    verdict: str
    findings: int
    unknown_calls: int
    counts: tuple[tuple[str, int], ...] = ()
    elsewhere: tuple[tuple[str, int], ...] = ()


@frozen
class Report(Record):
    """Everything one run of `check` has to say.

    `suppressed` counts findings accepted by comments or a baseline, `hidden` those below the least confidence that was
    asked for, `limits` places behind which nothing was looked at.  `lines` holds the text of every file that a finding
    or a trail points into.  `remarks` are sentences about the run as a whole, `gone` the fingerprints that a baseline
    holds of findings that are no longer there, `templates` counts files that were left to those generated from them.
    """

    findings: Sequence[Finding]
    regions: Sequence[RegionReport] = ()
    files: int = 0
    suppressed: int = 0
    unread: tuple[str, ...] = ()
    hidden: int = 0
    limits: int = 0
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    templates: int = 0
