"""Callables that `operator` makes: `methodcaller`, `attrgetter` and `itemgetter`, which do to what they are given
what they were told when they were made."""

from __future__ import annotations

import ast

from graphlint.interp.dispatch import apply, attribute, item
from graphlint.interp.frame import Frame
from graphlint.interp.handlers import function
from graphlint.values import Arguments, External, Partial, Seq, Text, Unknown, Value

MADE = "made"
CALLER, ATTRIBUTE, ITEM = f"operator.methodcaller.{MADE}", f"operator.attrgetter.{MADE}", f"operator.itemgetter.{MADE}"


@function("operator.methodcaller")
def methodcaller(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return Partial(External(CALLER), arguments)


@function("operator.attrgetter")
def attrgetter(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return Partial(External(ATTRIBUTE), arguments)


@function("operator.itemgetter")
def itemgetter(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return Partial(External(ITEM), arguments)


@function(CALLER)
def call_method(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`methodcaller("item")(x)` is `x.item()`."""
    if len(arguments.positional) < 2:
        return Unknown()
    name, *given, owner = arguments.positional
    if not isinstance(name, Text) or name.value is None:
        return Unknown()
    return apply(frame, attribute(frame, owner, name.value, node), arguments.replace(positional=tuple(given)), node)


@function(ATTRIBUTE)
def get_attribute(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`attrgetter("a.b")(x)` is `x.a.b`; of several names it gives a tuple."""
    *names, owner = arguments.positional or (Unknown(),)
    found = [_followed(frame, owner, name, node) for name in names]
    return found[0] if len(found) == 1 else Seq("tuple", tuple(found))


def _followed(frame: Frame, owner: Value, name: Value, node: ast.AST) -> Value:
    if not isinstance(name, Text) or name.value is None:
        return Unknown()
    for word in name.value.split("."):
        owner = attribute(frame, owner, word, node)
    return owner


@function(ITEM)
def get_item(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`itemgetter(i)(x)` is `x[i]`; of several indices it gives a tuple."""
    *indices, owner = arguments.positional or (Unknown(),)
    found = [item(frame, owner, index, node) for index in indices]
    return found[0] if len(found) == 1 else Seq("tuple", tuple(found))
