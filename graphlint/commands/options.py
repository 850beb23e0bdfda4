"""What the command line says, put over what the configuration file says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from graphlint import config
from graphlint.config import Config
from graphlint.errors import ConfigError, UsageError
from graphlint.options import BY_KEY, CONFIDENCES, EFFECTS, TARGETS, read

STDIN = "-"
WORDS: Mapping[str, Mapping[str, object]] = {"min_confidence": CONFIDENCES, "target": TARGETS, "fail_on": EFFECTS}


def named(ctx: click.Context, param: click.Parameter, value: object) -> object:
    """Refuse an empty name, as a variable of a script that is not set leaves it; raises `UsageError`."""
    said = value if isinstance(value, tuple) else (value,)
    if "" in said and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        raise UsageError(f"`{param.opts[0]}` is given nothing", f"write `{param.opts[0]} {param.metavar}`, or leave it out")
    return value


def configured(file: str, isolated: bool) -> Config:
    """The configuration file that was named, the nearest one, or none; raises `UsageError` and `ConfigError`."""
    if isolated:
        return Config(root=Path.cwd())
    if not file:
        return config.load(Path.cwd())
    found = config.read(Path(file).absolute())
    if found is None:
        raise UsageError(f"`{file}` has no `[tool.graphlint]` table", "add one, or name another file")
    return found


def agree(paths: Sequence[str], options: Mapping[str, object]) -> None:
    """Refuse options that contradict each other, or that speak of what was not given; raises `UsageError`."""
    is_stdin = STDIN in paths
    if is_stdin and len(paths) > 1:
        raise UsageError("`-` stands for stdin, which is checked by itself", "give `-` alone, or the other paths alone")
    if options["stdin_filename"] and not is_stdin:
        raise UsageError("`--stdin-filename` names what is read from stdin", "give `-` as the path")
    if options["config_file"] and options["isolated"]:
        raise UsageError("`--config` names a configuration file and `--isolated` reads none", "leave one of them out")
    writes = [each for each in ("--fix", "--unsafe-fixes", "--add-ignores") if _is_said(options, each)]
    if len(writes) > 1 and "--add-ignores" in writes:
        raise UsageError(f"`{writes[0]}` and `--add-ignores` write differently", "run one, and then the other")
    if options["write_baseline"] and any(_is_said(options, each) for each in ("--prune-baseline", "--strict-baseline")):
        raise UsageError("`--write-baseline` and what is done with an older one contradict each other", "run one of them")
    for each in ("--watch", "--around", *writes):
        if is_stdin and _is_said(options, each):
            raise UsageError(f"what is read from stdin cannot be used with `{each}`", "give the file by name")


def _is_said(options: Mapping[str, object], name: str) -> bool:
    value = options[name.strip("-").replace("-", "_")]
    return value is not None and value is not False


def with_baseline(settings: Config, options: Mapping[str, object]) -> None:
    """Refuse to prune or to hold against a baseline that nobody named; raises `UsageError`."""
    for each in ("--prune-baseline", "--strict-baseline"):
        if _is_said(options, each) and not settings.baseline:
            hint = "`--baseline FILE` names one, or `baseline` in `[tool.graphlint]`"
            raise UsageError(f"`{each}` is given and there is no baseline", hint)


def overridden(settings: Config, options: Mapping[str, object]) -> Config:
    """The configuration with what was said on the command line."""
    said: dict[str, Any] = {key: WORDS[key][str(value)] for key in WORDS if (value := options.get(key))}
    for key in ("select", "ignore"):
        given = split(options.get(key))
        if options.get(key) and not given:
            raise UsageError(f"`--{key}` is given no code", "write codes, prefixes such as `GL1`, or names")
        if given:
            said[key] = given
            said["said"] = tuple(each for each in said.get("said", settings.said) if each != key)
    if options.get("torch_version") is not None:
        said["torch_version"] = _version(options["torch_version"])
    if options.get("exclude"):
        said["exclude"] = (*settings.exclude, *split(options["exclude"]))
    if options.get("write_baseline"):
        said["baseline"] = ""  # all that is present is listed, also what an older baseline accepts
    elif options.get("baseline") is not None:
        said["baseline"] = os.path.abspath(str(options["baseline"])) if options["baseline"] else ""
    return replace(settings, **said)


def _version(said: object) -> object:
    try:
        return read(BY_KEY["torch-version"], said, "`--torch-version`")
    except ConfigError as error:
        raise UsageError(error.message, "such as `--torch-version 2.11`") from None


def split(values: object) -> tuple[str, ...]:
    """The words of an option that may be given several times, each with several words separated by commas."""
    given = values if isinstance(values, tuple) else ()
    return tuple(word.strip() for value in given for word in value.split(",") if word.strip())
