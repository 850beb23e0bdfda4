"""One run of `graphlint check`: read, interpret, judge, keep.

    discover -> sources -> events a region -> findings -> one a place -> chosen -> not accepted -> Report

What cannot be read or fails inside becomes a notice; the other files and regions are reported all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from graphlint import baseline, notebook, perfile, suppress
from graphlint.config import Config
from graphlint.discover import Discovery, Found, discover, excludes, reported
from graphlint.errors import Unreadable, UsageError
from graphlint.events import Event
from graphlint.merge import Place, merged, narrowed, place
from graphlint.notices import INTERNAL, LIMIT, UNREADABLE, Notice, internal, notice, top
from graphlint.registry import Registry, is_chosen, worst
from graphlint.rule import Rule
from graphlint.source import Source, comments, lines, parse_bytes, read
from graphlint.spread import Texts, spread
from graphlint.types import Effect, Finding, Region, RegionReport, Report, Span, Target

ALWAYS = frozenset({UNREADABLE.code, INTERNAL.code})


class RegionEvents(Protocol):
    """What the interpreter tells of one region."""

    @property
    def region(self) -> Region: ...
    @property
    def events(self) -> Sequence[Event]: ...
    @property
    def unknown_calls(self) -> int: ...
    @property
    def failure(self) -> Exception | None: ...


class Interpreter(Protocol):
    """What gives the events of every region of some files; `names` are the names of all files of the run."""

    def __call__(
        self, sources: Sequence[Source], named: Collection[str] = (), names: Mapping[Path, str] = ...
    ) -> Iterable[RegionEvents]: ...


@dataclass(frozen=True, slots=True)
class Judged:
    """A region with what its events led to; `finished` is false where the analysis failed in it."""

    region: Region
    findings: tuple[Finding, ...]
    unknown_calls: int
    finished: bool = True


class Read(NamedTuple):
    """Parsed files, and a notice for each that is not."""

    sources: tuple[Source, ...]
    notices: tuple[Finding, ...]


def check(
    paths: Sequence[str],
    config: Config,
    registry: Registry,
    interpret: Interpreter,
    unsaved: Mapping[str, bytes] = MappingProxyType({}),
) -> Report:
    """Check files and folders; raises `UsageError` and `ConfigError`, never for what a file contains.

    `unsaved` has what files hold in an editor, by absolute path; it is read instead of what is on disk.
    """
    validate(config, registry)
    unborn = [path for path in paths if path in unsaved and not os.path.lexists(path)]
    discovery = discover([path for path in paths if path not in unborn], config.exclude, config.root)
    discovery = discovery._replace(files=(*discovery.files, *(Found(Path(path), reported(path)) for path in unborn)))
    files = _wanted(discovery, config)
    unlisted = tuple(notice(UNREADABLE, top(each.name), f"`{each.name}` {each.reason}") for each in discovery.refused)
    texts = Texts(files, partial(read_found, unsaved=unsaved))
    names = {each.path: each.name for each in files}

    def job(group: Sequence[Found]) -> Batch:
        return _batch(read_all(group, unsaved), config, registry, partial(interpret, names=names))

    done = _report(list(spread(files, job)), texts, config, registry, unlisted)
    empty = tuple(f"no Python file was found under `{each}`" for each in discovery.empty)
    return replace(done, remarks=empty)


def check_sources(
    given: Read, config: Config, registry: Registry, interpret: Interpreter, unlisted: tuple[Finding, ...] = ()
) -> Report:
    """Check what has been read already."""
    texts = Texts((), read_found, {source.name: source for source in given.sources})
    return _report([_batch(given, config, registry, interpret)], texts, config, registry, unlisted)


class Batch(NamedTuple):
    """What one batch of files led to; `marked` are the files whose comments may speak of findings."""

    judged: tuple[Judged, ...]
    notices: tuple[Finding, ...]
    marked: tuple[str, ...]
    files: int


def _batch(given: Read, config: Config, registry: Registry, interpret: Interpreter) -> Batch:
    broken: list[Finding] = [*given.notices]
    judged = _judge(lambda: _wanted_regions(interpret(given.sources, config.regions), config), registry, broken)
    marked = tuple(source.name for source in given.sources if comments(source))
    return Batch(tuple(judged), tuple(broken), marked, len(given.sources) + len(given.notices))


def _report(
    done: Sequence[Batch], texts: Texts, config: Config, registry: Registry, unlisted: tuple[Finding, ...]
) -> Report:
    """Put the batches together and keep what the user has not accepted."""
    judged = [each for batch in done for each in batch.judged]
    broken = [*unlisted, *(each for batch in done for each in batch.notices)]
    marked = [name for batch in done for name in batch.marked]
    found = merged([finding for each in judged for finding in each.findings] + broken)
    selected = _selected(found, config, perfile.ignored(config), texts)
    left = [each.code for each in selected if not _is_shown(each, config)]
    accepted = _accepted(selected, texts, marked, config, registry)
    known = _fingerprinted(accepted.findings, texts, config)
    homes = {home(name, texts, config) for name in texts}
    fresh = baseline.compare(known, _baseline(config), lambda file: file in homes or not (config.root / file).exists())
    kept = {place(each) for each in fresh.findings}
    regions = ((each, _region(each, kept, config, texts)) for each in judged)
    # Files and regions that were not looked at to the end: to say nothing of them would be a claim.
    unchecked = {(each.code, each.span) for each in broken}
    return Report(
        findings=tuple(_in_cells(each, texts) for each in fresh.findings),
        files=sum(batch.files for batch in done),
        # One that was not looked at to its end is never called clean.
        regions=tuple(sorted((told for each, told in regions if each.finished or told.findings), key=_by_name)),
        suppressed=accepted.suppressed + fresh.accepted,
        unread=tuple(sorted({each.span.file for each in fresh.findings if (each.code, each.span) in unchecked})),
        hidden=len(left) - left.count(LIMIT.code),
        limits=sum(each.code == LIMIT.code for each in selected),
        lines=_lines(fresh.findings, texts),
        gone=fresh.gone,
    )


def validate(config: Config, registry: Registry) -> None:
    """Refuse selectors that select nothing; raises `UsageError`."""
    per_file = [code for _, codes in config.per_file_ignores for code in codes]
    for word in (*config.select, *config.ignore, *per_file):
        if not any(page.name == word or page.code.startswith(word) for page in registry.pages):
            raise UsageError(f"no rule has the code or name `{word}`", registry.hint(word))


def _wanted(discovery: Discovery, config: Config) -> tuple[Found, ...]:
    """Files named on the command line are read whatever they are called, unless a pattern of the project says no."""
    if not config.exclude:
        return discovery.files
    return tuple(each for each in discovery.files if not excludes(each, config.exclude, config.root))


def read_all(files: Iterable[Found], unsaved: Mapping[str, bytes] = MappingProxyType({})) -> Read:
    """Read every file that can be read."""
    return _collected((each.name, partial(read_found, each, unsaved)) for each in files)


def read_found(found: Found, unsaved: Mapping[str, bytes] = MappingProxyType({})) -> Source:
    """Read one file, from the editor's buffer if it has one; raises `Unreadable`."""
    text = unsaved.get(os.path.abspath(found.path)) if unsaved else None
    return read(found.path, found.name) if text is None else parse_bytes(text, found.name, found.path)


