"""Files that are only looked things up in: cut at their margins, and the same tree once everything in it was asked for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphlint.errors import Unreadable
from graphlint.outline import SMALLEST, may_bind, mentions, outline, outlined

ROOT = Path(__file__).parents[1]
OWN = sorted((ROOT / "graphlint").rglob("*.py"))
FILLER = "# " + "x" * SMALLEST + "\n"

ODD = '''
"""a docstring
class NotHere: pass
"""
import os
TEMPLATE = \'\'\'
def nor_here(): pass
\'\'\'
@decorated(
    1
)
# a comment
@again
async def waits(
    a,
) -> int:
    text = """
def in_text(): pass
"""
    return text

if os.name:
    def below(): return 1
else:
    class Below:
        def method(self): return 2

class Empty: pass

class Odd(
    Base,
):
    """docs
    def nor_this(self): pass
    """
    field: int = 1
    @property
    def one(self): return self.field
    if field:
        def two(self):
            self.two = 2

    class Inner:
        def three(self): pass
    async def four(self): pass

def last(): return "\\"" + \'# no comment\' \\
    + "x"
'''


def opened(tree: ast.Module) -> str:
    """The dump of a tree in which everything was asked for; ends of classes count comments in their last line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.end_lineno = node.end_col_offset = 0
    return ast.dump(tree, include_attributes=True)


def waiting(tree: ast.Module) -> list[str]:
    return [getattr(node, "name", "=") for node in tree.body if "pending" in node.__dict__]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_is_the_tree_that_python_makes(path: Path) -> None:
    text = path.read_text()
    assert opened(outline(text)) == opened(ast.parse(text))


@pytest.mark.parametrize("margin", ["    ", "  ", "\t"])
def test_odd_code_is_cut_where_python_cuts_it(margin: str) -> None:
    text = FILLER + ODD.replace("    ", margin)
    tree = outline(text)
    assert waiting(tree) == ["waits", "Empty", "Odd", "last"]
    assert opened(tree) == opened(ast.parse(text))


def test_a_definition_may_be_the_first_thing_in_a_file() -> None:
    text = "@marked\ndef first(): pass\n\n\nclass Second:\n    pass\n" + FILLER
    tree = outline(text)
    assert waiting(tree) == ["first", "Second"]
    assert opened(tree) == opened(ast.parse(text))


ROWS = "".join(f'    ("row {i}", {i}),\n' for i in range(99))


@pytest.mark.parametrize("head", ["TABLE = {}\n", "TABLE: dict[str, int] = dict{}\n", "TABLE={}  # rows\n"])
def test_a_long_table_is_left_out_until_its_rows_are_asked_for(head: str) -> None:
    text = FILLER + "import os\n" + head.format("([") + ROWS + "])\n\n# the end\nLAST = 1\n"
    tree = outline(text)
    assert waiting(tree) == (["="] if "#" not in head else [])
    table = tree.body[1]
    target = table.targets[0] if isinstance(table, ast.Assign) else table.target  # type: ignore[attr-defined]  # or annotated
    assert isinstance(target, ast.Name) and target.id == "TABLE" and table.lineno == 3
    assert opened(tree) == opened(ast.parse(text))
    assert waiting(tree) == [] and target in ast.walk(table)


@pytest.mark.parametrize(
    "text",
    [
        "TABLE = ([\n" + ROWS + "]); OTHER = (\n1,\n)\n",
        "TABLE = ([\n" + ROWS + "]); OTHER = 1\n",
        "TABLE = OTHER = ([\n" + ROWS + "])\n",
        "TABLE = [\n" + ROWS + "]\nTABLE += [\n1\n]\n",
        "TABLE = [\n" + ROWS + "    1]\nOTHER = 2\n",
        "TABLE[0] = [\n" + ROWS + "]\n",
        "if TABLE == [\n" + ROWS + "]:\n    pass\n",
        'TEXT = ("""\n' + ROWS + ')\n""" + call(\n1\n)\n)\n',
        "TABLE = [\n" + ROWS + "]  # the end\n",
        "TABLE = [\n" + ROWS + ']\n"""Rows\nof a table."""\nOTHER = 1\n',
    ],
)
def test_what_looks_like_a_table_is_the_tree_that_python_makes(text: str) -> None:
    assert opened(outline(FILLER + text)) == opened(ast.parse(FILLER + text))


