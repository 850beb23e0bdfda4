"""`graphlint lsp`: serve an editor."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from graphlint.errors import InstallError

EXTRA = "install it with `pip install 'torch-graphlint[lsp]'`"


@click.command(short_help="Serve an editor over stdin and stdout.")
@click.option("--stdio", is_flag=True, help="What is done anyway; many editors pass it.")
def lsp(stdio: bool) -> None:
    """Speak the language server protocol over stdin and stdout: diagnostics, hover, fixes and suppressions."""
    try:
        serve = import_module("graphlint.lsp.serve")
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise InstallError(f"`graphlint lsp` needs `{error.name}`, which is not installed", EXTRA) from None
    sys.exit(0 if serve.run() else 1)