def read_text(data: bytes, name: str) -> Read:
    """Read one file whose content is at hand."""
    return _collected([(name, partial(parse_bytes, data, name))])


def _collected(readers: Iterable[tuple[str, Callable[[], Source]]]) -> Read:
    sources: list[Source] = []
    notices: list[Finding] = []
    for name, reader in readers:
        try:
            sources.append(reader())
        except Unreadable as error:
            help = "mend it, or leave it out with `exclude` in `[tool.graphlint]`"
            notices.append(notice(UNREADABLE, top(name, error.line), f"`{name}` {error.reason}", help))
        except Exception as error:
            notices.append(internal(error, top(name), f"reading `{name}`"))
    return Read(tuple(sources), tuple(notices))


def _wanted_regions(regions: Iterable[RegionEvents], config: Config) -> Iterator[RegionEvents]:
    """Leave out the regions that a configuration does not want; one whose analysis failed is always told."""
    for each in regions:
        name = each.region.name
        only = not config.only_regions or any(fnmatchcase(name, pattern) for pattern in config.only_regions)
        if each.failure is not None or (only and not any(fnmatchcase(name, skip) for skip in config.skip_regions)):
            yield each


def _judge(interpret: Callable[[], Iterable[RegionEvents]], registry: Registry, broken: list[Finding]) -> Iterator[Judged]:
    try:
        for each in interpret():
            if each.failure is not None:
                broken.append(_unfinished(each.region, each.failure))
            findings = tuple(registry.judge(each.events, each.region.name))
            yield Judged(each.region, findings, each.unknown_calls, each.failure is None)
    except Exception as error:
        broken.append(internal(error, top("."), "interpreting; regions not listed were not checked"))


def _unfinished(region: Region, failure: Exception) -> Finding:
    if isinstance(failure, RecursionError):
        told = f"`{region.name}` nests too deeply to be followed; it was not checked to its end"
        return notice(LIMIT, region.span, told, "split the longest expression or `elif` chain in it")
    return internal(failure, region.span, f"interpreting `{region.name}`; it was not checked to its end")


def _selected(findings: Iterable[Finding], config: Config, ignored: perfile.Ignored, texts: Texts) -> tuple[Finding, ...]:
    def is_left_out(each: Finding) -> bool:
        return not is_chosen(each.code, each.rule, (), ignored(texts.path(each.span.file)))

    chosen = (each for each in findings if _is_selected(each, config) and not is_left_out(each))
    return tuple(each for finding in chosen if (each := narrowed(finding, config.target)) is not None)


def _is_selected(finding: Finding, config: Config) -> bool:
    select = () if finding.code in ALWAYS else config.select
    return is_chosen(finding.code, finding.rule, select, config.ignore)


