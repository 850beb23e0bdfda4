"""Findings that were there when a project began to be checked: accepted in bulk, listed in a file that only shrinks.

A finding is recognised by its fingerprint, which is made of what stands on its line and not of where the line is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graphlint.digest import blake2b
from graphlint.errors import ConfigError, why
from graphlint.record import NamedTuple
from graphlint.types import Finding, Span

VERSION = 1


class Entry(NamedTuple):
    """What a baseline remembers of a finding, for those who read the file; only the fingerprint decides."""

    code: str
    file: str
    message: str


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
    seen: Counter[bytes] = Counter()
    # Of a line with very many findings, such as one of a million characters, the text is gone through once.
    known: dict[tuple[str, str, int], tuple[bytes, blake2b]] = {}
    done: list[Finding] = []
    for finding in findings:
        place = (finding.code, finding.span.file, finding.span.line)
        if place not in known:
            key = "\n".join((finding.code, home(finding.span.file), " ".join(text(finding.span).split())))
            begun = blake2b(f"{key}\n".encode(errors="surrogatepass"), digest_size=8)
            known[place] = (begun.digest(), begun)
        name, begun = known[place]
        seen[name] += 1
        ended = begun.copy()
        ended.update(str(seen[name]).encode())
        done.append(replace(finding, fingerprint=ended.hexdigest()))
    return tuple(done)


def written(findings: Sequence[Finding], home: Callable[[str], str] = str) -> str:
    """The text of a baseline file that accepts these findings; `home` names their files."""
    return _text({each.fingerprint: Entry(each.code, home(each.span.file), each.message) for each in findings})


def pruned(entries: Mapping[str, Entry], gone: Collection[str]) -> str:
    """The text of a baseline file without some of its entries."""
    return _text({key: entry for key, entry in entries.items() if key not in gone})


def _text(entries: Mapping[str, Entry]) -> str:
    """Sorted by fingerprint, so that a change of one entry is a change of a few lines."""
    import json  # here because only a run with a baseline needs it

    plain = {key: entry._asdict() for key, entry in entries.items()}
    return json.dumps({"version": VERSION, "findings": plain}, indent=1, sort_keys=True) + "\n"


def load(path: Path) -> dict[str, Entry]:
    """The entries of a baseline file by fingerprint; raises `ConfigError`."""
    import json

    try:
        table = json.loads(path.read_text(encoding="utf-8-sig"))
        if table["version"] != VERSION:
            raise ConfigError(f"the baseline `{path}` has version {table['version']}, not {VERSION}")
        return {key: Entry(each["code"], each["file"], each["message"]) for key, each in table["findings"].items()}
    except OSError as error:
        hint = f"`graphlint check --write-baseline {path}` makes one" if isinstance(error, FileNotFoundError) else ""
        raise ConfigError(f"the baseline `{path}` cannot be read: {why(error)}", hint) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"`{path}` is not a baseline file") from None


def compare(
    findings: Iterable[Finding], accepted: Mapping[str, Entry], is_checked: Callable[[str], bool] = lambda file: True
) -> Compared:
    """Drop what a baseline accepts; an entry is gone when its file was checked and it was not found."""
    everything = tuple(findings)
    present = {finding.fingerprint for finding in everything}
    fresh = tuple(finding for finding in everything if finding.fingerprint not in accepted)
    gone = sorted(key for key, entry in accepted.items() if key not in present and is_checked(entry.file))
    return Compared(fresh, len(everything) - len(fresh), tuple(gone))
