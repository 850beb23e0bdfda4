"""Values without parts: tensors, numbers, truth values, strings, devices, and what is not known."""

from __future__ import annotations

from typing import Any

from graphlint.types import Confidence, Target
from graphlint.values.base import Kind, Origin, Place, Value, intern


class Unknown(Value):
    """Anything at all."""

    __slots__ = ()

    def __new__(cls) -> Unknown:
        return UNKNOWN


class Opaque(Value):
    """Host data that is surely no tensor: configuration, strings, file handles, loggers."""

    __slots__ = ()

    def __new__(cls) -> Opaque:
        return OPAQUE


class Nothing(Value):
    """Python's `None`."""

    __slots__ = ()

    def __new__(cls) -> Nothing:
        return NOTHING


UNKNOWN = intern(Unknown)
OPAQUE = intern(Opaque)
NOTHING = intern(Nothing)


READ_BACK = "read back"
"""The role of a tensor on the host that was copied from the device."""


REFILLED = "refilled"
"""The role of a tensor on the host that an object keeps, and that somebody fills anew between calls."""


MOVED = "moved"
"""The role of what a position that calls move on picks out of a tensor on the host."""


class Tensor(Value):
    """A tensor; `rank` is None when unknown, `sure` says how sure it is that this is a tensor at that place.

    `role` is "", "input" (argument of the region), "parameter", "buffer", "state" (a plain attribute), `REFILLED`, `MOVED`
    or `READ_BACK`.
    """

    __slots__ = fields = ("place", "kind", "rank", "sure", "role")
    place: Place
    kind: Kind
    rank: int | None
    sure: Confidence
    role: str

    def __new__(
        cls,
        place: Place = Place.DEVICE,
        kind: Kind = Kind.ANY,
        rank: int | None = None,
        sure: Confidence = Confidence.CERTAIN,
        role: str = "",
    ) -> Tensor:
        return intern(cls, place, kind, rank, sure, role)


class Number(Value):
    """A Python int or float; `value` is None when it is not known."""

    __slots__ = fields = ("kind", "value", "origin")
    kind: Kind
    value: int | float | None
    origin: Origin

    def __new__(cls, kind: Kind = Kind.ANY, value: float | None = None, origin: Origin = Origin.CONST) -> Number:
        return intern(cls, kind, value, origin)


class Bool(Value):
    """A truth value by target: it can be true under `true_on` and false under `false_on`."""

    __slots__ = fields = ("true_on", "false_on", "origin")
    true_on: Target
    false_on: Target
    origin: Origin

    def __new__(cls, true_on: Target = Target.BOTH, false_on: Target = Target.BOTH, origin: Origin = Origin.CONFIG) -> Bool:
        return intern(cls, true_on, false_on, origin)


class Text(Value):
    """A string; `value` is None when it is not known, `pattern` then has a `*` for each part that is not."""

    __slots__ = fields = ("pattern", "value")
    pattern: str | None
    value: str | None

    def __new__(cls, value: str | None = None, pattern: str | None = None) -> Text:
        return intern(cls, pattern, value)

    def replace(self, **changes: Any) -> Text:
        return Text(changes.get("value", self.value), changes.get("pattern", self.pattern))

    @property
    def key(self) -> str:
        """The name of an attribute that goes by this string: `*` when nothing of it is known."""
        return self.value if self.value is not None else self.pattern or "*"


class DeviceValue(Value):
    """A `torch.device`; `place` is where it points, `sure` says how sure that is."""

    __slots__ = fields = ("place", "sure")
    place: Place
    sure: Confidence

    def __new__(cls, place: Place, sure: Confidence = Confidence.CERTAIN) -> DeviceValue:
        return intern(cls, place, sure)


class DtypeValue(Value):
    """A `torch.dtype`."""

    __slots__ = fields = ("kind",)
    kind: Kind

    def __new__(cls, kind: Kind) -> DtypeValue:
        return intern(cls, kind)


TRUE = Bool(Target.BOTH, Target.NONE, Origin.CONST)
FALSE = Bool(Target.NONE, Target.BOTH, Origin.CONST)
EITHER = Bool(Target.BOTH, Target.BOTH, Origin.CONFIG)
MOVING = Bool(Target.BOTH, Target.BOTH, Origin.STATE)
"""What calls turn into its opposite."""
