"""What the command line says, put over what the configuration file says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from graphlint import config
from graphlint.config import Config
from graphlint.errors import UsageError
from graphlint.options import BY_KEY, CONFIDENCES, EFFECTS, TARGETS, read

WORDS: Mapping[str, Mapping[str, object]] = {"min_confidence": CONFIDENCES, "target": TARGETS, "fail_on": EFFECTS}


def configured(file: str, isolated: bool) -> Config:
    """The configuration file that was named, the nearest one, or none; raises `UsageError` and `ConfigError`."""
    if isolated:
        return Config(root=Path.cwd())
    if not file:
        return config.load(Path.cwd())
    found = config.read(Path(file).absolute())
    if found is None:
        raise UsageError(f"`{file}` has no `[tool.graphlint]` table")
    return found


def overridden(settings: Config, options: Mapping[str, object]) -> Config:
    """The configuration with what was said on the command line."""
    said: dict[str, object] = {key: WORDS[key][str(value)] for key in WORDS if (value := options.get(key))}
    for key in ("select", "ignore"):
        given = split(options.get(key))
        if given:
            said[key] = given
    if options.get("torch_version"):
        said["torch_version"] = read(BY_KEY["torch-version"], options["torch_version"], "`--torch-version`")
    if options.get("exclude"):
        said["exclude"] = (*settings.exclude, *split(options["exclude"]))
    if options.get("baseline") is not None:
        said["baseline"] = os.path.abspath(str(options["baseline"])) if options["baseline"] else ""
    return replace(settings, **said)  # type: ignore[arg-type]  # each value has the type of its field


def split(values: object) -> tuple[str, ...]:
    """The words of an option that may be given several times, each with several words separated by commas."""
    given = values if isinstance(values, tuple) else ()
    return tuple(word.strip() for value in given for word in value.split(",") if word.strip())
