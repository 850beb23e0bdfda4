"""Runs that are killed, and runs side by side: neither may leave anything that changes what a later run says.

python -m tests.benchmarks.kills [--kills 50] [--timm FOLDER]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import corpora
from tests.benchmarks.edits import Editor

FILES = 24
ABREAST = 4


class Tree:
    """A folder that is checked by processes, with a cache folder beside it."""

    def __init__(self, scratch: Path, source: Path, files: int) -> None:
        self.scratch = scratch
        self.folder = scratch / "layers"
        self.folder.mkdir()
        for path in sorted((source / "layers").glob("*.py"))[:files]:
            shutil.copy(path, self.folder)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """A run in a process group of its own."""
        command = [sys.executable, "-m", "graphlint", "check", "--isolated", "--format", "json", *options, "layers"]
        kept = {"GRAPHLINT_CACHE_DIR": str(self.scratch / "cache")}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, cwd=self.scratch, env={**os.environ, **kept}, start_new_session=True
        )

    def said(self, *options: str) -> bytes:
        """What a run prints that nobody disturbs."""
        return self.start(*options).communicate()[0]

    def killed(self, after: float) -> bool:
        """Kill a run after some seconds; false if it had ended by then."""
        process = self.start()
        time.sleep(after)
        ended = process.poll() is not None
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return not ended


def run(kills: int, source: Path, tell: Callable[[str], None], files: int = FILES) -> int:
    """Kill runs at random moments, then let runs go side by side; how often a later run said something else."""
    chance, wrong, hit = random.Random(0), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        tree = Tree(Path(scratch), source, files)
        editor = Editor(tree.folder, 0)
        start = time.monotonic()
        tree.said()
        usual = time.monotonic() - start
        number = 0
        while hit < kills:
            number += 1
            what = editor.edit()
            moment = chance.uniform(0, usual)
            was_killed = tree.killed(moment)
            hit += was_killed
            same = tree.said() == tree.said("--no-cache")
            wrong += not same
            state = "killed" if was_killed else "ended"
            tell(f"{number:4}  {'same' if same else 'DIFFERENT'}  {state} after {moment:.2f} s  {what}")
        tell(f"{number} runs, {hit} of them killed: {wrong} differences")
        wrong += _abreast(tree, editor, tell)
    return wrong


def _abreast(tree: Tree, editor: Editor, tell: Callable[[str], None]) -> int:
    """Runs side by side on one cache, each time after an edit; how many said something else than a run alone."""
    wrong = 0
    for _ in range(5):
        editor.edit()
        running = [tree.start() for _ in range(ABREAST)]
        said = [each.communicate()[0] for each in running]
        alone = tree.said("--no-cache")
        wrong += sum(each != alone for each in [*said, tree.said()])
    tell(f"{ABREAST} runs side by side, five times: {wrong} differences")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--timm", default="", metavar="FOLDER", help="the tree, instead of the one fetched")
    options = parser.parse_args()
    source = corpora.tree("timm", options.timm).path
    sys.exit(1 if run(options.kills, source, lambda line: print(line, flush=True)) else 0)


if __name__ == "__main__":
    main()
