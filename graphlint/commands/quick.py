"""The answer to a command that was given before over the same tree: what was printed then.

Comes before everything else, so it imports next to nothing.  Nothing is answered in this way unless the whole run can be:
any doubt leads to an ordinary run, which takes over the pieces of the answer that it finds to be the same.
"""

from __future__ import annotations

import os
import sys

from graphlint.cache import printed, store

TYPE_CHECKING = False  # as in `graphlint`: a repeated check imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER, OFF = "GRAPHLINT_CACHE_DIR", "GRAPHLINT_NO_CACHE"
LOOKS = ("NO_COLOR", "FORCE_COLOR", "TERM", "GITHUB_ACTIONS", "COLUMNS")
"""What else changes what is printed."""
KEY = b"cache-dir"

pieces: dict[str, dict[str, str]] = {}
"""What was printed of single files when the same command ran before, by the name of the command and by what is told."""


def answer(arguments: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Print what was printed before and give the exit status; None if there is nothing to be repeated."""
    if not arguments or arguments[0] != "check" or os.name == "nt":
        return None
    folder = _folder(arguments, environment)
    file = name(arguments, environment)
    found = printed.load(folder, file) if folder else None
    if found is None or not found.holds:
        pieces[file] = {} if found is None else dict(found.pieces)
        return None
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not be UTF-8
    sys.stdout.write(found.text)
    return found.status


def name(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The name under which the output of a command is kept."""
    said = [f"{each}={environment.get(each)}" for each in LOOKS]
    user = str(os.geteuid()) if hasattr(os, "geteuid") else ""
    out = f"{sys.stdout.isatty()} {sys.stdout.encoding}"
    return store.name((sys.version, sys.prefix, user, os.getcwd(), out, *said, *arguments), printed.ENDING)


def standard(environment: Mapping[str, str]) -> str:
    """The folder for caches of this user; empty where there is none."""
    if environment.get(FOLDER):
        return os.path.abspath(environment[FOLDER])
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = environment.get("XDG_CACHE_HOME", "") or os.path.join(home, ".cache")
    return os.path.join(base, "graphlint") if os.path.isabs(base) else ""


def is_off(environment: Mapping[str, str]) -> bool:
    return environment.get(OFF, "") not in ("", "0")


def _folder(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The folder that a run with these arguments would use, where that is easily told; else empty."""
    if is_off(environment) or any(each.startswith(("--no-c", "--conf", "--w")) for each in arguments):
        return ""
    for number, each in enumerate(arguments):
        if each.startswith("--cache-dir="):
            return os.path.abspath(each.partition("=")[2])
        if each.startswith("--ca"):
            return os.path.abspath(arguments[number + 1]) if each == "--cache-dir" and number + 1 < len(arguments) else ""
    if environment.get(FOLDER) or "--isolated" in arguments or not _is_configured():
        return standard(environment)
    from graphlint.commands.cache import configured  # which imports what reads TOML

    return configured(environment)


def _is_configured() -> bool:
    """Whether a configuration file above may name a folder."""
    folder = os.getcwd()
    while True:
        for file in ("graphlint.toml", "pyproject.toml"):
            try:
                with open(os.path.join(folder, file), "rb") as stream:
                    if KEY in stream.read():
                        return True
            except OSError:
                continue
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return False
        folder = parent
