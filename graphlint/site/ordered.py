"""Numbers in the order in which `sorted` and `reversed` give them."""

from __future__ import annotations

import ast

from graphlint.site.things import Kind, Thing
from graphlint.site.walker import Walker


def ordered(walker: Walker, name: str, given: Thing, node: ast.Call) -> Thing:
    """What a function of Python gives of a container: another one if it puts numbers in order, else the same."""
    numbers = [] if given.kind is not Kind.CONTAINER else [(_number(each), each) for each in given.slots.values()]
    if name not in ("builtins.sorted", "builtins.reversed") or not numbers or any(key is None for key, _ in numbers):
        return given
    if name == "builtins.reversed":
        numbers.reverse()
    elif any(word.arg != "reverse" for word in node.keywords):
        return given
    else:
        numbers.sort(key=lambda each: each[0] or 0, reverse=_is_down(node))
    made = walker.thing(Kind.CONTAINER, node)
    made.slots = {f"[{place}]": each for place, (_, each) in enumerate(numbers)}
    return made


def _number(thing: Thing) -> int | None:
    value = thing.node.value if isinstance(thing.node, ast.Constant) else None
    return value if isinstance(value, int) else None


def _is_down(call: ast.Call) -> bool:
    return any(isinstance(word.value, ast.Constant) and word.value.value is True for word in call.keywords)