def test_a_broken_table_spoils_only_itself() -> None:
    tree = outline(FILLER + "TABLE = [\n" + ROWS + "    1 2\n]\nOTHER = 1\n")
    table, other = tree.body
    assert isinstance(table, ast.Assign) and isinstance(other, ast.Assign)
    assert isinstance(table.value, ast.Name) and ast.unparse(other) == "OTHER = 1"


def test_nothing_is_parsed_before_it_is_asked_for() -> None:
    tree = outline(FILLER + "def first(): pass\ndef second(): pass\n")
    first, second = tree.body
    assert isinstance(first, ast.FunctionDef) and isinstance(second, ast.FunctionDef)
    assert (first.name, first.lineno, second.lineno) == ("first", 2, 3)
    assert waiting(tree) == ["first", "second"]
    assert first.returns is None and type(first) is ast.FunctionDef
    assert waiting(tree) == ["second"]


def test_a_word_is_looked_for_in_text() -> None:
    tree = outline(FILLER + "class A:\n    def f(self):\n        self.found = 1\n    def g(self): pass\n")
    assert mentions(tree.body[0], ".found") and not mentions(tree.body[0], ".lost")
    assert waiting(tree) == ["A"]
    node = tree.body[0]
    assert isinstance(node, ast.ClassDef)
    assert [mentions(method, ".found") for method in node.body] == [True, False]


def test_fields_that_nodes_do_not_have_are_no_reason_to_parse() -> None:
    tree = outline(FILLER + "def f(): pass\n")
    assert not hasattr(tree.body[0], "elsewhere")
    assert waiting(tree) == ["f"]


def test_lines_in_brackets_at_the_margin_are_found_out() -> None:
    text = FILLER + "def before(): pass\nvalues = call(\nclass_=1,\n)\ndef after(x=(\n1)): return x\n"
    assert opened(outline(text)) == opened(ast.parse(text))


def test_a_broken_function_spoils_only_itself() -> None:
    tree = outline(FILLER + "def good(): return 1\ndef bad(:\n    pass\n")
    good, bad = tree.body
    assert isinstance(good, ast.FunctionDef) and isinstance(bad, ast.FunctionDef)
    assert isinstance(good.body[0], ast.Return)
    assert bad.args.vararg is not None and bad.name == "bad"


def test_a_broken_top_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        outline(FILLER + "import (\n")


def test_reads_what_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(b"\xef\xbb\xbf" + FILLER.encode() + b"def f():\r\n    return 1\r\n")
    source = outlined(path, "module.py")
    assert source.text.endswith("def f():\n    return 1\n")
    assert waiting(source.tree) == ["f"]


@pytest.mark.parametrize(
    "line",
    [
        "self.found = 1",
        "self.found: int = 1",
        "self.found += 1",
        "self.found //= 2",
        "self.other, self.found = pair",
        "self.found, self.other = pair",
        "(self.found, other), last = pair",
        "for self.found in range(3): pass",
        "for i, self.found in enumerate(x): pass",
        "with open(x) as self.found: pass",
        "with a as b, open(x) as self.found: pass",
        "(\n            self.found,\n            other,\n        ) = pair",
    ],
)
def test_what_binds_an_attribute_is_seen_in_text(line: str) -> None:
    assert "found" in (may_bind(method(line)) or ())


@pytest.mark.parametrize("line", ["return self.found", "call(self.found)", "x = self.found", "if self.found == 1: pass"])
def test_what_reads_an_attribute_is_not_parsed_for_it(line: str) -> None:
    assert may_bind(method(line)) == frozenset()


def method(line: str) -> ast.AST:
    tree = outline(FILLER + f"class A:\n    def f(self, x):\n        {line}\n")
    node = tree.body[0]
    assert isinstance(node, ast.ClassDef) and "pending" in node.body[0].__dict__
    return node.body[0]
