"""`isinstance`: which members of a value are of a class, and what an unknown value is once it has been asked."""

from __future__ import annotations

from graphlint.interp.annotations import PLAIN, outside
from graphlint.interp.frame import Frame
from graphlint.project import Outside
from graphlint.types import Confidence
from graphlint.values import (
    Bool,
    ClassValue,
    DeviceValue,
    DtypeValue,
    External,
    ExternalObject,
    Function,
    Instance,
    Kind,
    Nothing,
    Number,
    Opaque,
    Seq,
    SliceValue,
    Table,
    Tensor,
    Text,
    Union,
    Unknown,
    Value,
    join_all,
    members,
)

SEQUENCE_NAMES = {
    "list": {"list"},
    "tuple": {"tuple"},
    "set": {"set"},
    "iter": set[str](),
    "modules": set[str](),
    "sequential": set[str](),
}
SUBCLASSES = {
    "Conv1d": {"LazyConv1d"}, "Conv2d": {"LazyConv2d"}, "Conv3d": {"LazyConv3d"},
    "ConvTranspose1d": {"LazyConvTranspose1d"}, "ConvTranspose2d": {"LazyConvTranspose2d"},
    "ConvTranspose3d": {"LazyConvTranspose3d"}, "ConstantPad1d": {"ZeroPad1d"}, "ConstantPad2d": {"ZeroPad2d"},
    "ConstantPad3d": {"ZeroPad3d"}, "Hardtanh": {"ReLU6"}, "Linear": {"LazyLinear"}, "NLLLoss": {"NLLLoss2d"},
    "RNNBase": {"GRU", "LSTM", "RNN"}, "RNNCellBase": {"GRUCell", "LSTMCell", "RNNCell"},
    "Upsample": {"UpsamplingBilinear2d", "UpsamplingNearest2d"},
}  # fmt: skip
"""The classes of `torch.nn` from which others there derive, but for `Module`, by torch 2.13."""
ABSTRACT = {"Sequence", "Iterable", "Collection", "Sized", "Container", "Reversible"}


def split(frame: Frame, value: Value, wanted: Value) -> tuple[Value | None, Value | None]:
    """(what the value is if it is an instance, what it is if not); None where that cannot be."""
    classes = [leaf for member in members(wanted) for leaf in _leaves(member)]
    inside: list[Value] = []
    outsiders: list[Value] = []
    for member in members(value):
        answers = [matches(frame, member, leaf) for leaf in classes]
        if True in answers:
            inside.append(_supported(member))
        elif None in answers or not answers:
            inside.append(_narrowed(member, classes))
            outsiders.append(member)
        else:
            outsiders.append(member)
    return (join_all(inside) if inside else None), (join_all(outsiders) if outsiders else None)


def _supported(member: Value) -> Value:
    """An argument that has just been found to be the tensor that it possibly is: there is code for that case."""
    is_doubtful = isinstance(member, Tensor) and member.role == "input" and member.sure is Confidence.POSSIBLE
    return member.replace(sure=Confidence.LIKELY) if is_doubtful else member


def _leaves(value: Value) -> list[Value]:
    if isinstance(value, Seq) and value.items is not None:
        return [leaf for item in value.items for leaf in _leaves(item)]
    return list(members(value))


def _narrowed(member: Value, classes: list[Value]) -> Value:
    """An unknown value that has just passed the question."""
    if not isinstance(member, (Unknown, Opaque)):
        return member
    found: list[Value] = []
    for leaf in classes:
        if isinstance(leaf, ClassValue):
            found.append(Instance(leaf.decl))
        elif isinstance(leaf, External):
            kind = outside(leaf.name)
            if isinstance(kind, Tensor):
                kind = kind.replace(sure=Confidence.LIKELY)
            if isinstance(kind, Unknown):
                kind = PLAIN.get(leaf.name.rpartition(".")[2], kind)
            found.append(kind)
    return join_all(found) if found else member


