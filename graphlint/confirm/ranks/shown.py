"""The section of several ranks as text; pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphlint.confirm.ranks.sequences import named

CALLS = 12


def section(found: Mapping[str, Any], root: Path) -> list[str]:
    """One line for ranks that fared alike, what each was refused, and what differed among them."""
    lines = [f"  {found['ranks']} ranks over {found['library']}:"]
    alike: dict[str, list[int]] = {}
    for each in found["by_rank"]:
        alike.setdefault("\n".join(_rank(each, found["ranks"], root)), []).append(each["rank"])
    for said, ranks in alike.items():
        lines += f"    {named(ranks)}: {said}".splitlines()
    lines += [f"    {_placed(each['sentence'], root)}" for each in found["mismatches"]]
    for each in found["disagreements"]:
        one, other = each["ranks"]
        what = f"`{each['output']}` of ranks {one} and {other} differs by {each['size']:.3g}"
        agrees = "although the case says that it agrees" if each["eager"] else "and agrees in eager"
        lines.append(f"    replay {each['replay']}: {what} {agrees}")
    return lines


def _rank(each: Mapping[str, Any], world: int, root: Path) -> list[str]:
    calls = each["captured"]
    word = each["result"] if each["result"] != "no result" else f"no result while {each['stage']}"
    lines = [f"{word}; captured {len(calls)} collective{'s' * (len(calls) != 1)}{_listed(calls, world)}"]
    lines += [f"      refused at {_at(one, root)}: {one['message']}" for one in each["refusals"]]
    return lines


def _listed(calls: Sequence[Mapping[str, Any]], world: int) -> str:
    if not calls:
        return ""
    said = [each["call"] + _among(each["group"], world) for each in calls[:CALLS]]
    more = f" and {len(calls) - CALLS} more" if len(calls) > CALLS else ""
    return f": {', '.join(said)}{more}"


def _among(group: Sequence[int], world: int) -> str:
    """The ranks of a group that is not everybody."""
    return f" of {named(group)}" if len(group) != world else ""


def _at(each: Mapping[str, Any], root: Path) -> str:
    return f"{_placed(each['file'], root)}:{each['line']}"


def _placed(text: str, root: Path) -> str:
    """Paths as a reader at `root` would write them."""
    return text.replace(f"{root}{os.sep}", "")
