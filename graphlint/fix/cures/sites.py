"""The code around a capture: copies of results, inputs that are written, a warm-up, an optimizer that can be captured."""

from __future__ import annotations

import re
import textwrap

import libcst as cst

from graphlint.fix.cure import SAFE, UNSAFE, Site, argument, cure, fix, keyword, method, passed
from graphlint.fix.cures.buffers import starts_as_tensor
from graphlint.fix.tree import Tree
from graphlint.types import Edit, Fix, Span

NAMED = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)
WARMUP = """\
{indent}warmup = {torch}.cuda.Stream()
{indent}warmup.wait_stream({torch}.cuda.current_stream())
{indent}with {torch}.cuda.stream(warmup):
{indent}    for _ in range(3):
{body}
{indent}{torch}.cuda.current_stream().wait_stream(warmup)
"""


@cure("GL507")
def cloned(site: Site) -> Fix | None:
    """What is kept past the next replay is copied."""
    value = _kept(site)
    if value is None or not isinstance(value, NAMED):
        return None
    if isinstance(value, cst.Call) and method(value) in ("clone", "detach", "append"):
        return None
    return fix("keep a copy", SAFE, site.tree.replace(value, f"{site.tree.code(value)}.clone()"))


@cure("GL521", "GL804")
def earlier_cloned(site: Site) -> Fix | None:
    """The earlier result that a call writes over is copied where it is made."""
    tree, call = site.tree, site.call
    function = None if call is None else tree.enclosing(call, cst.FunctionDef)
    if call is None or function is None:
        return None
    name = tree.code(call.func)
    same = [each for each in tree.within(function, cst.Call) if tree.code(each.func) == name]
    before = [each for each in same if tree.span(each) < tree.span(call)]
    first = before[-1] if before else call
    if isinstance(tree.parent(first), cst.Attribute):
        return None
    return fix("keep a copy of the earlier result", SAFE, tree.replace(first, f"{tree.code(first)}.clone()"))


def _kept(site: Site) -> cst.BaseExpression | None:
    """The expression that is kept: the value of a statement, what is appended, or the expression itself."""
    statement = site.tree.at(site.span, cst.BaseSmallStatement)
    if isinstance(statement, (cst.Assign, cst.Return)):
        return statement.value
    expression = statement.value if isinstance(statement, cst.Expr) else site.tree.at(site.span, cst.BaseExpression)
    if isinstance(expression, cst.Call) and method(expression) in ("append", "add", "put", "appendleft"):
        return expression.args[0].value if len(expression.args) == 1 else None
    return expression


@cure("GL505")
def copied(site: Site) -> Fix | None:
    """`static = new` becomes `static.copy_(new)`."""
    statement = site.statement
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0].target
    if not isinstance(target, (cst.Name, cst.Attribute)) or isinstance(statement.value, (cst.Tuple, cst.List)):
        return None
    if isinstance(target, cst.Attribute) and not starts_as_tensor(site.tree, statement, target):
        return None
    new = f"{site.tree.code(target)}.copy_({site.tree.code(statement.value)})"
    title = "write into the tensor of the capture with `copy_`"
    return fix(title, SAFE if isinstance(target, cst.Name) else UNSAFE, site.tree.replace(statement, new))


@cure("GL501")
def warmed_up(site: Site) -> Fix | None:
    """The captured body runs three times on a side stream before the capture."""
    tree = site.tree
    node = tree.starting(site.span, cst.BaseExpression)
    block = None if node is None else _capture(tree, node)
    if block is None or not tree.torch or not isinstance(block.body, cst.IndentedBlock):
        return None
    first, last = tree.span(block.body.body[0]).line, tree.span(block.body.body[-1]).end_line
    body = textwrap.dedent("\n".join(tree.text[first - 1 : last]))
    indent = tree.indent(tree.span(block).line)
    if "warmup" in tree.source.text or '"""' in body or "'''" in body:
        return None
    text = WARMUP.format(indent=indent, torch=tree.torch, body=textwrap.indent(body, indent + " " * 8))
    line = tree.span(block).line
    title = "warm up on a side stream; state that the body changes is changed three times more"
    return fix(title, UNSAFE, Edit(Span(site.span.file, line, 0, line, 0), text))


def _capture(tree: Tree, node: cst.CSTNode) -> cst.With | None:
    for each in tree.above(node):
        if isinstance(each, cst.With):
            calls = (item.item.func for item in each.items if isinstance(item.item, cst.Call))
            if any(tree.qualified(call) == "torch.cuda.graph" for call in calls):
                return each
    return None


@cure("GL309", "GL106")
def capturable(site: Site) -> Fix | None:
    """The optimizer whose step is captured is made with `capturable=True`."""
    call = site.call
    if call is None or "capturable" not in site.finding.message or not isinstance(call.func, cst.Attribute):
        return None
    name = site.tree.code(call.func.value)
    made = [each.value for each in site.tree.assignments(site.tree.module, name) if isinstance(each, cst.Assign)]
    if (
        len(made) != 1
        or not isinstance(made[0], cst.Call)
        or not re.match(r"torch\.optim\.", site.tree.qualified(made[0].func))
    ):
        return None
    if keyword(made[0], "capturable") is not None:
        return None
    new = passed(made[0], argument("capturable", cst.Name("True")))
    title = "make the optimizer with `capturable=True`; it then wants its parameters on the device"
    return fix(title, UNSAFE, site.tree.replace(made[0], new))