def matches(frame: Frame, member: Value, cls: Value) -> bool | None:
    """Whether a value is an instance of a class; None when nobody knows."""
    if isinstance(member, Unknown) or not isinstance(cls, (External, ClassValue)):
        return None
    if isinstance(cls, ClassValue):
        return _of_tree_class(frame, member, cls)
    name = cls.name
    last = name.rpartition(".")[2]
    if isinstance(member, Tensor):
        return _tensor_is(member, name)
    if isinstance(member, Opaque):
        return False if "Tensor" in last else None
    if isinstance(member, Instance):
        return _instance_is(frame, member, name)
    if isinstance(member, ExternalObject):
        return True if member.name == name else _layer_is(member.name, name)
    return last in _python_names(member)


def _tensor_is(member: Tensor, name: str) -> bool | None:
    if name in ("torch.Tensor", "torch._C.TensorBase"):
        return True
    if name.endswith("Parameter"):
        return True if member.role == "parameter" else None
    # Subclasses such as FakeTensor or DTensor have their own ways through capture; a plain tensor is none of them.
    return False


def _of_tree_class(frame: Frame, member: Value, cls: ClassValue) -> bool | None:
    if isinstance(member, Opaque):
        return None
    if not isinstance(member, Instance):
        return False
    if cls.decl in frame.machine.project.mro(member.decl):
        return True
    # A declared type can be any class derived from it, an object we saw being made cannot.
    derived = member.decl in frame.machine.project.mro(cls.decl)
    return None if member.arguments is None and derived else False


def _instance_is(frame: Frame, member: Instance, name: str) -> bool | None:
    bases = [base.name for base in frame.machine.project.mro(member.decl) if isinstance(base, Outside)]
    if name in bases:
        return True
    last = name.rpartition(".")[2]
    if last in ("Tensor", "int", "float", "str", "bool", "bytes"):
        return any(base.rpartition(".")[2] == last for base in bases)
    if _is_layer(name) and "torch.nn.Module" in bases and all(map(_is_no_layer, bases)):
        # Nobody makes one class of a module of one's own and a layer of torch.
        return False
    return None if bases else False


def _is_layer(name: str) -> bool:
    """`torch.nn.Linear`."""
    return name.startswith("torch.nn.") and name.count(".") == 2 and name.rpartition(".")[2][0].isupper()


def _layer_is(made: str, name: str) -> bool | None:
    """Whether a layer of torch, named by its class, is of another class there."""
    last = name.rpartition(".")[2]
    if not _is_layer(name) or not _is_layer(made) or last == "Module":
        return None
    return made.rpartition(".")[2] in SUBCLASSES.get(last, ())


def _is_no_layer(base: str) -> bool:
    """Whether no layer of torch is among what a class outside the tree derives from."""
    return base == "torch.nn.Module" or base.partition(".")[0] in ("object", "abc", "typing", "builtins", "collections")


def _python_names(member: Value) -> set[str]:
    match member:
        case Number(kind=Kind.INT):
            return {"int", "Number", "Integral", "Real"}
        case Number(kind=Kind.FLOAT):
            return {"float", "Number", "Real"}
        case Number():
            return {"int", "float", "Number", "Real", "Integral"}
        case Bool():
            return {"bool", "int"}
        case Text():
            return {"str", *ABSTRACT}
        case Seq():
            return SEQUENCE_NAMES[member.form] | ABSTRACT | _module_names(member)
        case Table():
            return {"dict", "Mapping", "MutableMapping", "OrderedDict", "ModuleDict", *ABSTRACT}
        case Nothing():
            return {"NoneType"}
        case SliceValue():
            return {"slice"}
        case DtypeValue():
            return {"dtype"}
        case DeviceValue():
            return {"device"}
        case Function() | ClassValue():
            return {"Callable", "FunctionType"}
    return set()


def _module_names(member: Seq) -> set[str]:
    return {"modules": {"ModuleList", "Module"}, "sequential": {"Sequential", "Module"}}.get(member.form, set())


_ = Union
