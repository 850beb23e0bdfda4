"""Findings that were there when a project began to be checked: accepted in bulk, listed in a file that only shrinks.

A finding is recognised by its fingerprint, which is made of what stands on its line and not of where the line is.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from graphlint.errors import ConfigError
from graphlint.types import Finding, Span

VERSION = 1


class Compared(NamedTuple):
    """Findings that a baseline does not hold, how many it holds, and its entries that are gone."""

    findings: tuple[Finding, ...]
    accepted: int
    gone: tuple[str, ...]


def fingerprinted(
    findings: Iterable[Finding], text: Callable[[Span], str], home: Callable[[str], str]
) -> tuple[Finding, ...]:
    """Give sorted findings their fingerprints: code, file, text of the line, and which of several equal ones it is.

    `text` gives the first line under a span, `home` the name of a file that does not depend on the working folder.
    """
    seen: Counter[str] = Counter()
    done: list[Finding] = []
    for finding in findings:
        key = "\n".join((finding.code, home(finding.span.file), " ".join(text(finding.span).split())))
        seen[key] += 1
        digest = hashlib.blake2b(f"{key}\n{seen[key]}".encode(), digest_size=8).hexdigest()
        done.append(replace(finding, fingerprint=digest))
    return tuple(done)


def written(findings: Sequence[Finding]) -> str:
    """The text of a baseline file that accepts these findings, sorted by fingerprint."""
    entries = {each.fingerprint: {"code": each.code, "file": each.span.file, "message": each.message} for each in findings}
    return json.dumps({"version": VERSION, "findings": entries}, indent=1, sort_keys=True) + "\n"


def load(path: Path) -> frozenset[str]:
    """The fingerprints a baseline file accepts; raises `ConfigError`."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["version"] != VERSION:
            raise ConfigError(f"the baseline `{path}` has version {table['version']}, not {VERSION}")
        return frozenset(table["findings"])
    except OSError as error:
        hint = f"`graphlint check --write-baseline {path}` makes one"
        raise ConfigError(f"the baseline `{path}` cannot be read: {error.strerror}", hint) from None
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"`{path}` is not a baseline file") from None


def compare(findings: Iterable[Finding], accepted: frozenset[str]) -> Compared:
    """Drop what a baseline accepts."""
    everything = tuple(findings)
    present = {finding.fingerprint for finding in everything}
    fresh = tuple(finding for finding in everything if finding.fingerprint not in accepted)
    return Compared(fresh, len(everything) - len(fresh), tuple(sorted(accepted - present)))
