"""Every question, asked of every story of a file.

Hardly any file has a story, and what walks and asks takes longer to import than a small file to check.  So here and in
what says which code is walked (`roots`, `within`), it is imported where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from graphlint.events import Event
from graphlint.project import Module, Project
from graphlint.site.roots import walks
from graphlint.site.within import regions
from graphlint.source import Source
from graphlint.types import Region, Span


def site_events(source: Source, project: Project) -> Iterator[tuple[Region, Event]]:
    """What the code around the captures of one file does to them."""
    module = next((each for each in project.given if each.source is source), None)
    if module is not None:
        given = project.reported()
        for region, event in told(project, module):
            if event is not None and event.span.file in given:
                yield region, event


def told(project: Project, module: Module) -> Iterator[tuple[Region, Event | None]]:
    """The events of a file, and None once for every compiled or graphed callable, to which nothing need be done."""
    known: set[Region] = set()
    seen: set[tuple[type[Event], Span]] = set()
    for region, event in _events(project, module):
        if event is None and region not in known:
            yield region, None
        elif event is not None and (type(event), event.span) not in seen:
            # A loop is walked twice, and a helper from several places.
            seen.add((type(event), event.span))
            yield region, event
        known.add(region)


def _events(project: Project, module: Module) -> Iterator[tuple[Region, Event | None]]:
    for each in regions(project, module):
        yield from _questions().alone(each)
    for acts in walks(project, module):
        yield from _questions().asked(module, acts)


def _questions() -> ModuleType:
    from graphlint.site import questions

    return questions
