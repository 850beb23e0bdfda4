"""Rule packs: installed packages that name themselves in the entry-point group `graphlint.rules`.

The group is read from the installed distributions by hand: importing `importlib.metadata` takes 25 ms, which is more
than judging a file does.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import graphlint
from graphlint.errors import ConfigError, GraphlintError, InstallError
from graphlint.record import NamedTuple

GROUP = "graphlint.rules"
BUILTIN = "builtin"
STRANGER = "graphlint-"
STRANGER_WARNING = (
    "PyPI's unrelated `graphlint` is installed in {folder} too, and the two overwrite each other; "
    "uninstall both, then `pip install torch-graphlint`"
)
REINSTALL = "install it with `pip install torch-graphlint`, or `pip install -e .` in a checkout"


class Pack(NamedTuple):
    """An entry point: its name and the package that holds rule modules."""

    name: str
    package: str


def declared(path: Sequence[str] | None = None) -> tuple[Pack, ...]:
    """The packs of every installed distribution on a module search path, sorted, each once."""
    found = {pack for text in _entry_points(sys.path if path is None else path) for pack in _section(text)}
    return tuple(sorted(found))


def _distributions(path: Sequence[str]) -> Iterator[str]:
    for folder in dict.fromkeys(path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names if name.endswith((".dist-info", ".egg-info")))


def _entry_points(path: Sequence[str]) -> Iterator[str]:
    for folder in _distributions(path):
        try:
            with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
                yield file.read()
        except OSError:
            continue


def _section(text: str) -> Iterator[Pack]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{GROUP}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, package = line.partition("=")
            yield Pack(name.strip(), package.strip())


def stranger(path: Sequence[str] | None = None) -> str:
    """The folder in which PyPI's unrelated `graphlint` is installed beside this one, or an empty string."""
    for folder in _distributions(sys.path if path is None else path):
        if os.path.basename(folder).startswith(STRANGER):
            return os.path.dirname(folder)
    return ""


def modules(pack: Pack) -> Iterator[ModuleType]:
    """Import every module of a pack, in order of name; raises `InstallError`."""
    package = _import(pack, pack.package)
    if pack.name == BUILTIN:
        _side_by_side(package)
    for folder in package.__path__:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py") and not name.startswith("_"):
                yield _import(pack, f"{pack.package}.{name[:-3]}")


def _import(pack: Pack, name: str) -> ModuleType:
    """Import a module of a pack; those of others may raise anything."""
    if pack.name == BUILTIN and name != pack.package:
        return importlib.import_module(name)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        hint = REINSTALL if pack.name == BUILTIN else "mend or uninstall it, or name the packs to use in `packs`"
        said = error if isinstance(error, ImportError) else f"`{type(error).__name__}: {error}`"
        raise InstallError(f"the rule pack `{pack.name}` cannot be imported: {said}", hint) from None


def _side_by_side(package: ModuleType) -> None:
    """Refuse an engine and a pack of two installations, such as a checkout's engine with an installed pack."""
    engine, pack = (Path(str(each.__file__)).resolve() for each in (graphlint, package))
    if engine.parents[1] != pack.parents[1]:
        raise InstallError(
            f"two installations are mixed up: the engine is `{engine.parent}`, its rules are `{pack.parent}`",
            "run from another folder, or install the checkout with `pip install -e .`",
        )


def named(name: str, root: Path) -> Iterator[ModuleType]:
    """The rule modules that a project names: a file relative to `root`, a folder of files, or an importable package."""
    if not name.strip():
        raise ConfigError("`rules` holds an empty name", "name a file, a folder or a package")
    path = root / name
    if os.path.isdir(path):
        for file in sorted(path.glob("[!_]*.py")):
            yield _loaded(file)
    elif path.suffix == ".py":
        yield _loaded(path)
    else:
        yield from _imported(name)


def _imported(name: str) -> Iterator[ModuleType]:
    try:
        module = importlib.import_module(name)
    except (ImportError, ValueError) as error:
        hint = "`rules` takes files and folders beside the configuration, and packages that are installed"
        raise ConfigError(f"the rules `{name}` cannot be found: {error}", hint) from None
    except (Exception, SystemExit) as error:
        said = f"`{type(error).__name__}: {error}`"
        raise ConfigError(
            f"the rules `{name}` cannot be imported: {said}", "mend them, or take them out of `rules`"
        ) from None
    if hasattr(module, "__path__"):
        yield from modules(Pack(name, name))
    else:
        yield module


def _loaded(file: Path) -> ModuleType:
    """Run a rule file under a name of its own; nothing is added to the module search path."""
    name = f"graphlint_project_rules.{file.stem}"
    try:
        module = as_module(name, file) if os.path.isfile(file) else None
    except GraphlintError:
        raise
    except (Exception, SystemExit) as error:
        said = f"`{type(error).__name__}: {error}`"
        raise ConfigError(f"the rule file `{file}` cannot be imported: {said}", _place(error, file)) from None
    if module is None:
        raise ConfigError(f"the rule file `{file}` does not exist", "correct its name under `rules` in the configuration")
    return module


def as_module(name: str, file: Path) -> ModuleType | None:
    """Run a file as a module of this name; None for what is no Python file. Raises whatever the file raises."""
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    # The rule decorator looks its page up in the module while the module is still being executed.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _place(error: BaseException, file: Path) -> str:
    """Where in a rule file something was raised, and what to do about it."""
    import traceback  # here because only a rule file that fails needs it

    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(file)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return f"mend it at line {line}, or take it out of `rules`" if line else "mend it, or take it out of `rules`"
