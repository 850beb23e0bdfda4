"""Writes that outlive the statement: attributes of objects, and the paths that narrowing speaks of."""

from __future__ import annotations

import ast

from graphlint.events import HostMutation, Rebound
from graphlint.interp import untraced
from graphlint.interp.carried import (
    is_found_empty,
    is_given_back,
    is_kept,
    is_none_asked,
    is_own_again,
    is_put_back,
    is_settled,
    is_settled_aside,
    key_of,
    place_of,
    reads_first,
)
from graphlint.interp.dispatch import apply
from graphlint.interp.frame import Frame
from graphlint.interp.members import late_writers
from graphlint.interp.moving import flips, is_number_asked, is_swap, is_undone, moves_on, sure_to_stay
from graphlint.interp.objects import is_followed, record_of, store_attribute
from graphlint.interp.record import as_member, note_brought
from graphlint.project import FunctionDecl
from graphlint.site_events import GrowingState
from graphlint.syntax import is_tail, last, last_called, nested, spelled, stands_in, stored, walk
from graphlint.types import Confidence
from graphlint.values import (
    Arguments,
    Bool,
    ClassValue,
    Function,
    Instance,
    Nothing,
    Number,
    Origin,
    Place,
    Tensor,
    Value,
    members,
    tensors_in,
)


def path_of(node: ast.expr) -> str | None:
    """`self.cache.keys` as one word, for plain chains of names; None otherwise."""
    if isinstance(node, ast.Name):
        return node.id
    if not isinstance(node, ast.Attribute):
        return None
    held = node.__dict__  # asked for at every read of the attribute
    if "path" not in held:
        owner = path_of(node.value)
        held["path"] = None if owner is None else f"{owner}.{node.attr}"
    path: str | None = held["path"]
    return path


def assign_attribute(frame: Frame, target: ast.Attribute, value: Value, node: ast.AST, augmented: bool) -> None:
    """`owner.name = value`."""
    owner = frame.eval(target.value)
    if target.attr == "requires_grad" and isinstance(owner, Tensor):
        sure = Confidence.POSSIBLE if frame.branches else owner.sure
        untraced.split(frame, node, sure, spelled(target), "Dynamo does not trace a change of `requires_grad`")
    if target.attr == "data":
        from graphlint.interp.exchanged import exchanged  # here because few files do this

        exchanged(frame, owner, target.value, value, node)
    building = [member for member in members(owner) if isinstance(member, Instance) and is_building(frame, member)]
    if not building:
        note_brought(frame, owner, target.attr, value)
        _report(frame, owner, target, value, node, augmented)
        if augmented and isinstance(value, Number) and any(_lasts(each) for each in members(owner)):
            # What was read from the device was told of where it was read, and so was all that it decides.
            value = Number(value.kind, None, value.origin if value.origin is Origin.DATA else Origin.STATE)
        if _set_property(frame, owner, target, value):
            return
    path = path_of(target)
    if path is not None:
        for known in [known for known in frame.env if known.startswith(path + ".")]:
            del frame.env[known]
        frame.env[path] = value
        if isinstance(target.value, ast.Name) and target.value.id == frame.own and not building:
            frame.stored[target.attr] = path
    store_attribute(frame, owner, target.attr, as_member(value) if building else value)


def _lasts(owner: Value) -> bool:
    return isinstance(owner, Instance) and not owner.fresh


def _set_property(frame: Frame, owner: Value, target: ast.Attribute, value: Value) -> bool:
    """Run the setter of a property; whether there is one."""
    if not isinstance(owner, Instance):
        return False
    found = frame.machine.project.member(owner.decl, target.attr)
    for symbol in found[1] if found is not None else ():
        marks = symbol.decorator_list if isinstance(symbol, ast.FunctionDef) else []
        if any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in marks) and found is not None:
            assert isinstance(symbol, ast.FunctionDef)
            function = Function(found[0].module.function(symbol, found[0], target.attr), owner, None, found[0])
            apply(frame, function, Arguments((value,)), target)
            return True
    return False


def is_building(frame: Frame, member: Instance) -> bool:
    known = frame.machine.records.get(member)
    return known is not None and known.building


