"""Builds what a plan names: imports the file or module, calls the factory or the class.  Runs user code."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from graphlint.case import Case
from graphlint.confirm import values
from graphlint.confirm.plan import Plan
from graphlint.errors import UsageError, near
from graphlint.packs import as_module


def load(plan: Plan) -> Callable[..., object]:
    """The callable a plan names; raises what importing it raises, or `UsageError` when it is not there."""
    module = from_file(Path(plan.path)) if plan.path else _from_module(plan)
    found: Any = module
    for word in plan.name.split("."):
        if not hasattr(found, word):
            raise UsageError(f"`{plan.source}` has no `{plan.name}`", near(word, _own(found)) or _told(_own(found)))
        found = getattr(found, word)
    if not callable(found):
        raise UsageError(f"`{plan.target}` is not callable", "name a function that returns `(fn, args)`")
    return found  # type: ignore[no-any-return]  # checked to be callable


def _own(owner: Any) -> list[str]:
    """What a module or class defines itself and can be called; what it imports is no target."""
    home = getattr(owner, "__module__", None) or owner.__name__
    return [name for name, each in vars(owner).items() if callable(each) and getattr(each, "__module__", None) == home]


def _told(names: list[str]) -> str:
    return f"it defines {', '.join(f'`{each}`' for each in names[:5])}" if names else "it defines no function and no class"


def from_file(path: Path) -> ModuleType:
    """Import a file under its own name, with its folder first on the path, as Python does with a script."""
    package = _package(path)
    if package is not None:
        return package
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"confirmed_{abs(hash(path))}"
    module = as_module(name, path)
    if module is None:
        raise UsageError(f"`{path}` cannot be imported", "is it a Python file?")
    return module


def _package(path: Path) -> ModuleType | None:
    """A file of a package is imported by its dotted name, so that its relative imports work."""
    top, names = path.parent, [path.stem]
    while (top / "__init__.py").is_file():
        names.insert(0, top.name)
        top = top.parent
    if len(names) == 1 or not all(name.isidentifier() for name in names):
        return None
    if str(top) not in sys.path:
        sys.path.insert(0, str(top))
    return importlib.import_module(".".join(names))


def _from_module(plan: Plan) -> ModuleType:
    if plan.root and plan.root not in sys.path:
        sys.path.insert(0, plan.root)
    return importlib.import_module(plan.module)


def make(plan: Plan, loaded: Callable[..., object], device: str, sizes: Mapping[str, int] | None = None) -> object:
    """What the target gives on a device: a case in one of its forms, or None from a script that captures by itself."""
    if isinstance(loaded, type) and issubclass(loaded, torch.nn.Module):
        return module_case(plan, loaded, device, sizes or {})
    parameters = inspect.signature(loaded).parameters
    given: dict[str, object] = dict(plan.init) | {key: size for key, size in (sizes or {}).items() if key in parameters}
    if "device" in parameters and "device" not in given:
        given["device"] = device
    wanted = [each for each in ("rank", "world_size") if each in parameters and each not in given]
    if any(parameters[each].default is inspect.Parameter.empty for each in wanted):
        raise UsageError(f"`{plan.name}` takes `{wanted[0]}`", "`--ranks 2` gives it to each rank")
    return loaded(**given)


def module_case(plan: Plan, kind: type[torch.nn.Module], device: str, sizes: Mapping[str, int]) -> Case:
    """A module made from `--init`, in evaluation mode, with the inputs that `--input` describes."""
    if not plan.inputs:
        raise UsageError(f"`{plan.target}` is a module and no input is given", "add `--input x=float32[2,16,64]`")
    missing = {each for spec in plan.inputs for each in spec.shape if isinstance(each, str)} - set(sizes)
    if missing:
        raise UsageError(f"no size for {', '.join(sorted(missing))}", "give numbers, or `--shapes NAME=1..64`")
    training = plan.init.get("training", False)
    model = kind(**{key: value for key, value in plan.init.items() if key != "training"}).to(device).train(bool(training))
    generator = torch.Generator().manual_seed(plan.options.seed)

    def inputs() -> dict[str, torch.Tensor]:
        return {spec.name: values.make(spec, device, sizes, generator) for spec in plan.inputs}

    positional = _positional(model, [spec.name for spec in plan.inputs])
    return Case(model, *_split(inputs(), positional), vary=lambda: _split(inputs(), positional), name=kind.__name__)


def _positional(model: torch.nn.Module, names: list[str]) -> bool:
    """Whether the names are not those of `forward`, in which case they only say the order."""
    parameters = inspect.signature(model.forward).parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return not takes_any and not set(names) <= set(parameters)


def _split(inputs: dict[str, torch.Tensor], positional: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (tuple(inputs.values()), {}) if positional else ((), inputs)
