"""Generators that an object gets after it was made: the constructor leaves None, and a method that is called fills it.

class Noise(nn.Module):
    def __init__(self):
        self.generator = None

    def seed(self, device):                             # noise.seed(device)
        self.generator = torch.Generator(device).manual_seed(0)
"""

from __future__ import annotations

import ast

from graphlint.effects.grammar import Effect
from graphlint.effects.table import happens
from graphlint.interp.facts import Facts
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import first
from graphlint.interp.members import late_writers
from graphlint.interp.placement import place_named
from graphlint.source import lines
from graphlint.syntax import last
from graphlint.values import DeviceValue, ExternalObject, Instance, Nothing, Place, Unknown, Value, members

GENERATOR = "torch.Generator"


def is_filled(frame: Frame, effect: Effect, facts: Facts, given: ast.expr | None) -> bool:
    """Whether a draw is from a generator that an attribute holds by then, and the effect holds for that one."""
    value = facts.given.get("generator")
    parts = members(value) if value is not None and isinstance(given, ast.Attribute) else ()
    found = [each for each in parts if isinstance(each, ExternalObject) and each.name == GENERATOR]
    if not found or value is None or not all(isinstance(each, Nothing) or each in found for each in parts):
        return False
    if not isinstance(given, ast.Attribute) or not _is_called_for(frame, given):
        return False
    facts.given["generator"] = found[0]
    holds = happens(effect, facts, frame.machine.told.torch)
    facts.given["generator"] = value
    return holds is True


def _is_called_for(frame: Frame, attribute: ast.Attribute) -> bool:
    """Whether a method that fills an attribute is called in the file of the class or of the draw."""
    owners = [each.decl for each in members(frame.eval(attribute.value)) if isinstance(each, Instance)]
    for decl in owners:
        for writer in late_writers(frame.machine, decl, last(attribute)):
            said = f".{writer.name}("
            if any(said in line for module in {decl.module, frame.module} for line in lines(module.source)):
                return True
    return False


def may_be_on_host(facts: Facts) -> bool:
    """Whether one of several devices that a draw may be given is the host: a generator there is no concern of a graph."""
    named = (place_named(each) for each in members(facts.value("device") or Nothing()) if not isinstance(each, Nothing))
    return any(place is Place.HOST for place in named)


def device_of(generator: ExternalObject) -> Value:
    """The device that a generator was made for: the host, unless another one was named."""
    made = generator.arguments
    if made is None:
        return Unknown()
    given = first(made, 0, "device")
    place = Place.HOST if given is None else place_named(given)
    return DeviceValue(place) if place is Place.HOST else Unknown()
