"""`python -m tests.benchmarks [ROW ...]`: measure, and print the table as Markdown."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import corpora, machine, peers
from tests.benchmarks.rows import OWN, ROWS, Bench, Figure, Row

HEAD = "| case | tool | CPU s | wall s | MiB | times ours |\n| --- | --- | ---: | ---: | ---: | ---: |"


def lines(row: Row) -> Iterator[str]:
    """The lines of the table for one row; the case is named once."""
    for number, each in enumerate(row.figures):
        yield f"| {'' if number else row.case} | {each.name} | {_figures(each)} |"


def _figures(each: Figure) -> str:
    ours = "" if each.name == OWN else f"{each.ratio:.2g}x" if each.ratio < 10 else f"{each.ratio:,.0f}x"
    return f"{each.cost.cpu:.3f} | {each.cost.wall:.3f} | {each.cost.peak:.0f} | {ours}"


def main() -> None:
    options = _options()
    timm = corpora.tree("timm", options.timm)
    transformers = corpora.tree("transformers", options.transformers)
    bin = None if options.alone else peers.environment()
    print(f"{machine.described()}.\nCPU time of the whole process and of all that it starts; medians of runs in turn.\n")
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(timm, transformers, Path(scratch), bin, options.rounds)
        for name in options.rows or ROWS:
            for row in ROWS[name](bench):
                print("\n".join(lines(row)), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    known = ", ".join(ROWS)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], metavar="ROW", help=f"{known}; all by default")
    parser.add_argument("--timm", default="", metavar="FOLDER", help="the tree, instead of the one fetched")
    parser.add_argument("--transformers", default="", metavar="FOLDER", help="the tree, instead of the one fetched")
    parser.add_argument("--rounds", type=int, default=5, help="how often each command runs; 5 by default")
    parser.add_argument("--alone", action="store_true", help="leave the other tools out")
    return parser.parse_args()


if __name__ == "__main__":
    main()
