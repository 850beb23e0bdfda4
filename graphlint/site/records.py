"""Objects whose constructor nobody wrote: dataclasses and named tuples hold what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from graphlint.project import ClassDecl, Outside
from graphlint.site.things import Slot, Thing
from graphlint.site.walker import Walker
from graphlint.syntax import last, last_called

TUPLE = "typing.NamedTuple"
AFTER = "__post_init__"


def fill(walker: Walker, made: Thing, places: tuple[Thing, ...], names: Mapping[str, Thing], node: ast.AST) -> bool:
    """Bind the fields of a record to what its class is called with; whether the object is one."""
    decl = made.decl
    if decl is None or not is_record(walker, decl):
        return False
    rest = iter(places)
    for name, default in _fields(walker, decl).items():
        thing = names.get(name) or next(rest, None) or _default(walker, default, node)
        if thing is not None:
            walker.bind(Slot(made, name), thing, node)
    return True


def is_record(walker: Walker, decl: ClassDecl) -> bool:
    """Whether a class is a dataclass or a named tuple, or derives from one."""
    for base in walker.project.mro(decl):
        if isinstance(base, Outside):
            if base.name == TUPLE:
                return True
        elif any("dataclass" in last_called(mark) for mark in base.node.decorator_list):
            return True
    return False


def _fields(walker: Walker, decl: ClassDecl) -> dict[str, ast.expr | None]:
    """The fields of a record in order, those of its bases first, with their defaults."""
    bases = [base for base in walker.project.mro(decl) if isinstance(base, ClassDecl)]
    return {name: default for base in reversed(bases) for name, default in _own(base)}


def _own(decl: ClassDecl) -> Iterator[tuple[str, ast.expr | None]]:
    for each in decl.node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not _is_of_class(each.annotation):
            yield each.target.id, each.value


def _is_of_class(annotation: ast.expr) -> bool:
    return last(annotation.value if isinstance(annotation, ast.Subscript) else annotation) == "ClassVar"


def _default(walker: Walker, default: ast.expr | None, node: ast.AST) -> Thing | None:
    """What a field is that was not given; a call such as `field(default_factory=...)` makes something unknown."""
    if default is None or isinstance(default, ast.Call):
        return None
    return walker.evaluate(default)
