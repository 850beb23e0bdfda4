"""What is predicted of each region by itself: a report tells a finding once, with one of the regions that lead to it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphlint import check, registry
from graphlint.account import Account, Judged
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.interp.lasting import Lasting
from graphlint.types import Confidence, Effect

Line = tuple[str, int]


def refusals(paths: Iterable[Path], root: Path) -> dict[str, set[Line]]:
    """By the name of each region below some folders, the lines that its capture is predicted to be refused on.

    Files are named relative to `root`; findings that are no more than possible are left out.
    """
    config = Config()
    files = check.found([str(path) for path in paths], config).files
    judge = check.judged(files, config, registry.load(), interpreter(config, standing=Lasting()))
    accounts, _ = check.analysed(files, judge)
    return {one.region.name: _lines(each, one, root) for each in accounts.values() for one in each.regions}


def _lines(account: Account, judged: Judged, root: Path) -> set[Line]:
    told = [own for own in judged.own if own.confidence is not Confidence.POSSIBLE and _breaks(own.effects)]
    spans = [account.found[own.number].span for own in told]
    return {((Path.cwd() / span.file).relative_to(root).as_posix(), span.line) for span in spans}


def _breaks(effects: Iterable[tuple[str, Effect]]) -> bool:
    return any(target == "graph" and effect is Effect.BREAKS for target, effect in effects)
