"""The picture in the README: what a terminal shows for two real commands, as SVG.

`python -m tests.regenerate` draws it anew; a test fails while it differs from what the commands print.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
COMMANDS = (
    ("check", "examples/decode.py"),
    ("confirm", "examples/decode.py:Decoder", "--input", "token=int64[1]=0..99", "--device", "emulated", "--no-worth"),
)
COLUMNS, WIDTH, HEIGHT, MARGIN = 112, 8.43, 19, 16
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "35": "#d2a8ff", "36": "#79c0ff", "2": "#8b949e"}
PLAIN, BACK, BRIGHT = "#c9d1d9", "#0d1117", "#f0f6fc"
ESCAPE = re.compile(r"\033\[(\d+)m")
BUILD = re.compile(r"(torch \d+\.\d+\.\d+)\+\w+")


def drawn() -> str:
    """The picture; ends in a newline."""
    lines = [line for command in COMMANDS for line in _shown(command)][:-1]
    rows = [row for line in lines for row in _wrapped(line)]
    width, height = round(COLUMNS * WIDTH + 2 * MARGIN), len(rows) * HEIGHT + 2 * MARGIN
    texts = "".join(_row(number, row) for number, row in enumerate(rows))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
        f"<title>graphlint predicts a refused capture, and a capture confirms it</title>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>\n'
        f'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="{PLAIN}">\n'
        f"{texts}</g>\n</svg>\n"
    )


def _shown(command: tuple[str, ...]) -> Iterator[str]:
    """A prompt, the command and what it prints."""
    words = " ".join(f"'{each}'" if "[" in each else each for each in command)
    yield f"\033[32m$\033[0m \033[1mgraphlint {words}\033[0m"
    colour = ("--color", "always") if command[0] == "check" else ()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    arguments = [sys.executable, "-m", "graphlint", *command, *colour]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    yield from BUILD.sub(r"\1", done.stdout).rstrip("\n").split("\n")
    yield ""


def _wrapped(line: str) -> Iterator[list[tuple[str, str]]]:
    """Pieces of text with their colour, in rows as wide as the terminal."""
    row: list[tuple[str, str]] = []
    left = COLUMNS
    for text, colour in _pieces(line):
        while len(text) > left:
            yield [*row, (text[:left], colour)]
            text, row, left = text[left:], [], COLUMNS
        row.append((text, colour))
        left -= len(text)
    yield row


def _pieces(line: str) -> Iterator[tuple[str, str]]:
    parts = ESCAPE.split(line)
    colour = "0"
    for at, part in enumerate(parts):
        if at % 2:
            colour = part
        elif part:
            yield part, colour


def _row(number: int, row: list[tuple[str, str]]) -> str:
    baseline = MARGIN + (number + 1) * HEIGHT - 5
    spans = "".join(_span(text, colour) for text, colour in row)
    return f'<text x="{MARGIN}" y="{baseline}" xml:space="preserve">{spans}</text>\n' if spans else ""


def _span(text: str, colour: str) -> str:
    if colour == "1":
        return f'<tspan font-weight="bold" fill="{BRIGHT}">{escape(text)}</tspan>'
    return f'<tspan fill="{COLOURS[colour]}">{escape(text)}</tspan>' if colour in COLOURS else escape(text)
