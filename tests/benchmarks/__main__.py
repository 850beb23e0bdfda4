"""`python -m tests.benchmarks [ROW ...]`: measure, and print the table as Markdown."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks import corpora, machine, peers
from tests.benchmarks.rows import ALONE, ROWS, Bench, Figure, Row

HEAD = "| case | CPU | wall | memory | the others' CPU, as multiples of ours |\n| --- | ---: | ---: | ---: | --- |"
NOTE = "CPU seconds of the whole process and of all that it starts, wall seconds, and MiB of the largest process:"
NOTE += " medians of runs in turn.\nThe tools look for different things; `ast.parse` only parses."
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"


def line(row: Row) -> str:
    """One case: our own figures, and how the others compare."""
    own, *others = row.figures
    figures = f"{own.cost.cpu:.3g} s | {own.cost.wall:.3g} s | {own.cost.peak:.0f} MiB"
    return f"| {row.case} | {figures} | {', '.join(_beside(each, own) for each in others) or '-'} |"


def _beside(each: Figure, own: Figure) -> str:
    ratio = f"{each.ratio:.2g}x" if each.ratio < 10 else f"{each.ratio:,.0f}x"
    if each.name == ALONE:
        return f"on {ALONE} {ratio} (and {each.cost.wall / own.cost.wall:.2g}x the wall time)"
    return f"{each.name} {ratio}"


def main() -> None:
    options = _options()
    timm = corpora.tree("timm", options.timm)
    transformers = corpora.tree("transformers", options.transformers)
    bin = None if options.alone else peers.environment()
    lines = [f"{machine.described()}.", "", NOTE, "", HEAD]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(timm, transformers, Path(scratch), bin, options.rounds)
        for name in options.rows or ROWS:
            for row in ROWS[name](bench):
                lines.append(line(row))
                print(lines[-1], flush=True)
    if options.into:
        put(Path(options.into), "\n".join(lines))


def put(file: Path, table: str) -> None:
    """Put a table in the place of the one that a page has."""
    before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"`{file}` has no place for a table: a line `{BEGIN}` and a line `{END}`")
    file.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    known = ", ".join(ROWS)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], metavar="ROW", help=f"{known}; all by default")
    parser.add_argument("--timm", default="", metavar="FOLDER", help="the tree, instead of the one fetched")
    parser.add_argument("--transformers", default="", metavar="FOLDER", help="the tree, instead of the one fetched")
    parser.add_argument("--rounds", type=int, default=5, help="how often each command runs; 5 by default")
    parser.add_argument("--alone", action="store_true", help="leave the other tools out")
    parser.add_argument("--into", default="", metavar="FILE", help="put the table into a page, such as README.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
