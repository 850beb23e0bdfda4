"""Where `graphlint check` keeps what it found, under which name, and what that rests on; and `graphlint clean`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from graphlint import __version__, baseline, config, packs
from graphlint.cache import printed, store, tree, witness
from graphlint.cache.printed import Printed
from graphlint.commands import quick
from graphlint.commands.options import configured as chosen
from graphlint.commands.options import named
from graphlint.config import Config
from graphlint.judge import Interpreter
from graphlint.later import Findings
from graphlint.registry import Registry
from graphlint.rerun import Kept, Rechecked, recheck
from graphlint.types import Report

CHOICES = frozenset(
    {
        "select",
        "ignore",
        "per_file_ignores",
        "min_confidence",
        "target",
        "fail_on",
        "baseline",
        "confirm",
        "cache_dir",
        "origin",
        "said",
    }
)
"""The settings that only choose from what is found."""
FEW = 8
"""The part of the pieces of an output that may be printed anew each time, as one in so many."""


@dataclass
class Cache:
    """What one command keeps in a folder, under the paths it is about; `done` is the run that was made with it.

    `pieces` are of what was printed before, and take up what is new."""

    folder: str
    about: Sequence[str]
    started: int
    done: Rechecked | None = None

    def __post_init__(self) -> None:
        self.file = quick.name(sys.argv[1:], os.environ)
        self.pieces = quick.pieces.get(self.file, {})
        self.known = len(self.pieces)

    def checked(self, paths: Sequence[str], settings: Config, known: Registry, interpret: Interpreter) -> Report:
        """Check from what is kept."""
        own = {path: witness.look(path) for path in sorted(sources(known))}
        everything = {key: repr(value) for key, value in asdict(settings).items()}
        choices = {key: everything.pop(key) for key in sorted(CHOICES)}
        basis = store.name((__version__, sys.version, repr(sorted(everything.items())), repr(own)), "")
        file = store.name((os.getcwd(), settings.origin, *self.about), tree.ENDING)
        kept = Kept(self.folder, file, basis, store.name((repr(choices),), ""))
        self.done = recheck(paths, settings, known, interpret, kept)
        return self.done.report

    def remember(self, text: str, status: int, report: Report, settings: Config, known: Registry) -> None:
        """Keep what was printed, for when nothing at all has changed, or only a part."""
        if self.done is None or packs.stranger():
            return
        # What was seen before anything was read is as good: what was written since then looks otherwise.
        seen = dict(self.done.seen)
        every = {*sources(known), *_paths(self.done), *_configuration(settings), *filter(None, sys.path)}
        seen.update(witness.looks(every.difference(seen)))
        used = [each for each in (settings.origin, _baseline(settings)) if each]
        if any(seen.get(path) == witness.ABSENT for path in (*used, *sources(known))):
            return
        pieces = self._pieces(report)
        holds = printed.is_settled(seen, self.started)
        # What cannot be repeated is kept for its pieces, if many of them are new.
        if holds or len(pieces) < FEW * (len(self.pieces) - self.known):
            printed.save(self.folder, self.file, Printed(status, text, pieces, holds), seen)

    def _pieces(self, report: Report) -> dict[str, str]:
        """The text of every file's findings as it was printed, by what it says."""
        if not isinstance(report.findings, Findings):
            return {}
        keys = (each.key for each in report.findings.pieces)
        return {key: self.pieces[key] for key in keys if key in self.pieces}


def sources(known: Registry) -> frozenset[str]:
    """The files that decide what is found: graphlint's own, and every module that rules came with."""
    library = os.path.dirname(os.__file__)
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    beside = {os.path.dirname(each) for rule in known.rules if (each := _file(rule.judge.__module__))}
    outside = {each for each in loaded if each and not _is_below(each, library)}
    return frozenset({*outside, *_below(os.path.dirname(os.path.dirname(__file__))), *beside})


def _file(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _is_below(path: str, library: str) -> bool:
    return path.startswith(library + os.sep) and "site-packages" not in path


def _below(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _below(entry.path)
        elif entry.is_file():
            yield entry.path


def _paths(done: Rechecked) -> Iterator[str]:
    """Everything that a run looked at below the given paths and around them."""
    yield from done.discovery.looked
    yield from done.tree.looks
    yield from done.tree.folders
    yield from (str(each.path) for each in done.discovery.files)


def _configuration(settings: Config) -> Iterator[str]:
    """Where a configuration is looked for, and what it names."""
    for folder in config.folders(Path.cwd()):
        yield from (str(folder / name) for name in config.FILES)
    if settings.origin:
        yield settings.origin
    if settings.baseline:
        yield _baseline(settings)
        # Entries of files that are gone are told differently from those of files that were not checked.
        yield from (str(settings.root / each.file) for each in baseline.load(Path(_baseline(settings))).values())


def _baseline(settings: Config) -> str:
    return str(settings.root / settings.baseline) if settings.baseline else ""


def folder(settings: Config, given: object, environment: Mapping[str, str]) -> str:
    """The folder of a run: the one that was given, that the environment or the settings name, or the user's own."""
    if given or environment.get(quick.FOLDER):
        return os.path.abspath(str(given or environment[quick.FOLDER]))
    if settings.cache_dir:
        return os.path.join(os.path.abspath(settings.root), settings.cache_dir)
    return quick.standard(environment)


def opened(settings: Config, options: Mapping[str, object], started: int, about: Sequence[str]) -> Cache | None:
    """The cache of a run; None where this user has no folder for one, or where the one that was named is of no use."""
    found = folder(settings, options.get("cache_dir"), os.environ)
    is_named = bool(options.get("cache_dir") or os.environ.get(quick.FOLDER) or settings.cache_dir)
    if is_named and (reason := store.refusal(found)):
        _tell_once(f"graphlint: results are not kept: `{found}` cannot be written: {reason}")
        return None
    return Cache(found, about, started) if found else None


_told: set[str] = set()


def _tell_once(said: str) -> None:
    """Print a line that a process which checks again and again has not printed yet."""
    if said not in _told:
        _told.add(said)
        click.echo(said, err=True)


def configured(environment: Mapping[str, str]) -> str:
    """The folder that the configuration of the working folder names."""
    return folder(config.load(Path.cwd()), None, environment)


@click.command(short_help="Remove what earlier runs of `check` have kept.")
@click.option("--cache-dir", default="", callback=named, metavar="DIR", help="The folder, if it is not the usual one.")
def clean(cache_dir: str) -> None:
    """Remove what earlier runs of `check` have kept for later ones.

    Nothing needs that: what is kept is compared with what is there, and the oldest goes when it becomes too much.
    """
    where = folder(chosen("", False), cache_dir, os.environ)
    number = store.clean(where) if where else 0
    click.echo(f"{number:,} file{'s' * (number != 1)} removed from `{where}`")
