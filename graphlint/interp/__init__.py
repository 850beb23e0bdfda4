"""Run regions on abstract values: `interpret(sources)` gives the events of every region.

    project    modules, classes, names          frame      one activation: variables, live targets, events
    regions    where captured code is           machine    calls, globals, objects, summaries
    entry      arguments of a region            dispatch   what calling, indexing ... a value means, by its type

Handlers register themselves by importing their modules, which happens here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from graphlint.interp import calls, expressions, indexing, modules, operators, python, statements, torch_calls, transfers
from graphlint.interp.readout import RegionEvents, read_regions
from graphlint.project import Project
from graphlint.source import Source

__all__ = ["RegionEvents", "interpret"]

HANDLERS = (calls, expressions, indexing, modules, operators, python, statements, torch_calls, transfers)


def interpret(sources: Sequence[Source], named: Collection[str] = ()) -> Iterator[RegionEvents]:
    """The events of every region of these files, file by file; `named` are functions that are regions too."""
    return read_regions(Project(sources), named)
