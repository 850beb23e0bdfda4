"""`graphlint` and `python -m graphlint`."""

import gc
import os
import sys

from graphlint.commands.quick import answer


def main() -> None:
    """Repeat what was printed before if nothing has changed, else run the command."""
    try:
        status = answer(sys.argv[1:], os.environ)
    except Exception:
        status = None  # what is wrong is for the command to say
    if status is None:
        gc.disable()  # nothing of what is imported is garbage; `Commands` looks for it again when all is there
        from graphlint.cli import entry

        entry()
    sys.exit(status)


if __name__ == "__main__":
    main()