def _chosen(findings: Iterable[Finding], config: Config, texts: Texts) -> tuple[Finding, ...]:
    selected = _selected(findings, config, perfile.ignored(config), texts)
    return tuple(each for each in selected if _is_shown(each, config))


def _is_shown(finding: Finding, config: Config) -> bool:
    """Sure enough, or a limit that was asked for by its code: limits are many, so they are only counted otherwise."""
    asked = finding.code == LIMIT.code and (LIMIT.code in config.select or LIMIT.name in config.select)
    return asked or finding.confidence >= config.min_confidence


def _accepted(
    findings: tuple[Finding, ...], texts: Texts, marked: Iterable[str], config: Config, registry: Registry
) -> suppress.Kept:
    """Honour the comments of every file, and add notices about comments that are wrong or useless.

    Comments may speak of findings that are hidden; only those that are shown are counted and kept.
    """
    read = {name: suppress.marks(texts[name], registry.words, config.require_reasons) for name in marked if name in texts}
    marks = {name: found for name, found in read.items() if any(found)}
    kept = suppress.apply(findings, marks)
    active = {page.code for page in registry.pages if _is_active(page, config)}
    about = [each for found in marks.values() for each in found.notices] + suppress.unused(kept.unused, active, texts)
    shown = [each for each in kept.findings if _is_shown(each, config)]
    suppressed = sum(_is_shown(each, config) for each in findings) - len(shown)
    return suppress.Kept(tuple(sorted((*shown, *_chosen(about, config, texts)), key=place)), suppressed, kept.unused)


def _is_active(page: Rule | Notice, config: Config) -> bool:
    """Whether a rule could have found something in this run."""
    if isinstance(page, Rule):
        effects = ((Target.GRAPH, page.predicts), (Target.COMPILE, page.compile))
        if not any(effect and target & config.target for target, effect in effects):
            return False
    return is_chosen(page.code, page.name, config.select, config.ignore)


def _fingerprinted(findings: tuple[Finding, ...], texts: Texts, config: Config) -> tuple[Finding, ...]:
    def text(span: Span) -> str:
        source = texts.get(span.file)
        return lines(source)[span.line - 1] if source and span.line <= len(lines(source)) else ""

    return baseline.fingerprinted(findings, text, lambda file: home(file, texts, config))


def home(file: str, texts: Texts, config: Config) -> str:
    """The name of a file relative to the root of the configuration, wherever the run started."""
    root = os.path.join(os.path.abspath(config.root), "")
    path = os.path.abspath(texts.path(file))
    return path.removeprefix(root).replace(os.sep, "/") if path.startswith(root) else file


def _baseline(config: Config) -> dict[str, baseline.Entry]:
    return baseline.load(Path(config.root) / config.baseline) if config.baseline else {}


def _region(judged: Judged, kept: set[Place], config: Config, texts: Texts) -> RegionReport:
    own = {place(each): each.effect for each in _chosen(judged.findings, config, texts) if place(each) in kept}
    faults = [effect for effect in own.values() if effect is not Effect.NOTE]
    counts = tuple((effect.value, faults.count(effect)) for effect in Effect if effect in faults)
    verdict = worst(faults).value if faults else "clean"
    region = replace(judged.region, span=_in_cell(judged.region.span, texts))
    return RegionReport(region, verdict, len(faults), judged.unknown_calls, counts)


def _by_name(report: RegionReport) -> tuple[str, int, str]:
    return report.region.span.file, report.region.span.line, report.region.name


def _in_cells(finding: Finding, texts: Texts) -> Finding:
    """A finding with its places in notebooks told by cell."""
    if not any(span.file.endswith(notebook.SUFFIX) for span in _spans(finding)):
        return finding
    trail = tuple(step._replace(span=_in_cell(step.span, texts)) for step in finding.trail)
    return replace(finding, span=_in_cell(finding.span, texts), trail=trail)


def _in_cell(span: Span, texts: Texts) -> Span:
    source = texts.get(span.file) if span.file.endswith(notebook.SUFFIX) else None
    cells = source.cells if source is not None else ()
    if not cells:
        return span
    cell, line = notebook.place(cells, span.line)
    return Span(notebook.in_cell(span.file, cell), line, span.column, span.end_line - span.line + line, span.end_column)


def _spans(finding: Finding) -> tuple[Span, ...]:
    return (finding.span, *(step.span for step in finding.trail))


def _lines(findings: Iterable[Finding], texts: Texts) -> dict[str, tuple[str, ...]]:
    files = sorted({span.file for each in findings for span in _spans(each)})
    sources = (source for file in files if (source := texts.get(file)) is not None)
    return {name: text for source in sources for name, text in _text(source)}


def _text(source: Source) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lines of a file, or of each cell of a notebook."""
    text = lines(source)
    if not source.cells:
        yield source.name, text
    ends = [start - 1 for start, _ in source.cells[1:]] + [len(text)]
    for (start, cell), end in zip(source.cells, ends):
        yield notebook.in_cell(source.name, cell), text[start - 1 : end]