def _report(frame: Frame, owner: Value, target: ast.Attribute, value: Value, node: ast.AST, augmented: bool) -> None:
    """State of an object that outlives the region changes: a rebound tensor, or a host number."""
    lasting = [member for member in members(owner) if isinstance(member, Instance) and not member.fresh]
    # The statements of a capture block itself have no function; they give names to what the graph computes.
    if frame.summary.decl is None or not frame.recording:
        return
    text = spelled(target)
    if not lasting and any(isinstance(member, ClassValue) for member in members(owner)):
        from graphlint.interp.counts import of_class  # here because few regions count

        of_class(frame, target, value, node, augmented)
    if not lasting:
        return
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and is_settled(node.value, text):
        if any(untraced.is_declared_fleeting(frame.machine, each.decl, target.attr) for each in lasting):
            untraced.split(frame, node, Confidence.CERTAIN, text, "Dynamo binds no buffer anew that is not persistent")
        return
    if isinstance(node, ast.Assign):
        from graphlint.interp.given_itself import is_given_itself  # here because few regions bind attributes

        if is_given_itself(frame.summary.decl, node.value, text):
            return
    moving = [tensor.sure for tensor in tensors_in(value, 2) if tensor.place is not Place.HOST]
    if is_swap(node):
        from graphlint.interp import turning  # here because few attributes change places

        if turning.turns_back(frame, node):
            return
        moving = moving or ([Confidence.LIKELY] if turning.of_records(frame, value) else [])
    if moving:
        _report_tensor(frame, lasting, target, max(moving), node)
        return
    counts = [member for member in members(value) if isinstance(member, (Number, Bool))]
    if any(augmented or member.origin is Origin.STATE for member in counts) or flips(node, text):
        from graphlint.interp.counts import of_object  # here because few regions count

        of_object(frame, lasting, target, value, node)


def _report_tensor(frame: Frame, lasting: list[Instance], target: ast.Attribute, moving: Confidence, node: ast.AST) -> None:
    """An attribute that holds a tensor is bound anew; `moving` is how sure it is that the new value is one."""
    assert frame.summary.decl is not None
    text = spelled(target)
    buffer = any(_is_buffer(frame, member, target.attr) for member in lasting)
    keys = tuple(key_of(each, target.attr) for each in lasting if is_followed(frame.machine, each, target.attr))
    harmless = _is_harmless(frame, frame.summary.decl, lasting, target, node)
    # What nobody says is a tensor, such as an argument without a hint, may as well be a setting.
    sure = Confidence.POSSIBLE if harmless or moving is Confidence.POSSIBLE else Confidence.CERTAIN
    frame.emit(Rebound, node, sure, target=text, buffer=buffer, keys=keys if len(keys) == len(lasting) else ())
    if sure is Confidence.CERTAIN and (made := lengthened(target, node)) is not None:
        frame.emit(GrowingState, made, target=text)
    for key in keys:
        frame.touch(key, is_store=True)


def _is_harmless(frame: Frame, decl: FunctionDecl, lasting: list[Instance], target: ast.Attribute, node: ast.AST) -> bool:
    """Whether nothing of what a function binds to an attribute is missed by a replay."""
    text, project = spelled(target), frame.machine.project
    # Behind `if self.mask is None:` the warm-up fills the attribute, and neither capture nor replay gets there again.
    filled = isinstance(frame.env.get(path_of(target) or ""), Nothing) or _asks_first(frame, target, node)
    if filled or is_put_back(decl, text) or is_kept(decl, text, node):
        return True
    from graphlint.interp.rebinding import carries_nothing  # here because few regions bind attributes

    if not moves_on(node, text) and carries_nothing(frame, lasting, target):
        return True
    given = node.value if isinstance(node, ast.Assign) else None
    if given is not None and is_given_back(project, decl, text, given, place_of(node, target)):
        return True
    return _stands_still(frame, lasting, target, given) or is_own_again(project, decl, target, node)


def set_named(frame: Frame, owner: ast.expr, name: str, value: Value, node: ast.expr) -> None:
    """`setattr(owner, "name", value)`, and its like."""
    target = ast.copy_location(ast.Attribute(owner, name, ast.Store()), node)
    assign_attribute(frame, target, value, node, False)


def report_entry(frame: Frame, target: ast.Subscript, node: ast.AST) -> None:
    """`self.state["step"] += 1`: an entry of a container that outlives the call counts on at capture only."""
    root = target.value
    if isinstance(node, ast.Assign) and not flips(node, spelled(target)) and not _counts_on(node, target):
        return
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if isinstance(root, ast.Name) and (isinstance(target.value, ast.Attribute) or _outlives(frame, root.id)):
        sure = sure_to_stay(frame.summary.decl, spelled(target))
        frame.emit(HostMutation, node, sure, target=spelled(target), what="counter")


def _outlives(frame: Frame, name: str) -> bool:
    """Whether a variable is one of the file, or of a function around that is over."""
    return name not in frame.env and not frame.scope.ends_with(name)


