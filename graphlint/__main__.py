"""`graphlint` and `python -m graphlint`."""

import gc
import os
import sys

from graphlint.commands.quick import answer


def main() -> None:
    """Repeat what was printed before if nothing has changed, else run the command."""
    _open_streams()
    try:
        status = answer(sys.argv[1:], os.environ)
    except Exception:
        status = None  # what is wrong is for the command to say
    if status is None:
        gc.disable()  # nothing of what is imported is garbage; `Commands` looks for it again when all is there
        from graphlint.cli import entry

        entry()
    sys.exit(status)


def _open_streams() -> None:
    """Python has no object for a stream that was closed before it started (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 -- stays open to the end


if __name__ == "__main__":
    main()
