"""Run regions on abstract values: `interpret(sources)` gives the events of every region.

    project    modules, classes, names          frame      one activation: variables, live targets, events
    regions    where captured code is           machine    calls, globals, objects, summaries
    entry      arguments of a region            dispatch   what calling, indexing ... a value means, by its type

Handlers register themselves by importing their modules, which happens here; the few that are imported when they are
needed stand in `handlers.LATER` and `frame.LATER`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphlint.config import Config
from graphlint.interp import (
    callbacks,
    calls,
    comparisons,
    compiling,
    containers,
    expressions,
    indexing,
    module_containers,
    modules,
    operators,
    python,
    reflection,
    statements,
    texts,
    transfers,
    wrapped,
)
from graphlint.interp.grounding import narrowed, supposed
from graphlint.interp.lasting import Ground, Lasting
from graphlint.interp.readout import RegionEvents
from graphlint.interp.told import NOTHING_TOLD, Told, assumed
from graphlint.ledger import Ledger
from graphlint.outline import outlined
from graphlint.project import Module, Project
from graphlint.site.readout import CAPTURED, ONLY_COMPILED, read_sites
from graphlint.source import Source, parse_bytes
from graphlint.types import Region, Target

if TYPE_CHECKING:
    from graphlint.interp.standing import Standing

__all__ = ["RegionEvents", "interpret", "interpreter"]

HANDLERS = (
    callbacks,
    calls,
    comparisons,
    compiling,
    containers,
    expressions,
    indexing,
    module_containers,
    modules,
    operators,
    python,
    reflection,
    statements,
    texts,
    transfers,
    wrapped,
)


def interpreter(
    settings: Config, unsaved: Mapping[str, bytes] = MappingProxyType({}), standing: Standing | Lasting | None = None
) -> partial[Iterator[RegionEvents]]:
    """`interpret` as a configuration wants it: for its version of torch, and with what it says of functions.

    `unsaved` has what files hold in an editor, by absolute path; modules that are imported are read from it too.
    `standing` has what was computed at an earlier call.
    """
    reader = partial(_read, unsaved) if unsaved else outlined
    return partial(interpret, told=Told(assumed(settings)), reader=reader, standing=standing)


def _read(unsaved: Mapping[str, bytes], path: Path, name: str) -> Source:
    data = unsaved.get(os.path.abspath(path))
    return outlined(path, name) if data is None else parse_bytes(data, name, path)


def interpret(
    sources: Sequence[Source],
    named: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
    ledger: Ledger | None = None,
    told: Told = NOTHING_TOLD,
    reader: Callable[[Path, str], Source] = outlined,
    standing: Standing | Lasting | None = None,
) -> Iterator[RegionEvents]:
    """The events of every region of these files, file by file; `named` are functions that are regions too.

    What a region does comes with what the code around it does to it.  `names` are the names under which all files of
    the run are reported: a region of one file may lead to events in another.  `told` is what the code does not show,
    `reader` reads what they import, and `standing` has what was computed before.
    """
    noted = ledger or Ledger()
    project, regions = (standing or Lasting()).over(sources, Ground(reader, names, noted.roots, named, told))
    for module in project.given:
        noted.file = module.source.name
        yield from _of_file(project, module, regions(module), noted)
        if ledger is not None:
            ledger.needs[module.source.name], facts = project.needs(module)
            ledger.facts.update(facts)


def _of_file(project: Project, module: Module, inside: Iterable[RegionEvents], ledger: Ledger) -> Iterator[RegionEvents]:
    around, file = _around(project, module, ledger), module.source.name
    only, used, captured = ledger.only_compiled(file), set(), ledger.captured[file]
    for each in inside:
        outside = around.pop(_place(each.region), None)
        more = outside.events if outside is not None else ()
        events, away = each.events, each.away
        if each.region.name in only:
            used.add(each.region.name)
            events, away = narrowed(events, Target.COMPILE), narrowed(away, Target.COMPILE)
        elif each.region.kind == "forward" and each.region.name not in captured:
            events, away = supposed(events), supposed(away)
        yield each._replace(events=(*events, *more), away=away)
    ledger.used[file] = frozenset(used)
    yield from around.values()


def _around(project: Project, module: Module, ledger: Ledger) -> dict[tuple[str, str, int], RegionEvents]:
    """What code of a file does to regions from outside, by region; which classes it only compiles goes to the ledger."""
    around: dict[tuple[str, str, int], RegionEvents] = {}
    kinds: dict[str, set[str]] = {ONLY_COMPILED: set(), CAPTURED: set()}
    for each in read_sites(project, module):
        if each.region.kind in kinds:
            kinds[each.region.kind].add(each.region.name)
            continue
        known = around.setdefault(_place(each.region), RegionEvents(each.region, (), 0, each.failure))
        around[_place(each.region)] = known._replace(events=(*known.events, *each.events))
    ledger.compiled[module.source.name] = frozenset(kinds[ONLY_COMPILED])
    ledger.captured[module.source.name] = frozenset(kinds[CAPTURED])
    return around


def _place(region: Region) -> tuple[str, str, int]:
    return region.name, region.span.file, region.span.line
