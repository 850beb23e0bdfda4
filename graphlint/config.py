"""The settings of a run: `[tool.graphlint]` in pyproject.toml, or a graphlint.toml; the nearest file wins.

A file is looked for in the working folder and then in the folders above it, up to the root of the repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import cast

from graphlint import options
from graphlint.errors import ConfigError, near, why
from graphlint.options import BY_KEY, KEYS, Table
from graphlint.record import Record, frozen
from graphlint.types import Confidence, Effect, Target

OWN, PROJECT, REPOSITORY = "graphlint.toml", "pyproject.toml", ".git"
FILES = (OWN, PROJECT, REPOSITORY)
"""What is looked for in each folder."""


MEND = "mend it, or check with the defaults: `graphlint check --isolated`"


@frozen
class Config(Record):
    """What a run does; every field but the last three is a key of the configuration file, with `-` for `_`.

    `graphlint.options` says what each key means.  `root` is the folder that relative paths of the file are relative
    to, `origin` the file or empty, `said` the keys it holds.
    """

    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    min_confidence: Confidence = Confidence.LIKELY
    target: Target = Target.BOTH
    torch_version: str = "2.11"
    capture_flags: tuple[tuple[str, bool], ...] = ()
    eager: tuple[str, ...] = ()
    fail_on: Effect = Effect.DEFEATS
    regions: tuple[str, ...] = ()
    only_regions: tuple[str, ...] = ()
    skip_regions: tuple[str, ...] = ()
    require_reasons: bool = False
    packs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    baseline: str = ""
    cache_dir: str = ""
    confirm: Table | None = None
    root: Path = Path(".")
    origin: str = ""
    said: tuple[str, ...] = ()


def defaults() -> dict[str, object]:
    """The value of every field when nothing is said."""
    return {each.name: each.default for each in fields(Config)}


def load(start: Path) -> Config:
    """The configuration that holds in a folder, or the defaults; raises `ConfigError`."""
    for folder in folders(start):
        found = _here(folder)
        if found is not None:
            return found
    return Config(root=Path(os.path.abspath(start)))


def folders(start: Path) -> Iterator[Path]:
    """The folders in which a configuration is looked for: one and those around it, up to the root of the repository."""
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        yield each
        if os.path.exists(each / REPOSITORY):
            return


def _here(folder: Path) -> Config | None:
    own = folder / OWN
    if os.path.isfile(own):
        return read(own)
    project = folder / PROJECT
    return read(project) if os.path.isfile(project) and _speaks_of_us(project) else None


def _speaks_of_us(project: Path) -> bool:
    """Whether a file may hold a table of ours; one that cannot be read may, which is then told."""
    try:
        return b"graphlint" in project.read_bytes()
    except OSError:
        return True


def read(path: Path) -> Config | None:
    """The configuration in one file; None for a pyproject.toml without a `[tool.graphlint]` table."""
    table: object = _toml(path)
    if path.name == PROJECT:
        tool = cast("Table", table).get("tool", {})
        table = tool.get("graphlint") if isinstance(tool, dict) else None
        if table is None:
            return None
    if not isinstance(table, dict):
        raise ConfigError(f"`{path}`: `tool.graphlint` is not a table", "write the keys below a line `[tool.graphlint]`")
    return parsed(table, path)


def _hint(key: str, path: Path) -> str:
    if key == "tool" and path.name != "pyproject.toml":
        return f"in `{path.name}` the keys stand by themselves; `[tool.graphlint]` is for pyproject.toml"
    return near(key.replace("_", "-"), KEYS) or f"known keys: {', '.join(KEYS)}"


def _toml(path: Path) -> Table:
    if sys.version_info >= (3, 11):
        import tomllib  # here because only a run with a configuration file needs it
    else:
        import tomli as tomllib
    try:
        return cast("Table", tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except UnicodeDecodeError:
        raise ConfigError(f"`{path}` cannot be read: it is not UTF-8 text", "save it as UTF-8") from None
    except FileNotFoundError as error:
        raise ConfigError(f"`{path}` cannot be read: {why(error)}", "name one that is there") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"`{path}` cannot be read: {why(error)}", MEND) from None


def parsed(table: Mapping[str, object], path: Path) -> Config:
    """Check a table key by key; raises `ConfigError` naming the file and the key."""
    values: dict[str, object] = {"root": path.parent, "origin": str(path), "said": tuple(table)}
    for key, value in table.items():
        if key not in BY_KEY:
            hint = _hint(key, path)
            raise ConfigError(f"`{path}`: unknown key `{key}`", hint)
        option = BY_KEY[key]
        values[option.field] = options.read(option, value, f"`{path}`: `{key}`")
    return Config(**values)  # type: ignore[arg-type]  # each value has the form of its option
