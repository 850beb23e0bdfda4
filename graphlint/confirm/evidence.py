"""Recorded verdicts: what `confirm --record` writes and `check --evidence` reads to mark findings as confirmed.

    {"version": 1, "date": "2026-01-31", "machine": {...}, "targets": [...], "verdicts": [...], "sources": {...}}

`sources` maps each file to a digest of its text, so that evidence about code that changed since is said to be old.
Paths are relative to the folder the record was made from, or to site-packages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphlint.confirm import codec
from graphlint.confirm.outcome import Machine, Outcome
from graphlint.confirm.reconcile import Reconciled
from graphlint.errors import UsageError, why

VERSION = 1
Judged = tuple[Outcome, Reconciled]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A record as read; `by_fingerprint` maps a finding's fingerprint to its verdict's word."""

    machine: Machine
    date: str
    by_fingerprint: Mapping[str, str]
    sources: Mapping[str, str]

    @property
    def seen_on(self) -> str:
        """Such as "NVIDIA H200, torch 2.11.0"; an emulation is called one."""
        name = "an emulated device" if self.machine.kind == "emulated" else self.machine.name
        return f"{name}, torch {self.machine.torch}"

    def mark(self, fingerprint: str) -> str:
        """What is known about a finding, such as "confirmed on NVIDIA H200, torch 2.11.0", or an empty string."""
        word = self.by_fingerprint.get(fingerprint, "")
        return f"{word} on {self.seen_on}" if word in ("confirmed", "refuted") else ""

    def changed(self, files: Iterable[str], root: Path) -> tuple[str, ...]:
        """Of some files, relative to a folder, those whose text is not what was confirmed."""
        known = ((each, self.sources[each]) for each in sorted(set(files)) if each in self.sources)
        return tuple(each for each, before in known if digest(root / each) != before)


def digest(path: Path) -> str:
    """A short fingerprint of a file's text, whatever its line ends; empty when it cannot be read."""
    try:
        text = path.read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return ""
    return hashlib.sha256(text).hexdigest()[:16]


def portable(file: str, root: Path) -> str:
    """A path that means the same elsewhere: below the folder, below site-packages, or its last name."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in file:
            return file.rpartition(mark)[2]
    try:
        return Path(file).resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return Path(file).name


def record(judged: Sequence[Judged], root: Path, date: str) -> dict[str, Any]:
    """The JSON object of a run; the machine is that of the first target that ran."""
    files = {file for outcome, _ in judged for file in outcome.executed}
    return {
        "version": VERSION,
        "date": date,
        "machine": machine([outcome for outcome, _ in judged]),
        "targets": [moved(outcome, root) for outcome, _ in judged],
        "verdicts": [row for outcome, found in judged for row in _rows(outcome, found, root)],
        "sources": {portable(file, root): digest(Path(file)) for file in sorted(files)},
    }


def machine(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The machine of the first outcome that has one."""
    found = next((each.machine for each in outcomes if each.machine.kind != "none"), Machine("none", "", ""))
    return codec.flat(found)


def moved(outcome: Outcome, root: Path) -> dict[str, Any]:
    """An outcome with portable paths."""
    plain = codec.encode(outcome)
    for each in (*plain["refusals"], *plain["state_changes"]):
        each["file"] = portable(each["file"], root) if each["file"] else ""
        for step in each.get("trail", ()):
            step["span"][0] = portable(step["span"][0], root)
    plain["executed"] = {portable(file, root): lines for file, lines in plain["executed"].items()}
    return plain


def _rows(outcome: Outcome, found: Reconciled, root: Path) -> Iterable[dict[str, Any]]:
    for each in found.verdicts:
        finding = each.finding
        yield {
            "target": outcome.target, "verdict": each.verdict, "code": finding.code, "effect": finding.effect,
            "file": portable(finding.file, root), "line": finding.line, "fingerprint": finding.fingerprint, "why": each.why,
        }  # fmt: skip
    for lost in found.missed:
        yield {
            "target": outcome.target, "verdict": "missed", "code": "", "effect": lost.effect,
            "file": portable(lost.file, root) if lost.file else "", "line": lost.line, "fingerprint": "", "why": lost.why,
        }  # fmt: skip


def read(path: Path) -> Evidence:
    """A record from a file; raises `UsageError`."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8-sig"))
        if plain["version"] != VERSION:
            raise UsageError(
                f"`{path}` is a record of version {plain['version']}", f"this graphlint reads version {VERSION}"
            )
        return Evidence(Machine(**plain["machine"]), plain["date"], _strongest(plain["verdicts"]), plain["sources"])
    except OSError as error:
        hint = f"`graphlint confirm --record {path}` writes one"
        raise UsageError(f"the record `{path}` cannot be read: {why(error)}", hint) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"`{path}` is not a record of `graphlint confirm`", "write one with `--record`") from None


def _strongest(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """One word a fingerprint: one target that confirms it outweighs others that do not."""
    order = ("missed", "not exercised", "refuted", "confirmed")
    found: dict[str, str] = {}
    for row in rows:
        key, word = row["fingerprint"], row["verdict"]
        if key and order.index(word) >= order.index(found.get(key, "missed")):
            found[key] = word
    return found
