"""Every key of the configuration, defined once: reading, the JSON schema and `graphlint config` all come from here.

`OPTIONS` says for each key what form its value has and what it does; `Config` in `graphlint.config` holds the values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from graphlint.errors import ConfigError, near
from graphlint.record import NamedTuple, Record, frozen
from graphlint.types import Confidence, Effect, Target

Table = Mapping[str, object]
CONFIDENCES = {each.word: each for each in Confidence}
EFFECTS = {each.value: each for each in Effect}
TARGETS = {"graph": Target.GRAPH, "compile": Target.COMPILE, "both": Target.BOTH}
SCHEMA = "https://json-schema.org/draft/2020-12/schema"


@frozen
class Form(Record):
    """The form of a value: its JSON schema, the sentence that refuses another, an example, and its words if few."""

    schema: Table
    refusal: str
    example: str
    words: Mapping[str, object] = field(default_factory=dict)


class Option(NamedTuple):
    """A key with the form of its value and what it does."""

    key: str
    form: Form
    about: str

    @property
    def field(self) -> str:
        return self.key.replace("-", "_")


NAMES = Form({"type": "array", "items": {"type": "string"}}, "must be a list of strings", '["..."]')
TEXT = Form({"type": "string"}, "must be a string", '"..."')
FLAG = Form({"type": "boolean"}, "must be true or false", "true")
TABLE = Form({"type": "object"}, "must be a table", "{ ... }")
VERSIONS = r"^[2-9]\.\d+(\.\w+)?(\+\w+)?$"
VERSION = Form({"type": "string", "pattern": VERSIONS}, 'must be a version such as "2.11", 2.0 or newer', '"2.11"')
FLAGS = {"type": "object", "additionalProperties": FLAG.schema}
TRUTHS = Form(FLAGS, "must be a table of names with true or false", '{ "..." = true }')
MANY = {"type": "object", "additionalProperties": NAMES.schema}
LISTS = Form(MANY, "must be a table of lists of strings", '{ "..." = ["..."] }')


def one_of(words: Mapping[str, object]) -> Form:
    first = next(iter(words))
    return Form({"type": "string", "enum": list(words)}, f"must be one of {', '.join(words)}", f'"{first}"', words)


OPTIONS = (
    Option("select", NAMES, "Run only these codes, prefixes of codes or names of rules; all by default."),
    Option("ignore", NAMES, "Leave these codes, prefixes or names out; the longer of two selectors wins."),
    Option("per-file-ignores", LISTS, "For files that match a pattern, as in a .gitignore file: codes to leave out."),
    Option("exclude", NAMES, "Files that are not read, as patterns of a .gitignore file."),
    Option("min-confidence", one_of(CONFIDENCES), "How sure a finding must be to be shown."),
    Option("target", one_of(TARGETS), "Raw capture, torch.compile with graphs, or both."),
    Option("torch-version", VERSION, "The version of torch that is predicted for; what is known of it begins with 2.0."),
    Option(
        "capture-flags", TRUTHS, "Functions and variables that tell of a capture: what they are while one is under way."
    ),
    Option("eager", NAMES, "Functions that run outside of the graph even so, and decorators that make such functions."),
    Option("fail-on", one_of(EFFECTS), "The mildest effect that makes a run fail."),
    Option("regions", NAMES, "Functions that are captured, if nothing in the code says so."),
    Option("only-regions", NAMES, "Look only at regions whose name matches one of these patterns, such as `*.Decoder.*`."),
    Option("skip-regions", NAMES, "Look at no region whose name matches one of these patterns."),
    Option("require-reasons", FLAG, "A suppression that does not say why suppresses nothing."),
    Option("baseline", TEXT, "A file that lists accepted findings."),
    Option("packs", NAMES, "The installed rule packs that are used; all by default."),
    Option("rules", NAMES, "Rule files, folders or packages of the project's own."),
    Option("cache-dir", TEXT, "Where `check` keeps what it found; a folder of the user's own by default."),
    Option("confirm", TABLE, "Targets and settings of `graphlint confirm`."),
)
KEYS = tuple(each.key for each in OPTIONS)
BY_KEY = {each.key: each for each in OPTIONS}


def read(option: Option, value: object, where: str) -> object:
    """The value as `Config` holds it; raises `ConfigError` that opens with `where`."""
    if not _fits(value, option.form.schema):
        said = f", not `{value}`" if option.form.words or option.form is VERSION else ""
        meant = near(str(value), option.form.words, cutoff=0.6) if said else ""
        hint = meant or f"write it as `{option.key} = {option.form.example}`"
        raise ConfigError(f"{where} {option.form.refusal}{said}", hint)
    if option.form.words:
        return option.form.words[str(value)]
    if option.form is LISTS and isinstance(value, dict):
        return tuple((pattern, tuple(codes)) for pattern, codes in value.items())
    if option.form is TRUTHS and isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


def _fits(value: object, schema: Table) -> bool:
    """Whether a value has the form of a schema, as far as the forms above go."""
    if "enum" in schema:
        return isinstance(value, str) and value in schema["enum"]  # type: ignore[operator]  # a list of words
    match schema["type"]:
        case "array":
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        case "object":
            inner = schema.get("additionalProperties")
            values = value.values() if isinstance(value, dict) else ()
            return isinstance(value, dict) and (not isinstance(inner, dict) or all(_fits(each, inner) for each in values))
        case "boolean":
            return isinstance(value, bool)
        case _:
            return isinstance(value, str) and re.search(str(schema.get("pattern", "")), value) is not None


def plain(option: Option, value: object) -> object:
    """A value of `Config` as the configuration file spells it."""
    if option.form.words:
        return next(word for word, meant in option.form.words.items() if meant == value)
    if option.form is LISTS and isinstance(value, tuple):
        return {pattern: list(codes) for pattern, codes in value}
    if option.form is TRUTHS and isinstance(value, tuple):
        return dict(value)
    if isinstance(value, tuple):
        return list(value)
    return {} if value is None else value


def schema(defaults: Mapping[str, object]) -> dict[str, object]:
    """The JSON schema of a `graphlint.toml` or of the table `[tool.graphlint]`."""
    properties = {
        each.key: {**each.form.schema, "description": each.about, "default": plain(each, defaults[each.field])}
        for each in OPTIONS
    }
    return {
        "$schema": SCHEMA,
        "title": "graphlint",
        "description": "The configuration of graphlint: graphlint.toml, or [tool.graphlint] in pyproject.toml.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
