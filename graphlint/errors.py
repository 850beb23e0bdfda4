"""What can go wrong outside the code that is being read.

    GraphlintError          one clear line, and what to do next
    ├── UsageError          what was asked for cannot be done
    ├── ConfigError         a configuration file says something that is not understood
    ├── InstallError        the installation is broken or mixed up
    ├── Killed              a process that worked on some files is gone
    └── Unreadable          one file cannot be analysed; becomes a diagnostic and never ends a run

Each has an exit code and formats itself; only the command line prints them.
"""

from __future__ import annotations

from collections.abc import Iterable


class GraphlintError(Exception):
    """The base of every error graphlint raises on purpose; `hint` says what to do next."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UsageError(GraphlintError):
    """What was asked for cannot be done."""


class ConfigError(GraphlintError):
    """A configuration file says something that is not understood."""


class InstallError(GraphlintError):
    """The installation is broken, or two installations are mixed up."""


class Killed(GraphlintError):
    """A process that worked on some files was ended from outside."""


class Unreadable(GraphlintError):
    """One file cannot be analysed, for `reason`; `hint` is a cure where one is known.

    `line` is 1-based, 1 when the whole file is meant; `columns` are 0-based UTF-8 bytes of `text`, which is that line as
    far as it can be shown.  `cells` is that of a notebook whose code is meant.
    """

    def __init__(
        self, reason: str, line: int = 1, columns: tuple[int, int] = (0, 0), text: str = "", hint: str = ""
    ) -> None:
        super().__init__(reason, hint)
        self.reason = reason
        self.line = max(line, 1)
        self.columns = columns
        self.text = text
        self.cells: tuple[tuple[int, int], ...] = ()


def why(error: OSError | ValueError) -> str:
    """What went wrong with a file, as a message says it: without the number and the name."""
    said = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return said[:1].lower() + said[1:]


def near(word: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """A hint naming the known words closest to `word`, or an empty string."""
    import difflib  # here because only a run that ends with an error needs it

    found = difflib.get_close_matches(word, sorted(known), n=3, cutoff=cutoff)
    return "did you mean " + " or ".join(f"`{each}`" for each in found) + "?" if found else ""
