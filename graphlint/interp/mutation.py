"""Writes that outlive the statement: attributes of objects, and the paths that narrowing speaks of."""

from __future__ import annotations

import ast

from graphlint.events import HostMutation, Rebound
from graphlint.interp.frame import Frame
from graphlint.interp.objects import as_member, record_of, store_attribute
from graphlint.values import Bool, Instance, Number, Origin, Place, Seq, Table, Tensor, Value, members, tensors_in


def path_of(node: ast.expr) -> str | None:
    """`self.cache.keys` as one word, for plain chains of names; None otherwise."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def assign_attribute(frame: Frame, target: ast.Attribute, value: Value, node: ast.AST, augmented: bool) -> None:
    """`owner.name = value`."""
    owner = frame.eval(target.value)
    building = [member for member in members(owner) if isinstance(member, Instance) and is_building(frame, member)]
    if not building:
        _report(frame, owner, target, value, node, augmented)
    path = path_of(target)
    if path is not None:
        for known in [known for known in frame.env if known.startswith(path + ".")]:
            del frame.env[known]
        frame.env[path] = value
    store_attribute(frame, owner, target.attr, as_member(value) if building else value)


def is_building(frame: Frame, member: Instance) -> bool:
    known = frame.machine.records.get(member)
    return known is not None and known.building


def _report(frame: Frame, owner: Value, target: ast.Attribute, value: Value, node: ast.AST, augmented: bool) -> None:
    """State of an object that outlives the region changes: a rebound tensor, or a host number."""
    lasting = [member for member in members(owner) if isinstance(member, Instance) and not member.fresh]
    # The statements of a capture block itself have no function; they give names to what the graph computes.
    if not lasting or frame.summary.decl is None:
        return
    text = ast.unparse(target)
    if any(tensor.place is not Place.HOST for tensor in tensors_in(value, 2)):
        buffer = any(_is_buffer(frame, member, target.attr) for member in lasting)
        frame.emit(Rebound, node, target=text, buffer=buffer)
    elif any(isinstance(member, (Number, Bool)) and (augmented or member.origin is Origin.STATE) for member in members(value)):
        frame.emit(HostMutation, node, target=text, what="counter")


def report_growth(frame: Frame, node: ast.AST) -> None:
    """`self.history.append(...)`: a container of an object that outlives the region gets one item at capture."""
    holder = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if not isinstance(holder, ast.Attribute) or not isinstance(holder.value, ast.Name) or path_of(holder) in frame.env:
        return
    owner = frame.env.get(holder.value.id)
    lasting = [each for each in members(owner) if isinstance(each, Instance) and not each.fresh] if owner is not None else []
    if lasting and not any(is_building(frame, each) for each in lasting):
        frame.emit(HostMutation, node, target=ast.unparse(holder), what="container")


def _is_buffer(frame: Frame, member: Instance, name: str) -> bool:
    held = record_of(frame.machine, member).attrs.get(name)
    return held is not None and any(tensor.role in ("buffer", "parameter") for tensor in tensors_in(held, 1))


_ = (Origin, Seq, Table, Tensor)
