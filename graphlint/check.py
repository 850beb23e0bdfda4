"""One run of `graphlint check`: read, interpret, judge, keep.

    discover -> sources -> events a region -> findings -> an account a file -> a page a file -> Report

What cannot be read or fails inside becomes a notice; the other files and regions are reported all the same.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from graphlint import baseline, notebook, pages
from graphlint.account import Account, Lines, needed, only_compiled, spans
from graphlint.config import Config
from graphlint.discover import Discovery, Found, Refused, discover, excludes, reported
from graphlint.effects import table
from graphlint.errors import UsageError
from graphlint.generated import classes, made, without_templates
from graphlint.judge import Interpreter, Judge, Read, collected
from graphlint.later import codes
from graphlint.ledger import Ledger
from graphlint.merge import place
from graphlint.notices import UNREADABLE, notice, top
from graphlint.pages import Chooser, Page
from graphlint.registry import Registry
from graphlint.roots import Roots
from graphlint.source import Source, content, parse_again, parse_bytes, quiet, read, text_of
from graphlint.spread import Texts, spread
from graphlint.types import Finding, RegionReport, Report, Span

Cells = Mapping[str, tuple[tuple[int, int], ...]]
"""For each notebook the first line of every code cell with the number of the cell."""


MOST_PASSED = 3
"""Given files that are not read and are named one by one."""


def check(
    paths: Sequence[str],
    config: Config,
    registry: Registry,
    interpret: Interpreter,
    unsaved: Mapping[str, bytes] = MappingProxyType({}),
    at_once: bool = False,
) -> Report:
    """Check files and folders; raises `UsageError` and `ConfigError`, never for what a file contains.

    `unsaved` has what files hold in an editor, by absolute path; it is read instead of what is on disk.  All files are
    one batch if they are to be interpreted `at_once`.
    """
    validate(config, registry)
    given = found(paths, config, unsaved)

    def once(broken: Collection[str]) -> Report:
        say, define = partial(made, unsaved=unsaved), partial(classes, unsaved=unsaved)
        discovery = without_templates(given, say, define, broken)
        return _once(discovery, config, registry, interpret, unsaved, at_once)

    report = once(())
    report = once(broken) if (broken := unparsed(report)) else report
    return with_doubts(report, config, paths)


def with_doubts(report: Report, config: Config, paths: Sequence[str]) -> Report:
    """A report with what is to be said of regions and a version that a configuration names and nobody knows."""
    major, minor = config.torch_version.split(".")[:2]
    if (int(major), int(minor)) > table.NEWEST:
        known = ".".join(map(str, table.NEWEST))
        told = f"torch {config.torch_version} is newer than {known}, the last that is known; what it changed is left out"
        report = replace(report, remarks=(*report.remarks, told))
    if not config.regions and not config.only_regions:
        return report
    from graphlint.misnamed import misnamed  # here because few configurations name regions

    return replace(report, remarks=(*report.remarks, *misnamed(report, config, paths)))


def unparsed(report: Report) -> frozenset[str]:
    """The files that could not be read, where templates were left out that may have been left to them."""
    if not report.templates or UNREADABLE.code not in codes(report.findings):
        return frozenset()
    return frozenset(each.span.file for each in report.findings if each.code == UNREADABLE.code)


def _once(
    discovery: Discovery,
    config: Config,
    registry: Registry,
    interpret: Interpreter,
    unsaved: Mapping[str, bytes],
    at_once: bool,
) -> Report:
    """Check the files that are left when templates are."""
    texts = Texts(discovery.files, partial(read_found, unsaved=unsaved))
    judge = judged(discovery.files, config, registry, interpret)
    accounts, _ = analysed(discovery.files, judge, unsaved, at_once=at_once)
    only = only_compiled(accounts.values())
    otherwise = misjudged(accounts.values(), only)
    if otherwise:
        accounts.update(analysed([each for each in discovery.files if each.name in otherwise], judge, unsaved, only)[0])
    return said_of(_report(accounts, texts, config, registry, unlisted(discovery)), discovery)


def said_of(report: Report, discovery: Discovery) -> Report:
    """A report with what is to be said of the files that were looked for."""
    return replace(report, remarks=remarks(discovery), templates=len(discovery.templates))


def judged(files: Sequence[Found], config: Config, registry: Registry, interpret: Interpreter) -> Judge:
    """The judge of the files of one run."""
    names = {str(each.path): each.name for each in files}
    return Judge(config, registry, interpret, names, Roots((each.path for each in files), table.parts), files)


def found(paths: Sequence[str], config: Config, unsaved: Mapping[str, bytes] = MappingProxyType({})) -> Discovery:
    """The files of a run; what an editor holds and nobody has saved yet is one of them."""
    unborn = [path for path in paths if path in unsaved and not os.path.lexists(path)]
    discovery = discover([path for path in paths if path not in unborn], config.exclude, config.root)
    files = (*discovery.files, *(Found(Path(path), reported(path)) for path in unborn))
    if config.exclude:
        # Files named on the command line are read whatever they are called, unless a pattern of the project says no.
        out = {each.name for each in files if excludes(each, config.exclude, config.root)}
        files = tuple(each for each in files if each.name not in out)
        left = (Refused(name, "is left out by `exclude`") for name in sorted(out))
        discovery = discovery._replace(passed=(*discovery.passed, *left))
    return discovery._replace(files=files)


def unlisted(discovery: Discovery) -> Account:
    """Notices of folders that could not be listed, as the account of no file."""
    told = (notice(UNREADABLE, top(each.name), f"`{each.name}` {each.reason}") for each in discovery.refused)
    return Account("", broken=tuple(told))


def remarks(discovery: Discovery) -> tuple[str, ...]:
    """What a user may not expect of the paths that were given."""
    empty = tuple(f"no Python file was found under `{each}`" for each in discovery.empty)
    if len(discovery.passed) > MOST_PASSED:
        return (*empty, f"{len(discovery.passed)} of the given files are left out by `exclude` or are stubs")
    return (*empty, *(f"`{each.name}` {each.reason}" for each in discovery.passed))


def analysed(
    files: Sequence[Found],
    judge: Judge,
    unsaved: Mapping[str, bytes] = MappingProxyType({}),
    elsewhere: frozenset[str] | None = None,
    at_once: bool = False,
) -> tuple[dict[str, Account], Ledger]:
    """The account of each file, by name, and what they rest on; `elsewhere` is what a ledger says of it."""
    accounts: dict[str, Account] = {}
    ledger = Ledger(judge.roots)
    job = partial(accounts_of, judge, unsaved, elsewhere)
    for batch, notes in [job(files)] if at_once else spread(files, job):
        accounts.update((each.file, each) for each in batch)
        ledger.add(notes)
    return accounts, ledger


def misjudged(accounts: Iterable[Account], only: frozenset[str]) -> frozenset[str]:
    """The files with a class of which another file says how it is run; `only` are those that are only compiled."""
    return frozenset(
        each.file
        for each in accounts
        if only or each.used
        if only & {judged.region.name for judged in each.regions} != each.used
    )


def accounts_of(
    judge: Judge, unsaved: Mapping[str, bytes], elsewhere: frozenset[str] | None, group: Sequence[Found]
) -> tuple[list[Account], Ledger]:
    """The account of each file of a batch, and what they rest on."""
    with quiet():  # once for all: a thousand texts are parsed
        return _accounts_of(judge, unsaved, elsewhere, group)


def _accounts_of(
    judge: Judge, unsaved: Mapping[str, bytes], elsewhere: frozenset[str] | None, group: Sequence[Found]
) -> tuple[list[Account], Ledger]:
    given = read_all(group, unsaved)
    known = {source.name: source for source in given.sources}
    texts = Texts(judge.files, partial(read_found, unsaved=unsaved), known, partial(_plain, unsaved))
    ledger = Ledger(judge.roots, elsewhere=elsewhere)
    return judge.accounts(given, texts, ledger), ledger.notes()


def _plain(unsaved: Mapping[str, bytes], found: Found) -> str:
    """The text of a file as findings count its lines; raises `Unreadable`."""
    data = unsaved.get(os.path.abspath(found.path)) if unsaved else None
    return text_of(content(found.path) if data is None else data, found.name)


def check_sources(given: Read, config: Config, registry: Registry, interpret: Interpreter) -> Report:
    """Check what has been read already."""
    texts = Texts((), read_found, {source.name: source for source in given.sources})
    judge = Judge(config, registry, interpret)
    accounts = {each.file: each for each in judge.accounts(given, texts, Ledger())}
    only = only_compiled(accounts.values())
    if misjudged(accounts.values(), only):
        accounts = {each.file: each for each in judge.accounts(given, texts, Ledger(elsewhere=only))}
    return _report(accounts, texts, config, registry, Account(""))


def _report(accounts: Mapping[str, Account], texts: Texts, config: Config, registry: Registry, around: Account) -> Report:
    """Put the accounts of all files together and keep what the user has not accepted."""
    chooser = Chooser(config, registry, texts.path, texts)
    lines = together(each.lines for each in accounts.values())
    by_file = pages.entries([*accounts.values(), around])
    told = [chooser.page(file, by_file[file], lines) for file in sorted(by_file)]
    fresh = accepted([each for page in told for each in page.findings], accounts, chooser)
    kept = {place(each) for each in fresh.findings}
    regions = [each for account in accounts.values() for each in chooser.regions(account, kept.__contains__)]
    cells = {each.file: each.cells for each in accounts.values() if each.cells}
    return assembled(told, fresh, regions, len(accounts), cells, lines)


def accepted(findings: Sequence[Finding], files: Iterable[str], chooser: Chooser) -> baseline.Compared:
    """What the baseline does not hold."""
    config = chooser.config
    if not config.baseline:
        return baseline.Compared(tuple(findings), 0, ())
    homes = set(map(chooser.home, files))
    known = baseline.load(Path(config.root) / config.baseline)
    return baseline.compare(findings, known, lambda file: file in homes or not os.path.exists(config.root / file))


def assembled(
    told: Sequence[Page],
    fresh: baseline.Compared,
    regions: Iterable[RegionReport],
    files: int,
    cells: Cells,
    lines: Lines,
) -> Report:
    """The report of all pages and regions; what a notebook holds is told by cell."""
    # Files and regions that were not looked at to the end: to say nothing of them would be a claim.
    unchecked = {each for page in told for each in page.unchecked}
    return Report(
        findings=tuple(_in_cells(each, cells) for each in fresh.findings) if cells else fresh.findings,
        files=files,
        regions=tuple(sorted((_placed(each, cells) for each in pages.joined(regions)), key=by_place)),
        suppressed=sum(each.suppressed for each in told) + fresh.accepted,
        unread=tuple(sorted({each.span.file for each in fresh.findings if place(each) in unchecked})),
        hidden=sum(each.hidden for each in told),
        limits=sum(each.limits for each in told),
        lines=by_cell(needed(fresh.findings, lines), cells),
        gone=fresh.gone,
    )


def together(some: Iterable[Lines]) -> dict[str, dict[int, str]]:
    """The lines that several bring, by file."""
    lines: dict[str, dict[int, str]] = {}
    for each in some:
        for file, known in each.items():
            lines.setdefault(file, {}).update(known)
    return lines


def by_cell(some: Lines, cells: Cells) -> dict[str, tuple[str, ...]]:
    """Lines by file, or by cell of a notebook, at their index; those that nobody asked for are left empty."""
    found: dict[str, dict[int, str]] = {}
    for file, numbered in some.items():
        if file not in cells:
            found[file] = dict(numbered)
            continue
        for number, text in numbered.items():
            place = _in_cell(Span(file, number, 0, number, 0), cells)
            found.setdefault(place.file, {})[place.line] = text
    return {file: _whole(found[file]) for file in sorted(found) if found[file]}


def _whole(some: Mapping[int, str]) -> tuple[str, ...]:
    lines = [""] * max(some)
    for number, text in some.items():
        lines[number - 1] = text
    return tuple(lines)


def _in_cells(finding: Finding, cells: Cells) -> Finding:
    """A finding with its places in notebooks told by cell."""
    if not any(span.file in cells for span in spans(finding)):
        return finding
    trail = tuple(step._replace(span=_in_cell(step.span, cells)) for step in finding.trail)
    return replace(finding, span=_in_cell(finding.span, cells), trail=trail)


def _placed(report: RegionReport, cells: Cells) -> RegionReport:
    if report.region.span.file not in cells:
        return report
    return replace(report, region=replace(report.region, span=_in_cell(report.region.span, cells)))


def _in_cell(span: Span, cells: Cells) -> Span:
    own = cells.get(span.file)
    if own is None:
        return span
    cell, line = notebook.place(own, span.line)
    return Span(notebook.in_cell(span.file, cell), line, span.column, span.end_line - span.line + line, span.end_column)


def by_place(report: RegionReport) -> tuple[str, int, str]:
    """The key by which regions are sorted: file, line, name."""
    return report.region.span.file, report.region.span.line, report.region.name


def validate(config: Config, registry: Registry) -> None:
    """Refuse selectors that select nothing; raises `UsageError`."""
    per_file = [code for _, codes in config.per_file_ignores for code in codes]
    for key, words in (("select", config.select), ("ignore", config.ignore), ("per-file-ignores", per_file)):
        where = f", which `{key}` in `{os.path.basename(config.origin)}` names" if key in config.said else ""
        for word in words:
            if not word:
                raise UsageError("an empty word selects every rule", "write codes, prefixes such as `GL1`, or names")
            if not any(page.name == word or page.code.startswith(word) for page in registry.pages):
                raise UsageError(f"no rule has the code or name `{word}`{where}", registry.hint(word))


def read_all(files: Iterable[Found], unsaved: Mapping[str, bytes] = MappingProxyType({})) -> Read:
    """Read every file that can be read."""
    return collected((each.name, partial(read_found, each, unsaved)) for each in files)


def read_found(found: Found, unsaved: Mapping[str, bytes] = MappingProxyType({})) -> Source:
    """Read one file, from the editor's buffer if it has one; raises `Unreadable`."""
    if not unsaved:
        return read(found.path, found.name)
    text = unsaved.get(os.path.abspath(found.path))
    # An editor asks again and again, and hardly anything has changed.
    return parse_again(content(found.path) if text is None else text, found.name, found.path)


def read_text(data: bytes, name: str) -> Read:
    """Read one file whose content is at hand."""
    return collected([(name, partial(parse_bytes, data, name))])


def home(file: str, texts: Texts, config: Config) -> str:
    """The name of a file relative to the root of the configuration, wherever the run started."""
    return pages.home(file, texts.path(file), config)
