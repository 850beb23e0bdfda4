"""Record where Dynamo splits the graph of small modules: what it knows of Python, of modules and of host tensors.

    python -m tests.gpu.traced               needs no GPU             -> tests/data/traced_cpu.jsonl

`traced.txt` has blocks between empty lines: `>>` before lines of the module, `>` before lines of `__init__`, then the
body of `forward(self, x)`.  A block that begins with `!` says of what `graphlint check` predicts that it is known to be
wrong.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import sys
import tempfile
import textwrap
import time
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parents[1] / "data"
TEMPLATE = """\
import torch
import torch.nn.functional as F
from torch import nn
{before}

class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 6)
{setup}
    def forward(self, x: torch.Tensor):
{body}
"""


class Block(NamedTuple):
    """A small module; `is_known` if the prediction is known to be wrong."""

    text: str
    is_known: bool = False


def blocks() -> list[Block]:
    """The blocks of `traced.txt`."""
    text = (DATA / "traced.txt").read_text(encoding="utf-8")
    found = [block for block in text.split("\n\n") if block.strip() and not block.startswith("#")]
    return [Block(block.strip("\n").removeprefix("!\n"), block.startswith("!\n")) for block in found]


def module(block: str) -> str:
    """The source of a block's module."""
    lines = block.split("\n")
    before = [line[3:] for line in lines if line.startswith(">> ")]
    setup = [line[2:] for line in lines if line.startswith("> ")]
    body = [line for line in lines if not line.startswith(">")]
    inner = [textwrap.indent("\n".join(part), " " * 8) for part in (setup, body)]
    return TEMPLATE.format(before="\n".join(before), setup=inner[0], body=inner[1])


def breaks(source: str) -> list[str]:
    """The kinds of breaks when the module is traced; raises what running it raises."""
    import torch
    import torch._dynamo as dynamo

    home = sys.modules["traced"] = types.ModuleType("traced")  # where dataclasses look names up
    scope = vars(home)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        exec(compile(source, file.name, "exec"), scope)
        step = scope["Step"]
        assert callable(step)
        dynamo.reset()
        with torch.no_grad(), _noted() as seen:
            step().eval()(torch.ones(4, 6))
            traced = step().eval()
            traced.compile(backend="eager")
            traced(torch.ones(4, 6))
    return list(dict.fromkeys(seen))


@contextmanager
def _noted() -> Iterator[list[str]]:
    """The kinds of the breaks that Dynamo logs meanwhile, which is the one place that sees all of them."""
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase as Translator

    seen: list[str] = []
    plain = Translator.log_graph_break

    def noted(self: object, options: object, reason: str, exc: BaseException) -> None:
        if not getattr(exc, "logged", False):
            seen.append(str(getattr(exc, "gb_type", None) or type(exc).__name__))
        plain(self, options, reason, exc)  # type: ignore[arg-type]  # passed on as given

    Translator.log_graph_break = noted  # type: ignore[method-assign, assignment]
    try:
        yield seen
    finally:
        Translator.log_graph_break = plain  # type: ignore[method-assign]


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=DATA / "traced_cpu.jsonl")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    machine = {"torch": torch.__version__, "device": "cpu", "recorded": time.strftime("%Y-%m-%d")}
    with options.to.open("w", encoding="utf-8") as out:
        print(json.dumps(machine), file=out)
        for block in blocks():
            try:
                with redirect_stdout(io.StringIO()):
                    told = breaks(module(block.text))
            except Exception as error:
                print(f"{block.text}: {error!r}"[:300], file=sys.stderr)
                continue
            print(json.dumps({"block": block.text, "breaks": told}), file=out, flush=True)


if __name__ == "__main__":
    main()
