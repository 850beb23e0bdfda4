"""The state of one walk: the acts so far, the variables in sight, the blocks that are open."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graphlint.project import Assigned, ClassDecl, FunctionDecl, Module, Outside, Project
from graphlint.site.acts import Act, Frame, Layer, Verb
from graphlint.site.names import CONSTRUCTORS
from graphlint.site.things import Kind, Scope, Slot, Thing

MOST_ACTS = 20_000
DEEPEST = 8
BUILTINS = frozenset(dir(builtins))

Resolved = ClassDecl | FunctionDecl | Module | Assigned | Outside | None


@dataclass(eq=False, slots=True)
class Managing:
    """An object whose `__enter__` or `__exit__` is walked: the layer it has come to, and what is to be opened later."""

    manager: Thing
    layer: Layer | None
    later: list[tuple[ast.AST, Thing, Frame]] = field(default_factory=list)


class Walker:
    """See the module's page; `evaluate` and `run` are how expressions and bodies are walked."""

    def __init__(
        self,
        project: Project,
        module: Module,
        evaluate: Callable[[Walker, ast.expr], Thing],
        run: Callable[[Walker, Sequence[ast.stmt]], bool],
    ) -> None:
        self.project = project
        self.acts: list[Act] = []
        self.globals: dict[str, Scope] = {}
        self.frame = Frame(module, "", None, None)
        self.scope = self.module_scope(module)
        self.layer: Layer | None = None
        self.returned: list[Thing] = []
        self.running: list[ast.AST] = []
        self.limit = MOST_ACTS
        self.maybe = 0
        self.captors: set[ast.If] = set()
        self.made = Thing(Kind.NONE)
        self.entered: dict[int, int] = {}
        self.resumes: list[tuple[ast.expr, Callable[[Thing], None]]] = []
        self.stacked: dict[int, list[tuple[ast.AST, Thing]]] = {}
        self.managing: list[Managing] = []
        self._evaluate = evaluate
        self._run = run

    @property
    def module(self) -> Module:
        return self.frame.module

    @property
    def is_spent(self) -> bool:
        return len(self.acts) >= self.limit

    def evaluate(self, node: ast.expr) -> Thing:
        return self._evaluate(self, node)

    def run(self, body: Sequence[ast.stmt]) -> bool:
        """Walk a body; whether its end cannot be reached."""
        return self._run(self, body)

    def module_scope(self, module: Module) -> Scope:
        """The scope of a module's globals, which all its functions share."""
        if module.name not in self.globals:
            self.globals[module.name] = Scope(module, "", 0)
        return self.globals[module.name]

    def thing(
        self, kind: Kind, node: ast.AST | None, name: str = "", base: Thing | None = None, call: ast.Call | None = None
    ) -> Thing:
        """A new thing, born at the act that comes next."""
        return Thing(kind, node, len(self.acts), name, base=base, call=call)

    def act(
        self,
        verb: Verb,
        node: ast.AST,
        thing: Thing,
        *,
        slot: Slot | None = None,
        other: Thing | None = None,
        name: str = "",
        call: ast.Call | None = None,
        is_partial: bool = False,
    ) -> Act:
        """Note an act where the walk is now; past the limit it is made and not kept."""
        done = Act(verb, node, self.frame, self.layer, thing, slot, other, name, call, is_partial, self.maybe > 0)
        if len(self.acts) < self.limit:
            self.acts.append(done)
        return done

    def name(self, node: ast.Name) -> Thing:
        """The thing a variable holds, and the act of looking."""
        holder = self.scope.holder(node.id)
        if holder is None:
            holder = self.module_scope(self.scope.module)
            found = self.symbol(self.scope.module, node.id, node)
            holder.slots[node.id] = found
        thing = holder.slots[node.id]
        self.act(Verb.LOAD, node, thing, slot=Slot(holder, node.id))
        return thing

    def symbol(self, module: Module, name: str, node: ast.AST) -> Thing:
        """The thing a name means at the top of a module."""
        found = self.project.lookup(module, name)
        if found is None:
            known = f"builtins.{name}" if name in BUILTINS else ""
            return Thing(Kind.OUTSIDE if known else Kind.UNKNOWN, node, 0, known)
        return self.resolved(found, node)

    def standing(self, module: Module, node: ast.expr | None) -> Thing | None:
        """What a default of a parameter stands for, if that is something of torch that matters at a capture site."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        found = self.project.dotted(module, node)
        return self.resolved(found, node) if isinstance(found, Outside) and found.name in CONSTRUCTORS else None

    def resolved(self, found: Resolved, node: ast.AST) -> Thing:
        """The thing for what the project resolved a name to."""
        match found:
            case ClassDecl():
                return Thing(Kind.CLASS, found.node, 0, found.name, decl=found, module=found.module)
            case FunctionDecl():
                thing = Thing(Kind.FUNCTION, found.node, 0, found.name, function=found.node, module=found.module)
                thing.scope = self.module_scope(found.module)
                return self.decorated(thing)
            case Module():
                return Thing(Kind.OUTSIDE, node, 0, found.name, module=found)
            case Outside(name):
                return Thing(Kind.OUTSIDE, node, 0, name)
            case Assigned(module, values, _):
                return self._variable(module, values, node)
        return Thing(Kind.UNKNOWN, node)

    def _variable(self, module: Module, values: tuple[ast.expr, ...], node: ast.AST) -> Thing:
        if not values or len(self.running) > DEEPEST:
            return Thing(Kind.UNKNOWN, node)
        frame, scope = self.frame, self.scope
        self.frame, self.scope = Frame(module, "", None, None), self.module_scope(module)
        self.running.append(values[-1])
        try:
            return self.evaluate(values[-1])
        finally:
            self.running.pop()
            self.frame, self.scope = frame, scope

    def decorated(self, thing: Thing) -> Thing:
        """A function under its decorators: compiled, or remembered by its arguments, or as it is."""
        node = thing.function
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or thing.module is None:
            return thing
        for decorator in reversed(node.decorator_list):
            called = decorator if isinstance(decorator, ast.Call) else None
            known = outside(self.project, thing.module, decorator)
            if known == "torch.compile":
                inner, thing = thing, Thing(Kind.COMPILED, decorator, thing.born, thing.name, call=called)
                thing.base = inner
            elif known in ("functools.lru_cache", "functools.cache"):
                thing.call = called
                thing.name = known
            elif not known:
                thing = self._wrapped(thing, decorator)
        return thing

    def _wrapped(self, thing: Thing, decorator: ast.expr) -> Thing:
        """What a decorator of the tree that captures makes of a function; any other leaves it as it is."""
        from graphlint.site.wrapping import wrapped  # here because few files capture in decorators

        assert thing.module is not None
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self.project.dotted(thing.module, called)
        if not isinstance(found, (FunctionDecl, ClassDecl)) or thing.kind is not Kind.FUNCTION or self.is_spent:
            return thing
        return wrapped(self, thing, found, decorator)

    def bind(self, slot: Slot, thing: Thing, node: ast.AST) -> None:
        """Put a thing into a slot; the act has what was there before as its other thing."""
        before = slot.holder.slots.get(slot.key)
        slot.holder.slots[slot.key] = thing
        self.act(Verb.BIND, node, thing, slot=slot, other=before)

    def read(self, node: ast.AST, *things: Thing, name: str = "") -> None:
        """Note that values are looked at; of constants, plain numbers and what is outside nothing is noted."""
        for thing in things:
            if thing.kind not in (Kind.CONSTANT, Kind.NUMBER, Kind.NONE, Kind.OUTSIDE):
                self.act(Verb.READ, node, thing, name=name)

    def write(
        self, node: ast.AST, thing: Thing, *, other: Thing | None = None, name: str = "", is_partial: bool = False
    ) -> None:
        """Note that a tensor's memory is written, in part or whole, from another thing if one is given."""
        self.act(Verb.WRITE, node, thing, other=other, name=name, is_partial=is_partial)

    def enter(self, node: ast.AST, thing: Thing | None = None, round: int = 0) -> None:
        self.layer = Layer(node, self.layer, thing, round)

    def leave(self, node: ast.AST) -> None:
        """Close what was opened at a node, and what was opened in it and never closed."""
        layer = self.layer
        while layer is not None and layer.node is not node:
            layer = layer.outer
        if layer is not None:
            self.layer = layer.outer


def outside(project: Project, module: Module, decorator: ast.expr) -> str:
    """The dotted name outside the tree that a decorator is, whatever it is called with; "" if it is none."""
    called = decorator if isinstance(decorator, ast.Call) else None
    found = project.dotted(module, called.func if called else decorator)
    if isinstance(found, Outside) and found.name == "functools.partial" and called is not None and called.args:
        found = project.dotted(module, called.args[0])
    return found.name if isinstance(found, Outside) else ""
