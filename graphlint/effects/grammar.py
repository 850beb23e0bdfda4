"""How a row is written, and what it becomes.

    NAME(PARAMS) -> RESULT [! EFFECT [when COND] [unless COND] ["why"] [on TARGET] [since X.Y] [until X.Y]]... @ PROVENANCE

NAME is the qualified name of a callable, or of an attribute (then without parentheses).  PARAMS is a Python parameter
list.  A parameter annotated `int`, `float`, `number` or `size` takes host numbers: a device tensor given for it is
read, which is the effect `argument(p) when device(p)` without writing it.

RESULT says what comes back:

    like(p[, kind][, rank=R])    a tensor where p is, of p's kind and rank unless given
    promote(p, q...[, kind][, rank=R])  broadcast: the places of all, the widest kind, the highest rank
    reduce(p[, kind])            as p without the dimensions in `dim` (kept with `keepdim`); rank 0 without `dim`
    new(kind[, rank=R])          a fresh tensor on `device`, which is the host when that is not given
    host(p[, kind])              a copy of p on the host
    device(p[, kind])            a copy of p on the device
    arg(p)                       p itself, such as what an in-place operation returns
    tuple(r...)  list(r)         several results; a list of unknown length
    number(kind[, rank=R])       a Python number: R where that is known
    bool  text  none  shape  device  dtype  module  object  generator  unknown
    instance(NAME)               an object of the class NAME, whose methods have rows of their own
    guard(graph=B, compile=B)    a constant of the capture target
    R if COND else R             by the arguments

A kind is bool, int, float, complex, same, promoted or any; a given `dtype` argument overrides it, and a given `device`
argument overrides the place.  A rank R is an integer, `?`, or a sum of integers, `rank(p)`, `size(p)` (how many ints
the size argument or the varargs p has) and `len(p)`.

EFFECT is one of the words of `EFFECTS`, with the parameter it is about in parentheses where that matters; COND is
written as `conditions` says.  A call whose `when` is not known may have the effect; an `unless` exempts it only where
it is known to hold, so it is for the rare case that source text hardly ever shows.  TARGET is graph, compile or both,
versions are torch's: the first that has the effect, and the first that has it no more.  PROVENANCE is one or more of
`h200-2.11` (measured), `dynamo-2.13` (traced on the CPU), `doc`, `source-2.13`, `catalogue:<row>`, `pytorch#<number>`
(the change that is meant).  Of a row that has only `doc`, no finding is certain.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from graphlint.effects.conditions import WORDS, AllOf, AnyOf, Condition, Literal, Not, Test
from graphlint.record import NamedTuple
from graphlint.types import Target

EFFECTS = {
    "read": "the host reads device values inside the call",
    "sync": "the host waits for the device",
    "shape": "the size of the result depends on device values",
    "d2h": "a device tensor is copied to the host",
    "h2d": "pageable host memory is copied to the device",
    "argument": "a device tensor is given where a host number is needed",
    "handle": "a library handle or plan is made on first use, which a warm-up must have done",
    "refused": "a capture refuses this for another reason, such as a solver's workspace",
    "pinned": "page-locked host memory is allocated",
    "hostrandom": "a random number is drawn on the host",
    "generator": "a generator that the graph does not know is drawn from",
    "seed": "a generator is seeded or its state is set, while capturing only",
    "clock": "the clock or another host fact is read",
    "state": "state on the host outlives the call, such as a counter",
    "backward": "the backward pass reads device values on the host",
    "gradient": "a backward pass runs inside the call",
    "break": "Dynamo splits the graph here",
    "skip": "Inductor runs the whole graph that this is in without CUDA graphs",
    "remark": "Dynamo splits the graph at a message to people, which behind a condition is for the unusual case",
}
HOST_TYPES = frozenset({"int", "float", "number", "size"})
PLAIN = frozenset({"bool", "text", "none", "shape", "device", "dtype", "module", "object", "generator", "unknown"})
KINDS = frozenset({"bool", "int", "float", "complex", "same", "promoted", "any"})


class RowError(ValueError):
    """A row that does not follow the grammar; the message names the row and the fault."""


class Missing:
    """The default of a parameter that must be given."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class Parameter(NamedTuple):
    """`form` is "positional", "keyword", "star" or "double star"; `default` is MISSING or a literal."""

    name: str
    default: object
    form: str
    host: bool


class Rank(NamedTuple):
    """A sum: `offset` plus the value of each (word, parameter), where word is "rank", "size" or "len"."""

    offset: int
    terms: tuple[tuple[str, str], ...] = ()


UNKNOWN_RANK = Rank(0, (("unknown", ""),))


class Like(NamedTuple):
    parameter: str
    kind: str = "same"
    rank: Rank | None = None


