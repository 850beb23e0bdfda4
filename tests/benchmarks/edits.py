"""Random edits of a real tree, each followed by a run from what is kept and a run without: both must say the same.

python -m tests.benchmarks.edits [--edits 200] [--seed 0] [--timm FOLDER]
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from graphlint import registry
from graphlint.check import check
from graphlint.config import Config
from graphlint.interp import interpreter
from graphlint.rerun import Kept, Rechecked, recheck
from graphlint.types import Confidence, Report
from graphlint.values.base import forget, known
from tests.benchmarks import corpora

READS = "        if input_.sum().item() > 0:\n            return input_\n"
FAULTY = "import torch\n\n\nclass Faulty(torch.nn.Module):\n    def forward(self, input_):\n" + READS
FAULTY += "        return input_ + 1\n"


class Editor:
    """Edits the files of a folder at random; the same seed makes the same edits."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self._random = random.Random(seed)
        self._original = {path: path.read_text() for path in self.files()}
        self._made: list[Path] = []
        self.kinds: tuple[Callable[[], str], ...] = (
            self.rename_method,
            self.change_base,
            self.delete_helper,
            self.break_syntax,
            self.add_fault,
            self.add_fault,
            self.add_fault,
            self.accept,
            self.add_file,
            self.generate,
            self.shadow,
            self.remove_file,
            self.move_lines,
            self.move_lines,
            self.touch,
            self.disguise,
            self.restore_one,
            self.restore_all,
        )

    def files(self) -> list[Path]:
        return sorted(self.folder.rglob("*.py"))

    def edit(self) -> str:
        """One edit; what was done."""
        return self._random.choice(self.kinds)()

    def _file(self) -> Path:
        return self._random.choice(self.files())

    def _nodes(self, kind: type[ast.stmt]) -> Iterator[tuple[Path, ast.stmt]]:
        """Nodes of a kind in some files that parse."""
        for path in self._random.sample(self.files(), min(8, len(self.files()))):
            try:
                tree = ast.parse(path.read_text())
            except SyntaxError:
                continue
            found = [node for node in ast.walk(tree) if isinstance(node, kind)]
            if found:
                yield path, self._random.choice(found)

    def _replace_line(self, path: Path, line: int, old: str, new: str) -> None:
        lines = path.read_text().splitlines(keepends=True)
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        path.write_text("".join(lines))

    def rename_method(self) -> str:
        for path, node in self._nodes(ast.FunctionDef):
            assert isinstance(node, ast.FunctionDef)
            self._replace_line(path, node.lineno, f"def {node.name}(", f"def {node.name}_renamed(")
            return f"rename {node.name} in {path.name}"
        return "nothing"

    def change_base(self) -> str:
        for path, node in self._nodes(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            if node.bases:
                new = self._random.choice(("object", "torch.nn.Module", "nn.Sequential", "Unknown"))
                self._replace_line(path, node.bases[0].lineno, ast.unparse(node.bases[0]), new)
                return f"base of {node.name} in {path.name} is {new}"
        return "nothing"

    def delete_helper(self) -> str:
        for path, node in self._nodes(ast.FunctionDef):
            lines = path.read_text().splitlines(keepends=True)
            if node.col_offset == 0:
                path.write_text("".join((*lines[: node.lineno - 1], "pass\n", *lines[node.end_lineno :])))
                return f"delete a helper of {path.name}"
        return "nothing"

    def break_syntax(self) -> str:
        path = self._file()
        path.write_text(path.read_text() + "\ndef (:\n")
        return f"break {path.name}"

    def add_fault(self) -> str:
        for path, node in self._nodes(ast.FunctionDef):
            assert isinstance(node, ast.FunctionDef)
            names = [each.arg for each in node.args.args if each.arg != "self"]
            if names and node.body[0].lineno > node.lineno:
                lines = path.read_text().splitlines(keepends=True)
                margin = " " * node.body[0].col_offset
                lines.insert(node.body[0].lineno - 1, f"{margin}{names[0]}.sum().item()\n")
                path.write_text("".join(lines))
                return f"add a fault to {node.name} in {path.name}"
        return "nothing"

    def accept(self) -> str:
        path = self._file()
        path.write_text(path.read_text() + "\n# graphlint: ignore-file[GL101, GL103] -- known\n")
        return f"accept faults in {path.name}"

    def add_file(self) -> str:
        path = self._file().parent / f"added_{self._random.randrange(1000)}.py"
        other = self._file().stem
        path.write_text(f"from .{other} import *\n{FAULTY}")
        return f"add {path.name}"

    def generate(self) -> str:
        """A file says that it was generated from another, and holds all of it."""
        path = self._file()
        made = path.with_name(f"made_{self._random.randrange(1000)}.py")
        made.write_text(f"# generated from `{path.name}`\n{path.read_text()}")
        return f"generate {made.name} from {path.name}"

    def shadow(self) -> str:
        """A package takes the place of a module, or a folder stops being one."""
        path = self._file()
        if path.name == "__init__.py" and path.parent != self.folder:
            path.unlink()
            return f"remove {path.parent.name}/__init__.py"
        package = path.with_suffix("")
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text(FAULTY)
        self._made.append(package)
        return f"shadow {path.name}"

    def remove_file(self) -> str:
        path = self._file()
        path.unlink()
        return f"remove {path.name}"

    def move_lines(self) -> str:
        """What a file leads to elsewhere stays the same, but for the lines of the calls that lead there."""
        path = self._file()
        path.write_text("\n" * self._random.randint(1, 9) + path.read_text())
        return f"move the lines of {path.name}"

    def touch(self) -> str:
        path = self._file()
        os.utime(path)
        return f"touch {path.name}"

    def disguise(self) -> str:
        """Another content of the same length with the time of the old one."""
        path = self._file()
        before, text = path.stat(), path.read_text()
        path.write_text(text.replace("forward", "forwerd") if "forward" in text else text.swapcase())
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return f"disguise {path.name}"

    def restore_one(self) -> str:
        path = self._random.choice(sorted(self._original))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._original[path])
        return f"restore {path.name}"

    def restore_all(self) -> str:
        for package in self._made:
            shutil.rmtree(package, ignore_errors=True)
        self._made.clear()
        for path in self.files():
            if path not in self._original:
                path.unlink()
        for path, text in self._original.items():
            if not path.exists() or path.read_text() != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return "restore everything"


