"""Records share their methods; to everybody else they are frozen dataclasses."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, replace

import pytest

from graphlint.config import Config
from graphlint.record import NamedTuple, Record, frozen
from graphlint.types import Edit, Fix, Region, Span


@frozen
class Point(Record):
    """One with all forms of fields."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)


@frozen
class Other(Record):
    """The same fields, another class."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)


def test_fields_are_given_in_order_or_by_name_and_have_defaults() -> None:
    assert Point(1, 3) == Point(x=1, y=3) == Point(1, y=3, names=[])
    first, second = Point(1), Point(1)
    assert first.y == 2 and first.names == [] and first.names is not second.names
    assert repr(first) == "Point(x=1, y=2, names=[])"


def test_too_few_too_many_and_unknown_values_are_refused() -> None:
    with pytest.raises(TypeError, match="`Point` needs `x`"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has 3 fields, not 4"):
        Point(1, 2, [], 4)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Point(1, z=3)  # type: ignore[call-arg]


def test_a_record_is_frozen() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_records_are_equal_when_class_and_fields_are() -> None:
    assert Point(1) != Point(2) and Point(1) != Other(1) and Point(1) != (1, 2, [])
    fix = Fix("a title", "safe", (Edit(Span("m.py", 1, 0, 1, 1), "x"),))
    assert len({fix, replace(fix), replace(fix, safety="unsafe")}) == 2


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), replace])
def test_a_copy_is_the_same(made: Callable[[Record], Record]) -> None:
    for one in (Region("a", "function", Span("m.py", 1, 0, 2, 0)), Config(select=("GL1",)), Point(1, names=["a"])):
        assert made(one) == one


def test_what_works_for_dataclasses_works_for_records() -> None:
    assert asdict(Point(1)) == {"x": 1, "y": 2, "names": []}
    match Point(4, 5):
        case Point(x, y):
            assert (x, y) == (4, 5)


class Pair(NamedTuple):
    """A named tuple."""

    left: int
    right: str = "r"

    @property
    def both(self) -> str:
        return f"{self.left}{self.right}"


def test_a_named_tuple_is_one_of_the_library() -> None:
    pair = Pair(1)
    assert (pair, pair.both, Pair.__doc__) == ((1, "r"), "1r", "A named tuple.")
    assert Pair._fields == ("left", "right") and Pair._field_defaults == {"right": "r"}
    assert pickle.loads(pickle.dumps(pair)) == pair and repr(pair._replace(left=2)) == "Pair(left=2, right='r')"
    with pytest.raises(TypeError):
        Pair()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        pair.left = 2  # type: ignore[misc]