def is_shared(frame: Frame, name: str) -> bool:
    """Whether a function only looks up a variable: it is one of the file, or of a function around that is over."""
    decl = frame.summary.decl
    if decl is None or (name not in frame.module.symbols and frame.scope.parent is None) or frame.scope.ends_with(name):
        return False
    return not any(isinstance(each.ctx, ast.Store) and each.id == name for each in decl.every(ast.Name))


def _counts_on(node: ast.Assign, target: ast.Subscript) -> bool:
    """`self.state["n"] = self.state.get("n", 0) + 1`."""
    fetched = f"{spelled(target.value)}.get({spelled(target.slice)}"
    return isinstance(node.value, ast.BinOp) and spelled(node.value.left).startswith(fetched)


def report_stored(frame: Frame, target: ast.Subscript) -> None:
    """`self.cache[key] = tensor`: an entry of a container that outlives the call is stored once, at capture."""
    decl, container = frame.summary.decl, target.value
    if isinstance(container, ast.Attribute) and _is_of_call(frame, container.value):
        return
    if decl is not None and isinstance(container, ast.Name) and _is_made_here(decl, container.id, target):
        return
    kept = decl is not None and (is_kept(decl, spelled(container), target) or is_found_empty(decl, target))
    # What a method is given is the region's input, of which the capture site tells.
    is_asked = frame.receiver is None or (isinstance(container, ast.Name) and container.id not in frame.inputs)
    why = READ_FIRST if decl is not None and is_asked and reads_first(decl, target) else ""
    keys: tuple[str, ...] = ()
    match container:
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            owner = frame.env.get(name)
            if isinstance(owner, Instance) and not owner.fresh:
                keys = (key_of(owner, attr),)
                from graphlint.interp.one_entry import has_one_entry  # here because few entries are stored in a region

                if has_one_entry(frame.machine, owner.decl, attr):
                    frame.touch(keys[0], is_store=True)
            # An object that a method is given is its caller's: an entry that is stored before it is read is only passed on.
            kept = kept or (name in frame.inputs and name != frame.own and not (decl and reads_first(decl, target)))
    sure = Confidence.POSSIBLE if kept else Confidence.CERTAIN
    frame.emit(HostMutation, target, sure, target=spelled(target), what="entry", why=why, keys=keys)


def _is_of_call(frame: Frame, holder: ast.expr) -> bool:
    """Whether an object was made by this call, or is being made: what it holds is gone, or new, in the next."""
    with frame.untouched():
        owners = [each for each in members(frame.eval(holder)) if isinstance(each, Instance)]
    return bool(owners) and all(each.fresh or is_building(frame, each) for each in owners)


JOINS = frozenset({"cat", "concat", "hstack", "vstack"})


def lengthened(target: ast.expr, node: ast.AST) -> ast.Call | None:
    """The `cat` of `self.keys[i] = torch.cat([self.keys[i], k])`, which binds something to itself with more behind it."""
    value = node.value if isinstance(node, ast.Assign) else None
    arms = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
    for made in arms:
        if not isinstance(made, ast.Call) or last(made.func) not in JOINS:
            continue
        # With its first rows left out, it is a window, and no longer than before.
        cut = {part for each in walk(made) if is_tail(each) for part in walk(each)}
        # A list that is joined is not longer for it.
        cut.update(made.args, (word.value for word in made.keywords))
        same = (part for part in walk(made) if type(part) is type(target) and part not in cut)
        if any(spelled(part) == spelled(target) for part in same if isinstance(part, ast.expr)):
            return made
    return None


def report_longer(frame: Frame, target: ast.Subscript, made: ast.Call) -> None:
    """An entry of what outlives the call gets longer in every one."""
    if isinstance(target.value, ast.Attribute) and not _is_of_call(frame, target.value.value):
        frame.emit(GrowingState, made, target=spelled(target))


def _is_made_here(decl: FunctionDecl, name: str, target: ast.Subscript) -> bool:
    """Whether a variable is a container of this call: `*args` and `**kwargs`, and one that was made before the store."""
    given = decl.node.args
    if name in (each.arg for each in (given.vararg, given.kwarg) if each is not None):
        return True
    before = (each for each in decl.every(ast.Assign) if each.lineno < target.lineno)
    made = (each.value for each in before if any(isinstance(to, ast.Name) and to.id == name for to in each.targets))
    return any(isinstance(each, MAKING) or (isinstance(each, ast.Call) and last_called(each) in COPYING) for each in made)


MAKING = (ast.Dict, ast.List, ast.DictComp, ast.ListComp)
COPYING = frozenset({"dict", "list", "copy", "deepcopy"})
READ_FIRST = "it is read before"


