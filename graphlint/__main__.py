"""`graphlint` and `python -m graphlint`."""

from graphlint.cli import entry

if __name__ == "__main__":
    entry()