class Promote(NamedTuple):
    parameters: tuple[str, ...]
    kind: str = "promoted"
    rank: Rank | None = None


class Reduce(NamedTuple):
    parameter: str
    kind: str = "same"


class New(NamedTuple):
    kind: str
    rank: Rank | None = None


class Host(NamedTuple):
    parameter: str
    kind: str = "same"


class OnDevice(NamedTuple):
    parameter: str
    kind: str = "same"


class Argument(NamedTuple):
    parameter: str


class Several(NamedTuple):
    """`form` is "tuple", or "list" whose one item stands for each element."""

    form: str
    items: tuple[Result, ...]


class Number(NamedTuple):
    """A Python number; `rank` spells the value where that is the rank of an argument."""

    kind: str
    rank: Rank | None = None


class Plain(NamedTuple):
    """A result that its word says all about: bool, text, none, shape, device, dtype, module, ..."""

    word: str


class Instance(NamedTuple):
    name: str


class Guard(NamedTuple):
    graph: bool
    compile: bool


class Choice(NamedTuple):
    condition: Condition
    then: Result
    otherwise: Result


Result = Like | Promote | Reduce | New | Host | OnDevice | Argument | Several | Number | Plain | Instance | Guard | Choice


class Effect(NamedTuple):
    """`subject` is the parameter it is about, or empty; versions are (major, minor)."""

    kind: str
    subject: str = ""
    condition: Condition | None = None
    exempt: Condition | None = None
    why: str = ""
    targets: Target = Target.BOTH
    since: tuple[int, int] | None = None
    until: tuple[int, int] | None = None


