"""Gradients of callables that `make_graphed_callables` makes: those that are cut off, and those that nothing reaches.

A graphed callable gives gradients for what its sample inputs said needs some, whatever the live inputs are.  When it is
made, it asks for the gradients of all its parameters and of every sample that needs some, and one that reaches no output
is refused unless `allow_unused_input=True`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphlint.around_events import GradientsCut
from graphlint.events import Event
from graphlint.project import ClassDecl
from graphlint.site.acts import Verb
from graphlint.site.construct import argument, constant
from graphlint.site.graphed import MAKES, graphed_region
from graphlint.site.learning import LEARNING, is_trained, is_unlearned
from graphlint.site.lineage import is_told, needs_gradients
from graphlint.site.story import Story, tell
from graphlint.site.things import Kind, Thing
from graphlint.site_events import GraphedMisused
from graphlint.syntax import last, walk
from graphlint.types import Confidence, Region

Told = Iterator[tuple[Region, Event]]
FACTORIES = frozenset(
    f"torch.{name}{like}" for name in ("zeros", "ones", "empty", "rand", "randn", "full") for like in ("", "_like")
)
MOVES = frozenset({"cuda", "to", "contiguous", "clone", "float", "half", "bfloat16", "double"})
"""Methods that give a tensor of which the same holds."""
KINDS = ("float", "half", "bfloat", "double")


def cut(story: Story) -> Told:
    """Calls whose live input needs gradients, where the sample needed none."""
    for act in story.acts:
        if act.verb is not Verb.CALL or act.thing.kind is not Kind.GRAPHED or is_unlearned(act):
            continue
        pairs = zip(samples(act.thing), act.given)
        if any(_is_plain(story, sample) and needs_gradients(story, given) for sample, given in pairs):
            if is_trained(story, act):
                yield graphed_region(act, act.thing), tell(GradientsCut, act, target=act.text)


def samples(graphed: Thing) -> list[Thing]:
    """The sample arguments that one callable was graphed with, as they are placed."""
    given, callables = argument(graphed, "sample_args", 1), argument(graphed, "callables", 0)
    if given is not None and callables is not None and callables.kind is Kind.CONTAINER:
        key = next((key for key, each in callables.slots.items() if each is graphed.base), "")
        given = given.slots.get(key)
    return list(given.slots.values()) if given is not None and given.kind is Kind.CONTAINER else []


def _is_plain(story: Story, sample: Thing) -> bool:
    """Whether a sample is a tensor of numbers with a point that is made in sight and needs no gradients."""
    thing: Thing | None = sample
    while thing is not None and not is_told(story, thing):
        call = thing.node if isinstance(thing.node, ast.Call) else None
        if thing.kind is Kind.TENSOR and thing.name in FACTORIES and call is not None:
            return not any(
                word.arg is None or (word.arg == "dtype" and not _is_float(word.value)) for word in call.keywords
            )
        moved = thing.made_by[:1] if thing.name in MOVES else ()
        thing = moved[0] if moved else thing.base
    return False


def _is_float(kind: ast.expr) -> bool:
    return last(kind).startswith(KINDS)


UNREACHED, UNUSED = "a parameter reaches no output", "a sample argument with gradients reaches no output"
CURE = "leave out what is not used, have no gradients of it (`requires_grad_(False)`), or pass `allow_unused_input=True`"


def unreached(story: Story) -> Told:
    """Modules that are graphed with a part, or a sample with gradients, that their `forward` does not use."""
    for act in story.acts:
        if act.verb is not Verb.CALL or act.thing.kind is not Kind.OUTSIDE or not act.thing.name.endswith(MAKES):
            continue
        allowed = constant(argument(act.thing, "allow_unused_input", 3))
        if act.other is None or is_unlearned(act) or allowed not in (False, ...) or _is_given(act.thing):
            continue
        for part in _parts(act.other):
            why = _why(story, part, act.thing)
            if why:
                told = tell(GraphedMisused, act, sure=Confidence.LIKELY, why=why, cure=CURE)
                yield graphed_region(act, act.thing), told
                break


def _is_given(making: Thing) -> bool:
    """Whether it is passed on whether unused inputs are allowed."""
    return constant(argument(making, "allow_unused_input", 3)) is ... and "allow_unused_input" in making.arguments


def _parts(made: Thing) -> list[Thing]:
    return list(made.slots.values()) if made.kind is Kind.CONTAINER else [made]


def _why(story: Story, module: Thing, making: Thing) -> str:
    """Why the gradients of a module of the tree cannot all be had; empty if they can, or nobody knows."""
    layer = unused_layer(module)
    given = _unused_sample(story, module.decl, making) if module.decl is not None and _is_plain_module(module.decl) else ""
    return f"{UNREACHED} (`{layer}`)" if layer else f"{UNUSED} (`{given}`)" if given else ""


def _unused_sample(story: Story, decl: ClassDecl, making: Thing) -> str:
    """A parameter of `forward` that it never mentions, for which there is a sample that needs gradients."""
    given = argument(making, "sample_args", 1)
    forward = next((each for each in decl.node.body if isinstance(each, ast.FunctionDef) and each.name == "forward"), None)
    if forward is None or given is None or given.kind is not Kind.CONTAINER:
        return ""
    used = {each.id for each in walk(forward) if isinstance(each, ast.Name)}
    named = [each.arg for each in forward.args.args[1:]]
    return next(
        (name for name, sample in zip(named, given.slots.values()) if name not in used and is_told(story, sample)), ""
    )


def unused_layer(module: Thing) -> str:
    """A layer that a class of the tree makes for itself and never mentions again; empty if there is none."""
    decl = module.decl
    if module.kind is not Kind.MODULE or decl is None or not _is_plain_module(decl):
        return ""
    used = {each.attr for each in walk(decl.node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)}
    if used & REACHING or any(last(each) in ("getattr", "vars") for each in walk(decl.node)):
        return ""
    for key, part in module.slots.items():
        if part.kind is Kind.MODULE and key not in used and key.isidentifier() and not part.is_frozen:
            if any(each.name.startswith(LEARNING) for each in part.family()):
                return key
    return ""


REACHING = frozenset({"children", "modules", "named_children", "named_modules", "_modules", "get_submodule", "__dict__"})
"""How a class goes through its own parts without naming them."""


def _is_plain_module(decl: ClassDecl) -> bool:
    """Whether a class derives from `nn.Module` and nothing else, so that all of it is in sight."""
    return [last(base) for base in decl.node.bases] == ["Module"]
