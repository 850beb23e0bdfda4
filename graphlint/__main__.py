"""`graphlint` and `python -m graphlint`."""

from graphlint.cli import entry as main

if __name__ == "__main__":
    main()
