"""Functions in the dress of Python that a compiler for kernels reads: Triton, TileLang, CuTe, Numba and their like."""

from __future__ import annotations

import ast

from graphlint.project import FunctionDecl, Outside, Project

MARKS = frozenset({"jit", "prim_func", "macro", "kernel", "autotune", "heuristics"})
"""What the decorators of such functions are called, in these packages and in those that wrap them."""


def is_kernel(project: Project, decl: FunctionDecl) -> bool:
    """Whether a function's statements are no Python that runs on the host: a decorator from outside says so."""
    return any(_is_mark(project, decl, each) for each in getattr(decl.node, "decorator_list", ()))


def _is_mark(project: Project, decl: FunctionDecl, node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name not in MARKS:
        return False
    found = project.dotted(decl.module, node)
    return found is None or (isinstance(found, Outside) and not found.name.startswith("torch."))
