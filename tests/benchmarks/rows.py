"""The rows of the table: who takes part in each, and what is measured of them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import editor, peers
from tests.benchmarks.corpora import LEAF, MODEL, Tree
from tests.benchmarks.measure import Contestant, Cost, in_turn, median, ratio

OWN = "graphlint"
ALONE = "one core"
FLOOR = "ast.parse"
SAMPLE = 8
"""TorchFix is given every eighth file of a tree: the whole of timm takes it four minutes."""


class Figure(NamedTuple):
    """One contestant in one row: its cost, and how many times ours that is."""

    name: str
    cost: Cost
    ratio: float


class Row(NamedTuple):
    """A case with what everybody took."""

    case: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Bench:
    """What the rows need: the trees, the peers, a scratch folder, and how often each command runs."""

    timm: Tree
    transformers: Tree
    scratch: Path
    bin: Path | None
    rounds: int = 5
    own: Sequence[str] = field(default_factory=lambda: _installed())

    @property
    def model(self) -> str:
        return str(self.transformers.path / MODEL)

    def check(self, paths: Sequence[str], cache: str = "", name: str = OWN, cores: int = 0) -> Contestant:
        """Ourselves, without a cache unless a folder for it is given."""
        kept = {"GRAPHLINT_CACHE_DIR": cache} if cache else {"GRAPHLINT_NO_CACHE": "1"}
        return Contestant(name, [*self.own, "check", "--isolated", *paths], environment=kept, cores=cores)


def _installed() -> list[str]:
    command = Path(sys.executable).parent / "graphlint"
    return [str(command)] if command.exists() else [sys.executable, "-m", "graphlint"]


def floor(*paths: str) -> Contestant:
    return Contestant(FLOOR, [sys.executable, str(Path(__file__).parent / "floor.py"), *paths])


def measured(case: str, contestants: Sequence[Contestant], rounds: int) -> Row:
    """Run everybody in turn, the first of them being us."""
    costs = in_turn(contestants, rounds)
    own = costs[contestants[0].name]
    return Row(case, tuple(Figure(name, median(each), ratio(own, each)) for name, each in costs.items()))


def one_file(bench: Bench) -> Iterator[Row]:
    own = bench.check([bench.model])
    others = [floor(bench.model)]
    if bench.bin:
        others += [
            Contestant("TorchFix", peers.torchfix(bench.bin, [bench.model])),
            Contestant("pyflakes", peers.pyflakes(bench.bin, [bench.model])),
            Contestant("ruff", peers.ruff(bench.bin, [bench.model])),
        ]
    size = os.path.getsize(bench.model) / 1e3
    yield measured(f"one model file of {size:.0f} KB, cold", [own, *others], bench.rounds)


def timm(bench: Bench) -> Iterator[Row]:
    yield _cold(bench, bench.timm, bench.rounds)
    if bench.bin:
        files = [str(each) for each in bench.timm.files[::SAMPLE]]
        others = [floor(*files), Contestant("TorchFix", peers.torchfix(bench.bin, files))]
        case = f"every {SAMPLE}th file of {bench.timm.name}, cold"
        yield measured(case, [bench.check(files), *others], 1)


def transformers(bench: Bench) -> Iterator[Row]:
    yield _cold(bench, bench.transformers, max(1, bench.rounds // 2))


def _cold(bench: Bench, tree: Tree, rounds: int) -> Row:
    path = str(tree.path)
    own = bench.check([path])
    others = [bench.check([path], name=ALONE, cores=1), floor(path)]
    if bench.bin:
        others.append(Contestant("pyflakes", peers.pyflakes(bench.bin, [path])))
        others.append(Contestant("ruff", peers.ruff(bench.bin, [path])))
    return measured(f"{tree.described()}, cold", [own, *others], rounds)


def unchanged(bench: Bench) -> Iterator[Row]:
    for tree in (bench.timm, bench.transformers):
        own = bench.check([str(tree.path)], str(bench.scratch / "own"))
        others = []
        if bench.bin:
            kept = str(bench.scratch / "ruff")
            others.append(Contestant("ruff, with its cache", peers.ruff(bench.bin, [str(tree.path)], kept)))
        yield measured(f"{tree.name}, nothing changed", [own, *others], bench.rounds)


def changed(bench: Bench) -> Iterator[Row]:
    """A model of a copy of a tree, which no other file uses, gets another line before each run."""
    for tree, name in ((bench.timm, "models/hrnet.py"), (bench.transformers, LEAF)):
        copy = bench.scratch / "changed" / tree.path.name
        shutil.copytree(tree.path, copy, ignore=shutil.ignore_patterns("__pycache__"))
        own = replace(bench.check([str(copy)], str(bench.scratch / "own")), before=_edit(copy / name))
        yield measured(f"{tree.name}, one file changed", [own], bench.rounds)


def edited(bench: Bench) -> Iterator[Row]:
    """A model file in an editor, with the project around it; wall time has the moment that the server waits, if it does."""
    command = [*bench.own, "lsp"]
    costs = editor.edits(command, bench.transformers.path, Path(bench.model), 4 * bench.rounds)
    size = os.path.getsize(bench.model) / 1e3
    yield Row(f"a running language server, one edit of {size:.0f} KB", (Figure(OWN, median(costs), 1.0),))


def _edit(path: Path) -> Callable[[], None]:
    def edit() -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write("\nedited = True\n")

    return edit


ROWS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "file": one_file,
    "timm": timm,
    "transformers": transformers,
    "unchanged": unchanged,
    "changed": changed,
    "edited": edited,
}
