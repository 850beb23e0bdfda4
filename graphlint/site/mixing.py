"""Do the rows of an input meet in a region, so that what is left in some of them changes what comes of the others?

Rows lie along the dimension in which the input is filled in part: the first one in `x[:n]`, the second in `x[:, :n]`.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from graphlint.site.acts import Act, Verb
from graphlint.site.construct import argument, constant
from graphlint.site.derived import sources
from graphlint.site.names import MIXING
from graphlint.site.story import Captured, Story
from graphlint.site.things import Kind, Thing
from graphlint.syntax import last, last_called, walk
from graphlint.types import Confidence

ATTENTION = frozenset({"MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer"})
MASKS = frozenset({"attn_mask", "is_causal", "key_padding_mask", "mask", "src_key_padding_mask", "src_mask"})
MASKING = frozenset({"masked_fill", "masked_fill_"})
PRODUCTS = frozenset({"bmm", "matmul", "mm"})
TURNING = frozenset({"t", "transpose"})
CONVOLUTIONS = ("Conv", "AvgPool", "MaxPool", "AdaptiveAvgPool", "AdaptiveMaxPool")


def mixes(story: Story, captured: Captured, filled: Act) -> Confidence | None:
    """How sure it is that rows meet in a region; None when all it does keeps them apart."""
    dim, unknown = dimension(filled.node), False
    for _, act in story.between(captured.begin, captured.end, Verb.METHOD, Verb.CALL):
        if act.verb is Verb.CALL and act.thing.kind is Kind.UNKNOWN:
            unknown = True
        if act.verb is Verb.CALL and act.thing.kind is Kind.MODULE:
            if _is_mixing(act.thing, act.call, act.name, dim):
                return Confidence.LIKELY
            continue
        name = act.name if act.verb is Verb.METHOD else act.thing.name.rpartition(".")[2]
        if act.call is not None and _meets(name, act.call, act.verb is Verb.METHOD, dim):
            return Confidence.LIKELY
    if _are_multiplied(story, captured, filled.thing, dim):
        return Confidence.LIKELY
    return Confidence.POSSIBLE if unknown else None


def dimension(node: ast.AST) -> int:
    """The dimension in which a write fills a part: a negative one, counted from the end, behind an ellipsis."""
    for each in walk(node):
        if isinstance(each, ast.Call) and last_called(each) == "narrow" and each.args:
            first = each.args[0]
            return first.value if isinstance(first, ast.Constant) and isinstance(first.value, int) else 0
        parts = each.slice.elts if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Tuple) else []
        ends = (place for place, part in enumerate(parts) if isinstance(part, ast.Slice) and part.upper is not None)
        at = next(ends, None)
        if at is not None:
            whole = any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in parts[:at])
            return at - len(parts) if whole else at
    return 0


def _is_mixing(module: Thing, call: ast.Call | None, mode: str, dim: int) -> bool:
    """Whether a layer of torch's computes rows from each other."""
    words = {word.arg for word in call.keywords} if call is not None else set()
    if "BatchNorm" in module.name:
        return mode == "training" and dim != 1
    if module.name in ATTENTION:
        is_second = constant(argument(module, "batch_first")) is True
        return dim == int(is_second) and words.isdisjoint(MASKS)
    if module.name.startswith(CONVOLUTIONS):
        size = constant(argument(module, "kernel_size", 2 if module.name.startswith("Conv") else 0))
        return (dim >= 2 or dim == -1) and size != 1
    return False


def _meets(name: str, call: ast.Call, is_method: bool, dim: int) -> bool:
    if name in MIXING:
        return runs_along(call, is_method, dim)
    if name != "scaled_dot_product_attention" or len(call.args) > 3 or not MASKS.isdisjoint(_given(call)):
        return False
    # Without a batch, `q[None]` makes one, and the rows are what is attended to.
    return dim in (1, 2, -2) or any(_adds_batch(each) for each in call.args)


def _given(call: ast.Call) -> set[str | None]:
    absent = (ast.Constant,)
    return {word.arg for word in call.keywords if not (isinstance(word.value, absent) and not word.value.value)}


def _adds_batch(node: ast.expr) -> bool:
    """Whether a tensor gets another dimension before its first: `x[None]`, `x.unsqueeze(0)`."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=None)):
            return True
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[ast.Constant(value=0)]):
            return True
    return False


def runs_along(call: ast.Call, is_method: bool, dim: int = 0) -> bool:
    """Whether an operation runs along a dimension, or along all of them."""
    words = {word.arg: word.value for word in call.keywords}
    # A norm is told its order first.
    place = (not is_method) + (last_called(call) == "norm")
    given = words.get("dim") or words.get("axis") or (call.args[place] if len(call.args) > place else None)
    if given is None:
        return True
    parts = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    return any(_number(part) == dim for part in parts)


def _number(node: ast.expr) -> object:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    return node.value if isinstance(node, ast.Constant) else None


def _are_multiplied(story: Story, captured: Captured, filled: Thing, dim: int) -> bool:
    """Whether every row of what a region computes is multiplied with every other: `z @ z.t()`, and not `weight @ z.t()`."""
    if dim != 0 and any(act.name in MASKING for _, act in story.between(captured.begin, captured.end, Verb.METHOD)):
        return False
    reads = (act for _, act in story.between(captured.begin, captured.end, Verb.READ))
    return any(
        first.node is second.node
        and _turns(first.node, dim)
        and all(captured.made(each.thing) or each.thing.owner is filled.owner for each in (first, second))
        and any(each.owner is filled.owner for each in (second.thing, *sources(second.thing)))
        for first, second in pairwise(reads)
    )


def _turns(node: ast.AST, dim: int) -> bool:
    """Whether a node is a product with something that is transposed on its right side, so that rows become columns."""
    match node:
        case ast.BinOp(op=ast.MatMult(), right=right):
            return _is_turned(right, dim)
        case ast.Call(args=[*_, right]):
            return last_called(node) in PRODUCTS and _is_turned(right, dim)
    return False


def _is_turned(node: ast.expr, dim: int) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "mT" or (node.attr == "T" and dim == 0)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return _is_turned(node.left, dim) or _is_turned(node.right, dim)
    if last_called(node) not in TURNING or not isinstance(node, ast.Call):
        inner = node.func if isinstance(node, ast.Call) else None
        # `z @ z.t().softmax(-1)`: what goes on with each number leaves rows what they are.
        return isinstance(inner, ast.Attribute) and _is_turned(inner.value, dim)
    places = [each for each in map(_number, node.args) if isinstance(each, int)]
    if last(node.func) == "t" or not places:
        return dim == 0
    # Of two dimensions counted from the end, the first is that of the rows where there is no batch.
    return dim in places or (dim == 0 and all(place < 0 for place in places)) or (dim == 1 and -2 in places)
