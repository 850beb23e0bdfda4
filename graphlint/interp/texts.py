"""Texts: put together from parts, and changed by their own methods, as far as they are known."""

from __future__ import annotations

import ast

from graphlint.interp.expressions import formats
from graphlint.interp.frame import Frame, expression
from graphlint.interp.handlers import method
from graphlint.values import Arguments, Text, Unknown, Value, join, only_word

CHANGING = {"replace": 2, "removeprefix": 1, "removesuffix": 1, "lower": 0, "strip": 0}
"""Methods that give another text, with how many texts they take."""


@expression(ast.JoinedStr)
def eval_joined(frame: Frame, node: ast.JoinedStr) -> Value:
    pattern, is_open = "", False
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = frame.eval(part.value)
            formats(frame, value, part, "f-string")
            word = only_word(value)
            pattern += "*" if word is None else word
            is_open = is_open or (word is not None and not isinstance(value, Text))
        elif isinstance(part, ast.Constant):
            pattern += str(part.value)
    if "*" in pattern:
        return Text(None, pattern)
    return join(Text(pattern), Unknown()) if is_open else Text(pattern)


@expression(ast.FormattedValue)
def eval_formatted(frame: Frame, node: ast.FormattedValue) -> Value:
    formats(frame, frame.eval(node.value), node, "f-string")
    return Text()


@method(Text, *CHANGING)
def changed_text(frame: Frame, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    given = [each.value for each in arguments.positional if isinstance(each, Text)]
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    if not isinstance(receiver, Text) or receiver.value is None or None in given or arguments.keywords or not name:
        return Text()
    if len(given) != len(arguments.positional) or len(given) != CHANGING.get(name):
        return Text()
    return Text(getattr(receiver.value, name)(*given))