def report_brought(frame: Frame, node: ast.AST, key: object) -> None:
    """`self.state.update(h=h)` stores an entry as `self.state["h"] = h` does; told where the function reads it, too."""
    holder = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    decl = frame.summary.decl
    if decl is None or not isinstance(holder, ast.Attribute) or not isinstance(key, (str, int)):
        return
    target = ast.copy_location(ast.Subscript(holder, ast.Constant(key), ast.Store()), node)
    fetched = f"{spelled(holder)}.get({key!r}"
    is_read = any(spelled(each) == spelled(target) for each in decl.every(ast.Subscript))
    is_read = is_read or any(spelled(each).startswith(fetched) for each in decl.every(ast.Call))
    if is_read and path_of(holder) not in frame.env:
        report_stored(frame, target)


def is_bound(frame: Frame, holder: ast.Attribute) -> bool:
    """Whether this call has bound a container: what it has only asked about, or added to, was there before."""
    if path_of(holder) not in frame.env:
        return False
    is_own = isinstance(holder.value, ast.Name) and holder.value.id == frame.own
    return not is_own or holder.attr in frame.stored


def report_growth(frame: Frame, node: ast.AST) -> None:
    """`self.history.append(...)`: a container of an object that outlives the region changes once, at capture."""
    holder = container(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    decl = frame.summary.decl
    if not isinstance(holder, ast.Attribute) or path_of(holder) is None or decl is None or is_bound(frame, holder):
        return
    with frame.untouched():
        owner = frame.eval(holder.value)
    lasting = [each for each in members(owner) if isinstance(each, Instance) and not each.fresh]
    if lasting and not any(is_building(frame, each) for each in lasting):
        text = spelled(holder)
        if any(isinstance(each, HostMutation) and each.target == text for each in frame.summary.events):
            return  # what a window lets go of goes with what it takes in
        sure = Confidence.POSSIBLE if is_undone(decl, text) or _is_emptied(decl, text, node) else Confidence.CERTAIN
        from graphlint.interp.unread import is_log  # here because few regions fill containers

        shown = isinstance(node, ast.Call) and is_log(frame, holder, node)
        frame.emit(HostMutation, node, sure, target=text, what="container", is_shown=shown)


def container(node: ast.expr) -> ast.expr:
    """What holds a container, where that is an entry: `self.norms[name]`, `self.norms.setdefault(name, [])`."""
    match node:
        case ast.Subscript(value=holder) | ast.Call(func=ast.Attribute(value=holder, attr="setdefault")):
            return holder
    return node


def _is_emptied(decl: FunctionDecl, holder: str, node: ast.AST) -> bool:
    """`while self.merged: self.merged.pop()`: whether a loop goes on until the container has nothing left."""
    around = (each for each in decl.every(ast.While) if stands_in(each.body, node))
    parts = (part for each in around for part in walk(each.test))
    return any(isinstance(part, ast.Attribute) and spelled(part) == holder for part in parts)


def _asks_first(frame: Frame, target: ast.Attribute, node: ast.AST) -> bool:
    """Whether an `if` around an assignment asks, among other things, if what it fills is still None, or a number."""
    decl = frame.summary.decl
    around = [each for each in (decl.every(ast.If) if decl is not None else ()) if stands_in(each.body, node)]
    filled = [(each.test, _filled_along(each.body, target)) for each in around]
    return any(is_none_asked(test, names) or is_number_asked(test, names) for test, names in filled)


def _filled_along(body: list[ast.stmt], target: ast.Attribute) -> frozenset[str]:
    """What the same statements bind on one object: `self.sin` is filled where `self.cos is None` fills both."""
    bound = (to for each in nested(body) for to in stored(each) if isinstance(to, ast.Attribute))
    owner = spelled(target.value)
    return frozenset(spelled(to) for to in bound if spelled(to.value) == owner)


def _stands_still(frame: Frame, owners: list[Instance], target: ast.Attribute, given: ast.expr | None) -> bool:
    """`self.freq = self.long_freq`: whether what is bound is a buffer that nobody binds anew, or what was there before."""
    if frame.summary.decl is not None and is_settled_aside(frame.summary.decl, spelled(target), given):
        return True
    if not isinstance(given, ast.Attribute) or spelled(given.value) != spelled(target.value):
        return False
    return all(
        _is_buffer(frame, each, given.attr) and not late_writers(frame.machine, each.decl, given.attr) for each in owners
    )


def _is_buffer(frame: Frame, member: Instance, name: str) -> bool:
    held = record_of(frame.machine, member).read(frame.machine, name)
    return held is not None and any(tensor.role in ("buffer", "parameter") for tensor in tensors_in(held, 1))
