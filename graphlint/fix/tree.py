"""A file as a concrete syntax tree: nodes by the spans of findings, their parents, and edits that replace them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from graphlint.source import Source, lines
from graphlint.types import Edit, Span

N = TypeVar("N", bound=cst.CSTNode)
Function = cst.FunctionDef


class Tree:
    """The tree of one source; raises `libcst.ParserSyntaxError` where libcst knows less of Python than `ast`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = lines(source)
        wrapper = MetadataWrapper(cst.parse_module(source.text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._ranges = wrapper.resolve(PositionProvider)
        self._parents = wrapper.resolve(ParentNodeProvider)

    def code(self, node: cst.CSTNode, at: cst.CSTNode | None = None) -> str:
        """The code of a node, a new one as it would stand in the place of `at`."""
        code = self.module.code_for_node(node)
        indent = self._indent_at(node if at is None else at) if "\n" in code else ""
        if not indent or not isinstance(node, cst.BaseExpression):
            return code
        # Only inside a block does libcst write the indentation of the lines that follow the first.
        block = cst.IndentedBlock([cst.SimpleStatementLine([cst.Expr(node)])], indent=indent)
        whole = cst.Module([cst.If(cst.Name("_"), block)]).code
        return whole.removeprefix(f"if _:\n{indent}").removesuffix("\n")

    def _indent_at(self, node: cst.CSTNode) -> str:
        kinds = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        statement = next((each for each in (node, *self.above(node)) if isinstance(each, kinds)), None)
        return "" if statement is None else self.indent(self.span(statement).line)

    def span(self, node: cst.CSTNode) -> Span:
        found: CodeRange = self._ranges[node]
        start, end = found.start, found.end
        return Span(
            self.source.name, start.line, self._bytes(start.line, start.column), end.line, self._bytes(end.line, end.column)
        )

    def _bytes(self, line: int, column: int) -> int:
        text = self.text[line - 1] if line <= len(self.text) else ""
        return column if text.isascii() else len(text[:column].encode())

    def replace(self, old: cst.CSTNode, new: cst.CSTNode | str) -> Edit:
        """The edit that puts new code in the place of a node."""
        return Edit(self.span(old), new if isinstance(new, str) else self.code(new, old))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node lies in, innermost first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def enclosing(self, node: cst.CSTNode, kind: type[N]) -> N | None:
        return next((each for each in self.above(node) if isinstance(each, kind)), None)

    @cached_property
    def _starts(self) -> dict[tuple[int, ...], list[cst.CSTNode]]:
        found: dict[tuple[int, ...], list[cst.CSTNode]] = {}
        kinds = (cst.BaseExpression, cst.BaseSmallStatement, cst.BaseCompoundStatement)
        for node in self._ranges:
            if isinstance(node, kinds):
                found.setdefault(self.span(node)[1:3], []).append(node)
                # A call of a method may be reported from the method's name on, where the chain has several lines.
                if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                    found.setdefault(self.span(node.func.attr)[1:3], []).append(node)
        return found

    def at(self, span: Span, kind: type[N]) -> N | None:
        """The outermost node of a kind that has exactly this span."""
        here = self._starts.get((span.line, span.column), [])
        fitting = [each for each in here if isinstance(each, kind) and self.span(each)[3:] == span[3:]]
        return max(fitting, key=lambda each: -sum(1 for _ in self.above(each)), default=None)

    def starting(self, span: Span, kind: type[N]) -> N | None:
        """The outermost node of a kind that starts where a span does."""
        here = [each for each in self._starts.get((span.line, span.column), []) if isinstance(each, kind)]
        return max(here, key=lambda each: self.span(each)[3:], default=None)

    @cached_property
    def names(self) -> dict[str, str]:
        """What imported names stand for: `{"F": "torch.nn.functional"}`."""
        found: dict[str, str] = {}
        for node in self._ranges:
            if isinstance(node, cst.Import):
                for each in node.names:
                    whole = self.code(each.name)
                    found[_alias(each) or whole.split(".")[0]] = whole if each.asname else whole.split(".")[0]
            elif (
                isinstance(node, cst.ImportFrom) and node.module is not None and not isinstance(node.names, cst.ImportStar)
            ):
                for each in node.names:
                    found[_alias(each) or self.code(each.name)] = f"{self.code(node.module)}.{self.code(each.name)}"
        return found

    def qualified(self, node: cst.BaseExpression) -> str:
        """The dotted name an expression stands for, such as `torch.nn.functional.one_hot`; empty for what is no name."""
        if isinstance(node, cst.Name):
            return self.names.get(node.value, "")
        if isinstance(node, cst.Attribute):
            owner = self.qualified(node.value)
            return f"{owner}.{node.attr.value}" if owner else ""
        return ""

    @cached_property
    def statements(self) -> tuple[tuple[int, int], ...]:
        """The first and last line of every statement; of a compound one, of its header."""
        found: list[tuple[int, int]] = []
        for node in self._ranges:
            if isinstance(node, cst.SimpleStatementLine):
                span = self.span(node)
                found.append((span.line, span.end_line))
            elif isinstance(node, cst.BaseCompoundStatement):
                found.append(self._header(node))
        return tuple(found)

    def _header(self, node: cst.BaseCompoundStatement) -> tuple[int, int]:
        """From the keyword to the line before the body, or to its line where the body stands on the same one."""
        start = self.span(node).line
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            start = self.span(node.name).line  # a comment above the decorators would speak of the first of them
        if isinstance(node, cst.Match):
            return start, self.span(node.subject).end_line
        body = node.body if isinstance(node.body, cst.IndentedBlock) else None
        if body is None or not body.body:
            return start, max(start, self.span(node.body).line)
        return start, max(start, self._ranges[body.header].start.line if body.header in self._ranges else start)

    @property
    def torch(self) -> str:
        """How this file spells `torch`; empty if it does not import it."""
        return next((name for name, meant in self.names.items() if meant == "torch"), "")

    def within(self, owner: cst.CSTNode, kind: type[N]) -> Iterator[N]:
        """The nodes of a kind below another, in order of their place."""
        found = [each for each in self._ranges if isinstance(each, kind) and any(up is owner for up in self.above(each))]
        return iter(sorted(found, key=lambda each: self.span(each)[1:3]))

    def assignments(self, owner: cst.CSTNode, name: str) -> Sequence[cst.Assign | cst.AugAssign | cst.AnnAssign]:
        """What is assigned to a name, or to an attribute given as `self.x`, below a node."""
        found: list[cst.Assign | cst.AugAssign | cst.AnnAssign] = []
        for each in self.within(owner, cst.BaseSmallStatement):
            if isinstance(each, cst.Assign):
                hit = any(self.code(target.target) == name for target in each.targets)
            else:
                hit = isinstance(each, (cst.AugAssign, cst.AnnAssign)) and self.code(each.target) == name
            if hit:
                assert isinstance(each, (cst.Assign, cst.AugAssign, cst.AnnAssign))
                found.append(each)
        return found

    def loads(self, owner: cst.CSTNode, name: str) -> list[cst.Name]:
        """Where a variable is read below a node."""
        stored = {id(target.target) for each in self.within(owner, cst.Assign) for target in each.targets}
        found: list[cst.Name] = []
        for each in self.within(owner, cst.Name):
            parent = self.parent(each)
            is_other = isinstance(parent, (cst.Param, cst.FunctionDef)) or (
                (isinstance(parent, cst.Attribute) and parent.attr is each)
                or (isinstance(parent, cst.Arg) and parent.keyword is each)
            )
            if each.value == name and id(each) not in stored and not is_other:
                found.append(each)
        return found

    def indent(self, line: int) -> str:
        text = self.text[line - 1]
        return text[: len(text) - len(text.lstrip())]


def _alias(each: cst.ImportAlias) -> str:
    return each.asname.name.value if each.asname is not None and isinstance(each.asname.name, cst.Name) else ""
