"""What a cure is: a function from one finding to a fix, or None where it knows none.

    @cure("GL301")
    def filled(site: Site) -> Fix | None: ...

A cure proposes; whether the finding goes and no other comes is tried afterwards (`trial`).  Its `safety` says what it
cannot prove from the source: "safe" keeps what eager code computes, "unsafe" may change it in ways the title names,
and "suggestion" leaves something for a person to fill in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from graphlint.fix.tree import Tree
from graphlint.types import Edit, Finding, Fix, Span

Cure = Callable[["Site"], Fix | None]
CURES: dict[str, list[Cure]] = {}
SAFE, UNSAFE, SUGGESTION = "safe", "unsafe", "suggestion"


@dataclass(frozen=True)
class Site:
    """A finding and the tree of the file it lies in."""

    finding: Finding
    tree: Tree

    @property
    def span(self) -> Span:
        return self.finding.span

    @property
    def call(self) -> cst.Call | None:
        return self.tree.at(self.span, cst.Call)

    @property
    def statement(self) -> cst.BaseSmallStatement | None:
        """The small statement at the finding, or the one that the expression there lies in."""
        found = self.tree.at(self.span, cst.BaseSmallStatement)
        if found is not None:
            return found
        node = self.tree.starting(self.span, cst.BaseExpression)
        return None if node is None else self.tree.enclosing(node, cst.BaseSmallStatement)


def cure(*codes: str) -> Callable[[Cure], Cure]:
    """Declare a cure for findings of some codes; the first that knows a fix is taken."""

    def declare(found: Cure) -> Cure:
        for code in codes:
            CURES.setdefault(code, []).append(found)
        return found

    return declare


def fix(title: str, safety: str, *edits: Edit) -> Fix:
    return Fix(title, safety, tuple(edits))


def keyword(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument that a call passes by a name."""
    return next((each for each in call.args if each.keyword is not None and each.keyword.value == name), None)


def positional(call: cst.Call) -> list[cst.Arg]:
    """The arguments that a call passes by place; empty when some are unpacked."""
    if any(each.star for each in call.args):
        return []
    return [each for each in call.args if each.keyword is None]


def argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    """`name=value` as code is written."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value.deep_clone(), keyword=cst.Name(name), equal=equal)


def passed(call: cst.Call, *more: cst.Arg, without: tuple[str, ...] = ()) -> cst.Call:
    """A call with arguments added behind its own, in the way its own are laid out."""
    kept = [each for each in call.args if each.keyword is None or each.keyword.value not in without]
    if not kept:
        return call.with_changes(args=more)
    last, end = kept[-1], call.args[-1]
    between = next((each.comma for each in call.args if isinstance(each.comma, cst.Comma) and each is not last), None)
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if between is None else between
    added = [each.with_changes(comma=comma) for each in more[:-1]]
    final = more[-1].with_changes(comma=end.comma) if more else None
    ended = last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))
    if final is None:
        ended = last.with_changes(comma=end.comma, whitespace_after_arg=end.whitespace_after_arg)
        return call.with_changes(args=[*kept[:-1], ended])
    final = final.with_changes(whitespace_after_arg=end.whitespace_after_arg)
    return call.with_changes(args=[*kept[:-1], ended, *added, final])


def number(tree: Tree, node: cst.BaseExpression) -> bool:
    """Whether an expression is a host number for certain, by its spelling."""
    if isinstance(node, (cst.Integer, cst.Float, cst.Imaginary)):
        return True
    if isinstance(node, cst.Name):
        return node.value in ("True", "False")
    if isinstance(node, cst.UnaryOperation):
        return number(tree, node.expression)
    if isinstance(node, cst.BinaryOperation):
        return number(tree, node.left) and number(tree, node.right)
    if isinstance(node, cst.Call):
        return isinstance(node.func, cst.Name) and node.func.value in ("float", "int", "bool", "len")
    return tree.qualified(node).startswith("math.") or tree.qualified(node) in ("torch.inf", "torch.nan", "torch.pi")


def method(call: cst.Call) -> str:
    """The last name of what is called."""
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")


def only_assignment(tree: Tree, name: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a variable of the function around is bound to, if that is said once and plainly."""
    function = tree.enclosing(name, cst.FunctionDef)
    if function is None or not isinstance(name, cst.Name):
        return None
    found = tree.assignments(function, name.value)
    only = found[0] if len(found) == 1 else None
    return only.value if isinstance(only, cst.Assign) and len(only.targets) == 1 else None
