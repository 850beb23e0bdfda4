"""Names that nothing in a file defines: a fix that brings one would raise `NameError` where it runs."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator

BUILT_IN = frozenset(dir(builtins)) | {"__file__", "__name__", "__class__", "__doc__", "__path__", "__spec__", "__debug__"}


def undefined(text: str) -> frozenset[str]:
    """The names that are read in some scope and bound in none it sees; empty for what has no table of its own."""
    try:
        top = symtable.symtable(text, "<unknown>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    scopes = list(_scopes(top))
    bound = {each.get_name() for each in top.get_symbols() if each.is_assigned() or each.is_imported()}
    inner = [each for scope in scopes for each in scope.get_symbols()]
    bound |= {each.get_name() for each in inner if each.is_declared_global()}
    read = {each.get_name() for each in inner if each.is_referenced() and each.is_global()}
    read |= {each.get_name() for each in top.get_symbols() if each.is_referenced()}
    return frozenset(read - bound - BUILT_IN)


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)
