"""Modules, imports, classes and functions across the tree; knows nothing of torch.

A name resolves to a declaration of the tree (`ClassDecl`, `FunctionDecl`, `Module`, `Assigned`) or to a dotted name
outside it (`Outside`).  Modules are found on disk below the roots of the given files and parsed when first asked for,
so one staged file still sees the rest of its project.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from graphlint.asked import Asked, Fact
from graphlint.errors import Unreadable
from graphlint.modules import Assigned, ClassDecl, FunctionDecl, Imported, Module, Outside, Symbol
from graphlint.outline import outlined
from graphlint.roots import Roots
from graphlint.source import Source
from graphlint.syntax import walk

__all__ = ["Assigned", "ClassDecl", "FunctionDecl", "Imported", "Module", "Outside", "Project", "Resolved", "Symbol"]

DEEPEST_CHAIN = 24
FEW_STARS = 8


Resolved = ClassDecl | FunctionDecl | Module | Assigned | Outside


class Project:
    """Every module that can be reached from the given files."""

    def __init__(
        self,
        sources: Iterable[Source],
        reader: Callable[[Path, str], Source] = outlined,
        names: Mapping[str, str] = MappingProxyType({}),
        roots: Roots | None = None,
    ) -> None:
        given = list(sources)
        self._names = names
        self._reader = reader
        self._roots = roots or Roots(source.path for source in given)
        self._modules: dict[Fact, Module | None] = {}
        self._by_path: dict[Path, Module] = {}
        self._found: dict[tuple[Module, str], Resolved | None] = {}
        self._unread: dict[Fact, str] = {}
        self.asked = Asked()
        self.given: list[Module] = []
        for source in given:
            self._add(source)

    def _add(self, source: Source) -> None:
        root, name = self._named(source.path)
        package = name if source.path.name == "__init__.py" else name.rpartition(".")[0]
        module = self._by_path[source.path] = Module(name, package, source, root)
        self.given.append(module)

    def take(self, sources: Iterable[Source]) -> bool:
        """Let some other files be the given ones; those that were read before stay what they are.

        False if one of them is known under another name than it has as a given file.
        """
        self.given = []
        for source in sources:
            known = self._by_path.get(source.path)
            if known is None:
                self._add(source)
            elif (known.root, known.name) == self._named(source.path):
                self.given.append(known)
            else:
                return False
        return True

    def _named(self, path: Path) -> tuple[Path, str]:
        """The root of a given file, and its dotted name from there."""
        root, parts = self._roots.package_of(path)
        return root, ".".join(parts)

    def reported(self) -> set[str]:
        """The names of the files that findings may be told of."""
        return {module.source.name for module in self.given} | set(self._names.values())

    def module(self, name: str, asker: Module) -> Module | None:
        """The module that code of another one means by a dotted name, parsed on first use.

        None outside the tree or when it cannot be read.
        """
        fact = (str(asker.root), name)
        if fact not in self._modules:
            self._modules[fact] = self._find(name, asker.root)
        self.asked.note(asker, fact)
        return self._modules[fact]

    def needs(self, module: Module) -> tuple[frozenset[Fact], dict[Fact, str]]:
        """What the analysis of a module rests on, and what each of these names stood for: a path, or nothing."""
        facts = self.asked.below(module, self._modules)
        found = {fact: self._modules[fact] for fact in facts}
        unread = self._unread
        return facts, {
            fact: unread.get(fact, "") if each is None else str(each.source.path) for fact, each in found.items()
        }

    def rests_on(self, modules: Iterable[Module]) -> set[Module]:
        """The modules whose code rests on one of some modules, with these."""
        return {each for each in self.asked.resting(set(modules), self._modules) if isinstance(each, Module)}

    def renew(self, changed: Mapping[Module, Source]) -> dict[Module, Module]:
        """Put other sources in the place of those of some modules; gives what takes the place of all that rested on them.

        These begin anew: none of their declarations is used again.
        """
        gone = self.rests_on(changed)
        for key in self.asked.forget(gone, self._modules):
            self._found.pop(key, None)  # type: ignore[arg-type]  # all askers are modules
        fresh = {each: Module(each.name, each.package, changed.get(each, each.source), each.root) for each in gone}
        self._by_path.update((each.source.path, fresh[each]) for each in gone)
        self._modules = {fact: fresh.get(each, each) if each else None for fact, each in self._modules.items()}
        self.given = [fresh.get(each, each) for each in self.given]
        return fresh

    def folders(self) -> frozenset[str]:
        """The folders in which a name comes to stand for another file when an entry comes or goes."""
        return self._roots.folders_of(self.asked.facts())

    def _find(self, name: str, home: Path) -> Module | None:
        for candidate, root in self._roots.candidates(name, home):
            known = self._by_path.get(candidate)
            if known is not None:
                return known
            if os.path.isfile(candidate):
                found = self._load(candidate, name, root)
                if found is None:
                    self._unread[str(home), name] = str(candidate)
                return found
        return None

    def _load(self, path: Path, name: str, root: Path) -> Module | None:
        try:
            source = self._reader(path, self._names.get(str(path), path.as_posix()))
        except Unreadable:
            return None
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        module = self._by_path[path] = Module(name, package, source, root)
        return module

    def lookup(self, module: Module, name: str, depth: int = 0) -> Resolved | None:
        """What a top-level name of a module stands for."""
        key = (module, name)
        if key in self._found:
            self.asked.again(key)
            return self._found[key]
        if depth > DEEPEST_CHAIN:
            return None
        self._found[key] = None  # what a circle of star imports finds
        begins = self.asked.begin()
        self.asked.first(key)
        try:
            self._found[key] = self._lookup(module, name, depth)
        finally:
            if begins:
                self.asked.end(module)
        return self._found[key]

    def _lookup(self, module: Module, name: str, depth: int) -> Resolved | None:
        symbols = module.symbols.get(name)
        if symbols:
            return self._symbol(module, name, symbols, depth)
        if module.source.path.name == "__init__.py":
            # Asked before the star imports: a package of hundreds of them would have to be read for nothing.
            below = self.module(f"{module.name}.{name}", module)
            if below is not None:
                return below
        for star in _likeliest(module.stars, name):
            target = self.module(star, module)
            found = None if target is None else self.lookup(target, name, depth + 1)
            if found is not None:
                return found
        return None

    def _symbol(self, module: Module, name: str, symbols: list[Symbol], depth: int) -> Resolved | None:
        outside: Outside | None = None
        for symbol in reversed(symbols):
            if isinstance(symbol, ast.ClassDef):
                return module.class_(symbol, symbol.name)
            if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return module.function(symbol, None, symbol.name)
            if isinstance(symbol, (ast.Assign, ast.AnnAssign)):
                return self._variable(module, name, symbols, depth)
            found = self._import(module, symbol, name, depth)
            if isinstance(found, Outside):
                outside = outside or found
            elif found is not None:
                return found
        return outside

    def _variable(self, module: Module, name: str, symbols: list[Symbol], depth: int) -> Assigned:
        """A variable; `Model = registered(Model)` is made of what had the name before, by a function of the same file.

        Those of other files are not followed: what the registries of large libraries do is as much work as a model.
        """
        found = assigned(module, symbols)
        earlier: list[Symbol] = [each for each in symbols if not isinstance(each, (ast.Assign, ast.AnnAssign))]
        if not earlier or not any(_makes(each, name) and self._is_own(module, each, depth) for each in found.values):
            return found
        before = self._symbol(module, name, earlier, depth)
        return found if before is None else found._replace(before=(name, before))

    def _is_own(self, module: Module, call: ast.expr, depth: int) -> bool:
        """Whether what is called is a function of the same file."""
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        found = self.lookup(module, name, depth + 1) if name else None
        return isinstance(found, FunctionDecl) and found.module is module

    def _import(self, module: Module, node: ast.Import | ast.ImportFrom, name: str, depth: int) -> Resolved | None:
        bound = imported(module, node, name)
        return None if bound is None else self.follow(bound, module, depth)

    def follow(self, bound: Imported, asker: Module, depth: int = 0) -> Resolved | None:
        """What an import in a module brings in."""
        begins = self.asked.begin()
        try:
            return self._follow(bound, asker, depth)
        finally:
            if begins:
                self.asked.end(asker)

    def _follow(self, bound: Imported, asker: Module, depth: int) -> Resolved:
        target = self.module(bound.module, asker)
        if bound.name is None:
            return target or Outside(bound.module)
        if target is not None:
            found = self.lookup(target, bound.name, depth + 1)
            if found is not None:
                return found
        return self.module(f"{bound.module}.{bound.name}", asker) or Outside(f"{bound.module}.{bound.name}")

    def dotted(self, module: Module, node: ast.expr) -> Resolved | None:
        """What a plain dotted expression (`nn.Module`) stands for at the top of a module."""
        if isinstance(node, ast.Name):
            return self.lookup(module, node.id)
        if not isinstance(node, ast.Attribute):
            return None
        begins = self.asked.begin()
        try:
            return self._attribute(module, node)
        finally:
            if begins:
                self.asked.end(module)

    def _attribute(self, module: Module, node: ast.Attribute) -> Resolved | None:
        base = self.dotted(module, node.value)
        if isinstance(base, Module):
            return self.lookup(base, node.attr) or Outside(f"{base.name}.{node.attr}")
        if isinstance(base, Outside):
            return Outside(f"{base.name}.{node.attr}")
        return None

    def mro(self, decl: ClassDecl) -> tuple[ClassDecl | Outside, ...]:
        """The class and its bases, nearest first; bases that cannot be resolved are `Outside`."""
        if decl._mro is None:
            decl._mro = (decl,)
            order: dict[ClassDecl | Outside, None] = {}
            chains = [self.mro(base) if isinstance(base, ClassDecl) else (base,) for base in self._bases(decl)]
            _linearize(order, chains)
            decl._mro = (decl, *(base for base in order if base is not decl))
        return decl._mro

    def _bases(self, decl: ClassDecl) -> Iterator[ClassDecl | Outside]:
        if decl.bases is not None:
            yield from decl.bases
            return
        for node in decl.node.bases:
            target = node.value if isinstance(node, ast.Subscript) else node
            found = self.dotted(decl.module, target)
            yield found if isinstance(found, (ClassDecl, Outside)) else Outside(ast.unparse(target))

    def member(self, decl: ClassDecl, name: str, after: ClassDecl | None = None) -> tuple[ClassDecl, list[Symbol]] | None:
        """Where a class attribute is defined along the bases, from behind `after` if given."""
        key = (name, after)
        if key not in decl.found:
            decl.found[key] = self._member(decl, name, after)
        return decl.found[key]

    def _member(self, decl: ClassDecl, name: str, after: ClassDecl | None) -> tuple[ClassDecl, list[Symbol]] | None:
        skipping = after is not None
        for base in self.mro(decl):
            if skipping:
                skipping = base is not after
                continue
            if isinstance(base, ClassDecl) and name in base.members:
                return base, base.members[name]
        return None


def _likeliest(stars: list[str], name: str) -> list[str]:
    """Star imports with those first whose module is called like a name: an index of a library has hundreds of them."""
    if len(stars) < FEW_STARS:
        return stars
    word = name.lower()

    def alike(star: str) -> int:
        return sum(len(part) for part in star.rpartition(".")[2].lower().split("_") if part in word)

    return sorted(stars, key=alike, reverse=True)


def _linearize(order: dict[ClassDecl | Outside, None], chains: list[tuple[ClassDecl | Outside, ...]]) -> None:
    """Merge the bases' orders: a class comes after all classes that derive from it, as far as that is possible."""
    waiting = [list(chain) for chain in chains]
    while any(waiting):
        heads = [chain[0] for chain in waiting if chain]
        pick = next((head for head in heads if not any(head in chain[1:] for chain in waiting)), heads[0])
        order[pick] = None
        waiting = [[base for base in chain if base != pick] for chain in waiting]


def imported(module: Module, node: ast.Import | ast.ImportFrom, name: str) -> Imported | None:
    """What `name` is bound to by an import statement."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if (alias.asname or alias.name) == name:
                return Imported(module.absolute(node), alias.name)
        elif alias.asname == name:
            return Imported(alias.name, None)
        elif alias.asname is None and alias.name.split(".")[0] == name:
            return Imported(name, None)
    return None


def _is_plain(node: ast.Assign | ast.AnnAssign) -> bool:
    return isinstance(node, ast.AnnAssign) or any(isinstance(target, ast.Name) for target in node.targets)


def assigned(module: Module, symbols: Iterable[Symbol]) -> Assigned:
    """What assignments bind to one variable of a module or class: every value, and the last annotation."""
    values = [
        node.value
        for node in symbols
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _is_plain(node)
    ]
    notes = [node.annotation for node in symbols if isinstance(node, ast.AnnAssign)]
    return Assigned(module, tuple(values), notes[-1] if notes else None)


def _makes(value: ast.expr, name: str) -> bool:
    """Whether a value is made of what a name stands for."""
    return any(isinstance(part, ast.Name) and part.id == name for part in walk(value))