class Twins:
    """The same check twice: from what is kept, and from nothing."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._paths = [folder.name]
        self._config = Config(root=folder.parent, min_confidence=Confidence.POSSIBLE)
        self._rules = registry.load()
        self._kept = Kept(str(cache), "edits.tree", "edits", "edits")

    def kept(self) -> Rechecked:
        return recheck(self._paths, self._config, self._rules, interpreter(self._config), self._kept)

    def cold(self) -> Report:
        return check(self._paths, self._config, self._rules, interpreter(self._config))


def sample(source: Path, target: Path) -> Path:
    """A part of timm that is checked in a second or two: all of its layers, and some models on top of them."""
    models = ("__init__", "_builder", "_features", "_manipulate", "_registry", "resnet", "sequencer")
    kept = {"models": {f"{name}.py" for name in models}}

    def left_out(folder: str, names: list[str]) -> list[str]:
        wanted = kept.get(Path(folder).name)
        return [each for each in names if each == "__pycache__" or (wanted is not None and each not in wanted)]

    shutil.copytree(source, target, ignore=left_out)
    for folder in ("data", "optim", "scheduler", "loss", "task"):
        shutil.rmtree(target / folder, ignore_errors=True)
    return target


def used() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def run(edits: int, seed: int, source: Path, tell: Callable[[str], None]) -> int:
    """Edit and compare; the number of edits after which the two runs differed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = sample(source, Path(scratch) / source.name)
        os.chdir(scratch)
        editor, twins = Editor(folder, seed), Twins(folder, Path(scratch) / "cache")
        done: Counter[str] = Counter()
        wrong, spent, saved, values = 0, 0.0, 0.0, known()
        twins.kept()
        for number in range(1, edits + 1):
            what = editor.edit()
            done[what.partition(" ")[0]] += 1
            start = used()
            forget(values)
            warm = twins.kept().report
            middle = used()
            forget(values)
            cold = twins.cold()
            spent, saved = spent + middle - start, saved + used() - middle
            if warm != cold:
                wrong += 1
            state = "same" if warm == cold else "DIFFERENT"
            tell(f"{number:4}  {state}  {len(cold.findings):4} findings  {middle - start:6.2f} s  {what}")
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(done.items()))
        tell(f"{edits} edits ({kinds}): {wrong} differences; {saved / max(spent, 1e-9):.1f} times less than anew")
        return wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.edits", description=__doc__)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timm", default="", metavar="FOLDER", help="the tree, instead of the one fetched")
    options = parser.parse_args()
    sys.setrecursionlimit(5000)
    source = corpora.tree("timm", options.timm).path
    sys.exit(1 if run(options.edits, options.seed, source, lambda line: print(line, flush=True)) else 0)


if __name__ == "__main__":
    main()
