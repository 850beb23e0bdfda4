"""The events of the capture sites of a file, one group a region."""

from __future__ import annotations

from collections.abc import Iterator

from graphlint.events import Event
from graphlint.project import Module, Project
from graphlint.record import NamedTuple
from graphlint.site.answers import told
from graphlint.types import Region, Span

ONLY_COMPILED, CAPTURED = "compiled class", "captured class"
"""Kinds of regions of which only is known how they are run."""


class SiteEvents(NamedTuple):
    """What the code around one region does to it; `failure` is the exception that ended the walk of its file."""

    region: Region
    events: tuple[Event, ...]
    failure: Exception | None = None


def read_sites(project: Project, module: Module) -> Iterator[SiteEvents]:
    """The regions to which code of a file does something from outside."""
    found: dict[Region, list[Event]] = {}
    try:
        for region, event in told(project, module):
            found.setdefault(region, []).extend([] if event is None else [event])
    except (Exception, RecursionError) as error:
        name = module.source.name
        yield SiteEvents(Region(module.name, "failed", Span(name, 1, 0, 1, 0)), (), error)
    for region, events in found.items():
        yield SiteEvents(region, tuple(events))