class Row(NamedTuple):
    """What is known of one function, method or attribute; see the module's page for how it is written."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Result
    effects: tuple[Effect, ...]
    provenance: tuple[str, ...]
    attribute: bool = False


_HEAD = re.compile(r"(?P<name>[\w.]+)(?P<params>\(.*?\))? -> (?P<rest>.*) @ (?P<provenance>[^@]+)$")
_EFFECT = re.compile(
    r"(?P<kind>\w+)(?:\((?P<subject>[\w.]+)\))?(?: when (?P<cond>.*?))?(?: unless (?P<unless>.*?))?"
    r"(?: \"(?P<why>[^\"]*)\")?"
    r"(?: on (?P<target>graph|compile|both))?(?: since (?P<since>\d+\.\d+))?(?: until (?P<until>\d+\.\d+))?$"
)


def parse_row(line: str) -> Row:
    """The row that one line spells, or RowError."""
    head = _HEAD.match(line)
    if head is None:
        raise RowError(f"not a row: `{line}`")
    try:
        result, *effects = head["rest"].split(" ! ")
        parameters = _parameters(head["params"] or "(self)")
        stated = tuple(_effect(text.strip()) for text in effects)
        implied = tuple(Effect("argument", p.name, Test("device", p.name)) for p in parameters if p.host)
        provenance = tuple(word.strip() for word in head["provenance"].split(","))
        row = Row(head["name"], parameters, parse_result(result), stated + implied, provenance, head["params"] is None)
        _check_names(row)
        return row
    except (SyntaxError, ValueError, KeyError, IndexError) as error:
        raise RowError(f"{head['name']}: {error}") from error


def _check_names(row: Row) -> None:
    """A condition on a parameter that the row does not have would silently never hold."""
    known = {parameter.name for parameter in row.parameters}
    for name in _named([row.result, *row.effects]):
        if name.partition(".")[0] not in known | {"ctor"}:
            raise ValueError(f"speaks of `{name}`, which is not a parameter")


def _named(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        match value:
            case Like(name) | Reduce(name) | Host(name) | OnDevice(name) | Argument(name):
                yield name
            case Test(word, name, rest):
                yield from [name] if name else []
                yield from (str(other) for other in rest if word in ("same", "apart"))
            case Effect(subject=name) if name:
                yield name
        if isinstance(value, tuple):
            yield from value.parameters if isinstance(value, Promote) else ()
            yield from (name for word, name in value.terms if word != "unknown") if isinstance(value, Rank) else ()
            yield from _named(value)


def _parameters(text: str) -> tuple[Parameter, ...]:
    spec = ast.parse(f"def f{text}: 0").body[0]
    assert isinstance(spec, ast.FunctionDef)
    arguments = spec.args
    plain = arguments.posonlyargs + arguments.args
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    found = [_parameter(arg, default, "positional") for arg, default in zip(plain, defaults)]
    if arguments.vararg:
        found.append(_parameter(arguments.vararg, None, "star"))
    found += [_parameter(arg, default, "keyword") for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        found.append(_parameter(arguments.kwarg, None, "double star"))
    return tuple(found)


def _parameter(arg: ast.arg, default: ast.expr | None, form: str) -> Parameter:
    host = isinstance(arg.annotation, ast.Name) and arg.annotation.id in HOST_TYPES
    if arg.annotation is not None and not host:
        raise ValueError(f"unknown annotation of `{arg.arg}`")
    return Parameter(arg.arg, MISSING if default is None else ast.literal_eval(default), form, host)


def _effect(text: str) -> Effect:
    found = _EFFECT.match(text)
    if found is None or found["kind"] not in EFFECTS:
        raise ValueError(f"not an effect: `{text}`")
    condition = parse_condition(found["cond"]) if found["cond"] else None
    exempt = parse_condition(found["unless"]) if found["unless"] else None
    default = "compile" if found["kind"] in ("break", "remark", "skip") else "both"
    targets = Target[(found["target"] or default).upper()]
    since, until = _version(found["since"]), _version(found["until"])
    return Effect(found["kind"], found["subject"] or "", condition, exempt, found["why"] or "", targets, since, until)


def _version(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    major, minor = text.split(".")
    return int(major), int(minor)


def parse_condition(text: str) -> Condition:
    """The condition that the text spells."""
    return _condition(ast.parse(text.strip(), mode="eval").body)


def _condition(node: ast.expr) -> Condition:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return Not(_condition(inner))
        case ast.BoolOp(op=ast.And(), values=parts):
            return AllOf(tuple(_condition(part) for part in parts))
        case ast.BoolOp(op=ast.Or(), values=parts):
            return AnyOf(tuple(_condition(part) for part in parts))
        case ast.Name(id=word) if word in ("training", "grad"):
            return Test(word, "")
        case ast.Call(func=ast.Name(id=word), args=[first, *rest]) if word in WORDS:
            return Test(word, _name(first), tuple(_literal(value) for value in rest))
    raise ValueError(f"not a condition: `{ast.unparse(node)}`")


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
        case ast.Attribute(value=ast.Attribute() as owner, attr=name):
            return f"{_name(owner)}.{name}"
    raise ValueError(f"not a parameter: `{ast.unparse(node)}`")


def _literal(node: ast.expr) -> Literal:
    if isinstance(node, ast.Name):
        return node.id
    value = ast.literal_eval(node)
    if not isinstance(value, (int, float, str, type(None))):
        raise ValueError(f"not a constant: `{ast.unparse(node)}`")
    return value


def parse_result(text: str) -> Result:
    """The result tree that the text spells."""
    return _result(ast.parse(text.strip().replace("?", "unknown"), mode="eval").body)


def _result(node: ast.expr) -> Result:
    match node:
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            return Choice(_condition(test), _result(then), _result(otherwise))
        case ast.Name(id=word) if word in PLAIN:
            return Plain(word)
        case ast.Call(func=ast.Name(id="guard"), keywords=[graph, compiled]):
            return Guard(_literal(graph.value) == "true", _literal(compiled.value) == "true")
        case ast.Call(func=ast.Name(id="instance"), args=[name]):
            return Instance(ast.unparse(name))
        case ast.Call(func=ast.Name(id="tuple" | "list" as form), args=items):
            return Several(form, tuple(_result(item) for item in items))
        case ast.Call(func=ast.Name(id=word), args=args, keywords=keywords):
            rank = _rank(keywords[0].value) if keywords else None
            return _tensor(word, [_name(arg) for arg in args], rank)
    raise ValueError(f"not a result: `{ast.unparse(node)}`")


def _tensor(word: str, names: list[str], rank: Rank | None) -> Result:
    kind = names.pop() if names[-1] in KINDS else None
    match word, names:
        case "like", [parameter]:
            return Like(parameter, kind or "same", rank)
        case "promote", [_, *_]:
            return Promote(tuple(names), kind or "promoted", rank)
        case "reduce", [parameter]:
            return Reduce(parameter, kind or "same")
        case "new", [] if kind:
            return New(kind, rank)
        case "host", [parameter]:
            return Host(parameter, kind or "same")
        case "device", [parameter]:
            return OnDevice(parameter, kind or "same")
        case "arg", [parameter]:
            return Argument(parameter)
        case "number", [] if kind:
            return Number(kind, rank)
    raise ValueError(f"not a result: `{word}` of {names}")


def _rank(node: ast.expr) -> Rank:
    match node:
        case ast.Constant(value=int(offset)):
            return Rank(offset)
        case ast.Name(id="unknown"):
            return UNKNOWN_RANK
        case ast.Call(func=ast.Name(id="rank" | "size" | "len" as word), args=[parameter]):
            return Rank(0, ((word, _name(parameter)),))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _rank(left), _rank(right)
            return Rank(one.offset + other.offset, one.terms + other.terms)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(less))):
            base = _rank(left)
            return Rank(base.offset - less, base.terms)
    raise ValueError(f"not a rank: `{ast.unparse(node)}`")
