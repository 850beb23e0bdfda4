"""The settings of a run: `[tool.graphlint]` in pyproject.toml, or a graphlint.toml; the nearest file wins.

A file is looked for in the working folder and then in the folders above it, up to the root of the repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

from graphlint.errors import ConfigError, near
from graphlint.types import Confidence, Effect, Target

Table = Mapping[str, object]
CONFIDENCES = {each.word: each for each in Confidence}
EFFECTS = {each.value: each for each in Effect}
TARGETS = {"graph": Target.GRAPH, "compile": Target.COMPILE, "both": Target.BOTH}


@dataclass(frozen=True, slots=True)
class Config:
    """What a run does; every field but `root` and `origin` is a key of the configuration file, with `-` for `_`.

    `select` and `ignore` hold codes, prefixes of codes or names of rules.  `fail_on` is the mildest effect that makes
    a run fail.  `regions` names functions that will be captured, `rules` files or packages with rules of the project.
    `root` is the folder that relative paths of the file are relative to; `confirm` belongs to `graphlint confirm`.
    """

    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.LIKELY
    target: Target = Target.BOTH
    fail_on: Effect = Effect.DEFEATS
    regions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    baseline: str = ""
    confirm: Table | None = None
    root: Path = Path(".")
    origin: str = ""


KEYS = tuple(field.name.replace("_", "-") for field in fields(Config) if field.name not in ("root", "origin"))


def load(start: Path) -> Config:
    """The configuration that holds in a folder, or the defaults; raises `ConfigError`."""
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        found = _here(each)
        if found is not None:
            return found
        if (each / ".git").exists():
            break
    return Config(root=folder)


def _here(folder: Path) -> Config | None:
    own = folder / "graphlint.toml"
    if own.is_file():
        return read(own)
    project = folder / "pyproject.toml"
    return read(project) if project.is_file() and b"graphlint" in project.read_bytes() else None


def read(path: Path) -> Config | None:
    """The configuration in one file; None for a pyproject.toml without a `[tool.graphlint]` table."""
    table: object = _toml(path)
    if path.name == "pyproject.toml":
        tool = cast("Table", table).get("tool", {})
        table = tool.get("graphlint") if isinstance(tool, dict) else None
        if table is None:
            return None
    if not isinstance(table, dict):
        raise ConfigError(f"`{path}`: `tool.graphlint` is not a table")
    return parsed(table, path)


def _toml(path: Path) -> Table:
    if sys.version_info >= (3, 11):
        import tomllib  # here because only a run with a configuration file needs it
    else:
        import tomli as tomllib
    try:
        return cast("Table", tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigError(f"`{path}` cannot be read: {error}") from None


def parsed(table: Table, path: Path) -> Config:
    """Check a table key by key; raises `ConfigError` naming the file and the key."""
    values: dict[str, object] = {"root": path.parent, "origin": str(path)}
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"`{path}`: unknown key `{key}`", near(key, KEYS) or f"known keys: {', '.join(KEYS)}")
        field = key.replace("-", "_")
        values[field] = READERS.get(field, _names)(value, f"`{path}`: `{key}`")
    return Config(**values)  # type: ignore[arg-type]  # each reader returns the type of its field


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ConfigError(f"{where} must be a list of strings")
    return tuple(value)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where} must be a string")
    return value


def _table(value: object, where: str) -> Table:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be a table")
    return value


def _word(words: Mapping[str, object]) -> Callable[[object, str], object]:
    def read_word(value: object, where: str) -> object:
        if isinstance(value, str) and value in words:
            return words[value]
        raise ConfigError(f"{where} must be one of {', '.join(words)}, not `{value}`")

    return read_word


READERS: dict[str, Callable[[object, str], object]] = {
    "min_confidence": _word(CONFIDENCES),
    "target": _word(TARGETS),
    "fail_on": _word(EFFECTS),
    "baseline": _text,
    "confirm": _table,
}
