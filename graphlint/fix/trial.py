"""Fixes are tried before they are offered: the file parses, the finding is gone, no other came, no region was lost.

A round makes all fixes that do not touch each other and checks once.  Where a file is not as it should be afterwards,
its fixes are tried one by one, so that a bad one does not take a good one with it.  Files are mended by themselves
before the whole is checked, since a check of a few files takes a fraction of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import libcst as cst

from graphlint import notebook
from graphlint.errors import Unreadable
from graphlint.fix import cells, cures, names
from graphlint.fix.cure import CURES, SAFE, SUGGESTION, UNSAFE, Site
from graphlint.fix.splice import overlap, spliced
from graphlint.fix.tree import Tree
from graphlint.generated import origin
from graphlint.source import parse_bytes
from graphlint.types import Finding, Fix, Report

LEVELS = (SAFE, UNSAFE, SUGGESTION)
ROUNDS = 100
BATCH = 24
LOADED = cures.__all__
Texts = Mapping[str, bytes]
Check = Callable[[Texts], Report]
Near = Callable[[Texts, Sequence[str]], Report]
"""A check of some files alone."""
Read = Callable[[str], bytes]


Known = dict[tuple[str, bytes, Finding, str], Fix | None]
"""Fixes by file, its content, finding and level."""


class Candidate(NamedTuple):
    """A finding with a fix that has not been tried."""

    finding: Finding
    fix: Fix


@dataclass
class Mended:
    """What came of fixing: the files that changed by reported name, the fixes that held, and the report afterwards."""

    texts: dict[str, bytes] = field(default_factory=dict)
    held: list[Candidate] = field(default_factory=list)
    refused: list[Candidate] = field(default_factory=list)
    report: Report | None = None
    known: Known = field(default_factory=dict)


def candidates(report: Report, read: Read, level: str, known: Known | None = None) -> list[Candidate]:
    """The best fix that is known for each finding, up to a level of safety.

    `known` keeps what was found in a file as it is: its tree takes far longer to make than all its fixes.
    """
    known = {} if known is None else known
    trees: dict[str, Tree | None] = {}
    found: list[Candidate] = []
    for finding in report.findings:
        if finding.fix is None and finding.code not in CURES:
            continue
        file, cell = notebook.split(finding.span.file)
        data = _content(file, read)
        if origin(data):
            continue  # what is written there is lost when the file is generated again
        key = (file, data, replace(finding, fingerprint="", trail=()), level)
        if key not in known:
            if file not in trees:
                trees[file] = _tree(file, data)
            there = finding if cell is None else replace(finding, span=cells.whole(finding.span, data))
            known[key] = best(there, trees[file], level)
        fix = known[key]
        if fix is not None:
            found.append(Candidate(finding, fix))
    return found


def _content(file: str, read: Read) -> bytes:
    """The bytes of a file; none for one that cannot be read, in which nothing can be fixed."""
    try:
        return read(file)
    except Unreadable:
        return b""


def best(finding: Finding, tree: Tree | None, level: str) -> Fix | None:
    """The safest fix of a finding, if it is safe enough."""
    known = [finding.fix] if finding.fix is not None else []
    if tree is not None:
        known += [fix for cure in CURES.get(finding.code, ()) if (fix := cure(Site(finding, tree))) is not None]
    first = min(known, key=lambda fix: LEVELS.index(fix.safety), default=None)
    return first if first is not None and LEVELS.index(first.safety) <= LEVELS.index(level) else None


def _tree(file: str, data: bytes) -> Tree | None:
    try:
        return Tree(parse_bytes(data, file))
    except (Unreadable, cst.ParserSyntaxError, RecursionError):
        return None


def mended(report: Report, check: Check, read: Read, level: str = SAFE, near: Near | None = None) -> Mended:
    """Fix what can be fixed, round after round, until nothing more can be.

    With `near`, the files with fixes are mended by themselves first, which is quick; the whole is then checked once.
    """
    done = Mended(report=report)
    if near is not None:
        _mend_nearby(done, near, check, read, level)
    return settled(done, check, read, level)


def settled(done: Mended, check: Check, read: Read, level: str) -> Mended:
    """Round after round with one check each, until nothing more can be fixed."""
    for _ in range(ROUNDS):
        chosen = fresh(done, read, level)
        if not chosen:
            break
        _round(done, chosen, check, read)
    return done


def fresh(done: Mended, read: Read, level: str) -> list[Candidate]:
    """Candidates that do not touch each other and were neither made nor refused."""
    assert done.report is not None
    found = candidates(done.report, lambda file: done.texts.get(file) or read(file), level, done.known)
    known = {_key(each) for each in (*done.held, *done.refused)}
    return apart(each for each in found if _key(each) not in known)


def _mend_nearby(done: Mended, near: Near, check: Check, read: Read, level: str) -> None:
    """Mend the files that have fixes by themselves, and keep of it what the whole bears out.

    What is only found from other files is left to be tried on the whole.
    """
    alone = Mended(known=done.known)
    for files in _batches(fresh(done, read, level)):
        alone.report = near(alone.texts, files)
        chosen = fresh(alone, read, level)
        together = tried(alone, chosen, partial(_nearby, near, files), read) if chosen else None
        if together is not None:
            _hold(alone, chosen, *together)
        for file in files if chosen and together is None else ():
            alone.report = near(alone.texts, [file])
            settled(alone, partial(_nearby, near, [file]), read, level)
    done.refused = alone.refused
    _keep(done, alone, sorted({_home(each) for each in alone.held}), check)


def _keep(done: Mended, alone: Mended, files: Sequence[str], check: Check) -> None:
    """Take over the fixes of some files if the whole bears them out, else of each half of them."""
    held = [each for each in alone.held if _home(each) in files]
    if not held:
        return
    texts = {edit.span.file: alone.texts[edit.span.file] for each in held for edit in each.fix.edits}
    after = check({**done.texts, **texts})
    assert done.report is not None
    if holds(done.report, after, held):
        _hold(done, held, texts, after)
    elif len(files) > 1:
        for half in (files[: len(files) // 2], files[len(files) // 2 :]):
            _keep(done, alone, half, check)


def _home(candidate: Candidate) -> str:
    return notebook.split(candidate.finding.span.file)[0]


def _batches(chosen: Iterable[Candidate]) -> Iterator[list[str]]:
    """The files that candidates touch, in groups that share what they import."""
    found = {edit.span.file for each in chosen for edit in each.fix.edits}
    files = sorted(found | {_home(each) for each in chosen})
    yield from (files[start : start + BATCH] for start in range(0, len(files), BATCH))


def _nearby(near: Near, files: Sequence[str], texts: Texts) -> Report:
    return near(texts, files)


def _key(candidate: Candidate) -> tuple[str, str]:
    return candidate.finding.fingerprint, candidate.fix.title


def apart(found: Iterable[Candidate]) -> list[Candidate]:
    """Candidates whose edits do not touch each other, the first of two that do."""
    chosen: list[Candidate] = []
    for each in found:
        if not any(overlap(each.fix.edits, other.fix.edits) for other in chosen):
            chosen.append(each)
    return chosen


def _round(done: Mended, chosen: Sequence[Candidate], check: Check, read: Read) -> None:
    """Make the chosen fixes together; what then is wrong is made again one by one."""
    together = tried(done, chosen, check, read)
    if together is not None:
        _hold(done, chosen, *together)
        return
    by_file: dict[str, list[Candidate]] = {}
    for each in chosen:
        by_file.setdefault(each.finding.span.file, []).append(each)
    for group in by_file.values():
        attempt = tried(done, group, check, read) if len(by_file) > 1 else None
        if attempt is not None:
            _hold(done, group, *attempt)
            continue
        _one_by_one(done, group, check, read)


def _one_by_one(done: Mended, group: Sequence[Candidate], check: Check, read: Read) -> None:
    """From the last to the first, until one holds: edits move what is behind them, so the rest is found anew."""
    for each in sorted(group, key=lambda one: one.finding.span, reverse=True):
        alone = tried(done, [each], check, read)
        if alone is None:
            done.refused.append(each)
        else:
            _hold(done, [each], *alone)
            return


def _hold(done: Mended, chosen: Iterable[Candidate], texts: dict[str, bytes], report: Report) -> None:
    done.texts.update(texts)
    done.held += chosen
    done.report = report


def tried(done: Mended, chosen: Sequence[Candidate], check: Check, read: Read) -> tuple[dict[str, bytes], Report] | None:
    """The files and the report after some fixes, or None where one of them does not hold."""
    before = done.report
    assert before is not None
    try:
        texts = dict(made(chosen, lambda file: done.texts.get(file) or read(file)))
    except Unreadable:
        return None
    if not all(_is_sound(file, text, done.texts.get(file) or read(file)) for file, text in texts.items()):
        return None
    after = check({**done.texts, **texts})
    return (texts, after) if holds(before, after, chosen) else None


def made(chosen: Iterable[Candidate], read: Read) -> Iterator[tuple[str, bytes]]:
    """Every file that fixes touch, with its new content."""
    edits = {edit for each in chosen for edit in each.fix.edits}
    for file in sorted({each.span.file for each in edits}):
        splice = cells.spliced if file.endswith(notebook.SUFFIX) else spliced
        yield file, splice(read(file), [each for each in edits if each.span.file == file])


def _is_sound(file: str, new: bytes, old: bytes) -> bool:
    """Whether a fixed file parses, and reads no name that nothing defines and that it did not read before."""
    try:
        return names.undefined(parse_bytes(new, file).text) <= names.undefined(parse_bytes(old, file).text)
    except Unreadable:
        return False


def holds(before: Report, after: Report, chosen: Sequence[Candidate]) -> bool:
    """Whether every fixed finding is gone, none came that was not there, and no region is missing."""
    then, now = _counted(before), _counted(after)
    cured = Counter((each.finding.span.file, each.finding.code) for each in chosen if each.fix.safety != SUGGESTION)
    if _lost(before, after, chosen) or any(now[key] > number for key, number in then.items()) or now.keys() - then.keys():
        return False
    return all(now[key] <= then[key] - number for key, number in cured.items())


def _lost(before: Report, after: Report, chosen: Iterable[Candidate]) -> set[str]:
    """Regions that are no longer seen although something in them was not cured."""
    missing = {each.region.name for each in before.regions} - {each.region.name for each in after.regions}
    cured = {each.finding.fingerprint for each in chosen}
    left = {name for each in before.findings if each.fingerprint not in cured for name in (each.region, *each.regions)}
    return missing & left


def _counted(report: Report) -> Counter[tuple[str, str]]:
    return Counter((each.span.file, each.code) for each in report.findings)


def verified(report: Report, check: Check, read: Read, level: str = SUGGESTION, near: Near | None = None) -> dict[str, Fix]:
    """The fixes of a report that hold, by fingerprint; those that were tried together must also hold together.

    With `near`, those that do not hold are looked for in a few files at a time before the whole is checked again.
    """
    found: dict[str, Fix] = {}
    for group in _groups(candidates(report, read, level)):
        held: Sequence[Candidate] = group
        if tried(Mended(report=report), group, check, read) is None:
            held = _halves(report, group, check, read) if near is None else _borne(report, group, check, read, near)
        found |= {each.finding.fingerprint: each.fix for each in held}
    return found


def _borne(report: Report, group: Sequence[Candidate], check: Check, read: Read, near: Near) -> list[Candidate]:
    """Those that hold on the whole, of those that hold in a few files at a time."""
    return _holding(report, [each for files in _batches(group) for each in _nearly(group, files, near, read)], check, read)


def _nearly(group: Sequence[Candidate], files: Sequence[str], near: Near, read: Read) -> Iterator[Candidate]:
    """Those of some files that hold where these files are checked alone, and those that are not found then."""
    alone = near({}, files)
    there = {(each.code, each.span): each for each in alone.findings}
    mine = {(each.finding.code, each.finding.span): each for each in group if _home(each) in files}
    known = [each._replace(finding=there[key]) for key, each in mine.items() if key in there]
    held = _holding(alone, known, partial(_nearby, near, files), read)
    yield from (mine[each.finding.code, each.finding.span] for each in held)
    yield from (each for key, each in mine.items() if key not in there)


def _holding(report: Report, group: Sequence[Candidate], check: Check, read: Read) -> list[Candidate]:
    """Those of some candidates that hold: all together, or those of each half of them."""
    if not group or tried(Mended(report=report), group, check, read) is not None:
        return list(group)
    return _halves(report, group, check, read)


def _halves(report: Report, group: Sequence[Candidate], check: Check, read: Read) -> list[Candidate]:
    middle = len(group) // 2
    halves = (group[:middle], group[middle:]) if middle else ()
    return [each for half in halves for each in _holding(report, half, check, read)]


def _groups(found: list[Candidate]) -> Iterator[list[Candidate]]:
    """Candidates in groups that do not touch each other."""
    while found:
        group = apart(found)
        yield group
        found = [each for each in found if each not in group]
