"""Variables that one pass of a loop hands to the next."""

from __future__ import annotations

import ast

import pytest

from graphlint.interp.passing import passed_on

LOOPS = [
    ("for x in xs:\n    y = x + 1\n    z = y", set()),
    ("for x in xs:\n    total = total + x", {"total"}),
    ("for x in xs:\n    total += x", {"total"}),
    ("for x in xs:\n    if x:\n        y = 1\n    z = y", {"y"}),
    ("for x in xs:\n    if x:\n        y = 1\n    else:\n        y = 2\n    z = y", set()),
    ("for x in xs:\n    for y in x:\n        z = y\n    w = z", {"z"}),
    ("for i, (a, b) in xs:\n    c = a + b + i", set()),
    ("for x in xs:\n    with make(x) as y:\n        z = y", {"make"}),
    ("for x in xs:\n    try:\n        y = x\n    except E:\n        pass\n    z = y", {"E", "y"}),
    ("while going:\n    going = step(going)", {"going", "step"}),
    ("for x in xs:\n    f = lambda: later\n    later = x", {"later"}),
    ("for x in xs:\n    y: int\n    z = y", {"int", "y"}),
    ("for x in xs:\n    if (n := x):\n        y = n", {"n"}),
]


@pytest.mark.parametrize(("text", "names"), LOOPS)
def test_what_may_be_read_before_a_pass_binds_it(text: str, names: set[str]) -> None:
    (loop,) = ast.parse(text).body
    assert passed_on(loop) == names
