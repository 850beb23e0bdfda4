"""Files become accounts: regions are interpreted, their events judged, and what belongs to one file put together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from graphlint import suppress
from graphlint.account import Account, Told, joined, marked, spans
from graphlint.config import Config
from graphlint.discover import Found
from graphlint.errors import Unreadable
from graphlint.events import Event
from graphlint.ledger import Ledger
from graphlint.notices import LIMIT, UNREADABLE, internal, notice, top
from graphlint.record import NamedTuple
from graphlint.registry import Registry
from graphlint.roots import Roots
from graphlint.source import Source, comments
from graphlint.spread import Texts
from graphlint.types import Finding, Region, Span

if TYPE_CHECKING:
    from graphlint.beyond import Beyond


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
    @property
    def away(self) -> Sequence[Event]: ...


class Interpreter(Protocol):
    """What gives the events of every region of some files, file by file.

    `names` are those of all files of the run, by path.  `ledger` takes down which file comes next and what it needed.
    """

    def __call__(
        self,
        sources: Sequence[Source],
        named: Collection[str] = (),
        names: Mapping[str, str] = ...,
        ledger: Ledger | None = None,
    ) -> Iterable[RegionEvents]: ...


class Read(NamedTuple):
    """Parsed files, and for each that is not an account with the notice that says so."""

    sources: tuple[Source, ...]
    unread: tuple[Account, ...]


class Judge(NamedTuple):
    """How files are judged; `names` are those of all `files` of the run by path, `roots` the folders they lie below."""

    config: Config
    registry: Registry
    interpret: Interpreter
    names: Mapping[str, str] = MappingProxyType({})
    roots: Roots | None = None
    files: Sequence[Found] = ()

    def accounts(self, given: Read, texts: Texts, ledger: Ledger) -> list[Account]:
        """The account of every file, also of those that cannot be read."""
        told: dict[str, list[Told]] = {source.name: [] for source in given.sources}
        broken: dict[str, list[Finding]] = {}
        if told:
            self._judge(given, ledger, told, broken)
        read = (self._account(each, told[each.name], broken.get(each.name, []), texts, ledger) for each in given.sources)
        return [*read, *given.unread]

    def _judge(self, given: Read, ledger: Ledger, told: dict[str, list[Told]], broken: dict[str, list[Finding]]) -> None:
        """Sort what the interpreter tells by file; what it fails at is lost with what would have come after."""
        ledger.file = given.sources[0].name
        beyond: Beyond | None = None
        try:
            for each in self.interpret(given.sources, self.config.regions, self.names, ledger):
                if not self._is_wanted(each):
                    continue
                if each.failure is not None:
                    broken.setdefault(ledger.file, []).append(_unfinished(each.region, each.failure))
                found = tuple(self.registry.judge(each.events, each.region.name))
                beyond = beyond or (self._beyond() if each.away else None)
                away = beyond.found(each.away, each.region.name) if beyond else ()
                told[ledger.file].append(Told(each.region, found, each.unknown_calls, each.failure is None, away))
        except Exception as error:
            lost = internal(error, top("."), "interpreting; regions not listed were not checked")
            broken.setdefault(ledger.file, []).append(lost)

    def _beyond(self) -> Beyond:
        from graphlint.beyond import Beyond  # here because a run over whole projects never leads out of them

        return Beyond(self.registry, self.config.require_reasons)

    def _is_wanted(self, each: RegionEvents) -> bool:
        """Leave out the regions that a configuration does not want; one whose analysis failed is always told."""
        only, skip = self.config.only_regions, self.config.skip_regions
        name = each.region.name
        wanted = not only or any(fnmatchcase(name, pattern) for pattern in only)
        return each.failure is not None or (wanted and not any(fnmatchcase(name, pattern) for pattern in skip))

    def _account(
        self, source: Source, told: Sequence[Told], broken: Sequence[Finding], texts: Texts, ledger: Ledger
    ) -> Account:
        found, regions = joined(told)
        # A mark may accept what another file finds here, so marks are read whether or not something was found.
        marks = suppress.marks(source, self.registry.words, self.config.require_reasons) if comments(source) else None
        account = Account(source.name, found, tuple(broken), regions, {}, marks, source.cells, *ledger.classes(source.name))
        return replace(account, lines=_lines(account, texts))


def _unfinished(region: Region, failure: Exception) -> Finding:
    if isinstance(failure, RecursionError):
        told = f"`{region.name}` nests too deeply to be followed; it was not checked to its end"
        return notice(LIMIT, region.span, told, "split the longest expression or `elif` chain in it")
    return internal(failure, region.span, f"interpreting `{region.name}`; it was not checked to its end")


def _lines(account: Account, texts: Texts) -> dict[str, dict[int, str]]:
    """The lines that findings and marks point to."""
    wanted: dict[str, set[int]] = {}
    for span in (*(span for each in (*account.found, *account.broken) for span in spans(each)), *marked(account)):
        wanted.setdefault(span.file, set()).update((span.line, span.end_line))
    return {file: texts.some(file, numbers) for file, numbers in sorted(wanted.items()) if file in texts}


def collected(readers: Iterable[tuple[str, Callable[[], Source]]]) -> Read:
    """Read every file that can be read, by name."""
    sources: list[Source] = []
    unread: list[Account] = []
    for name, reader in readers:
        try:
            sources.append(reader())
        except Unreadable as error:
            unread.append(_unread(name, error))
        except Exception as error:
            unread.append(Account(name, broken=(internal(error, top(name), f"reading `{name}`"),)))
    return Read(tuple(sources), tuple(unread))


def _unread(name: str, error: Unreadable) -> Account:
    """The account of a file that cannot be read; with the line at which it is broken, if one is."""
    span = Span(name, error.line, error.columns[0], error.line, error.columns[1])
    cure = error.hint or "mend it"
    help = f"{cure}{' ' if cure.endswith('?') else '; '}`exclude` in `[tool.graphlint]` leaves the file out"
    found = notice(UNREADABLE, span, f"`{name}` {error.reason}", help)
    return Account(name, broken=(found,), lines={name: {error.line: error.text}} if error.text else {}, cells=error.cells)
