"""The command line: finds the command, prints errors, sets the exit status.

0   nothing at or above the failing effect
1   findings, or a file that could not be read
2   the command line, the configuration or the installation is wrong
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from graphlint.errors import GraphlintError, UsageError, near, why

COMMANDS = {
    "check": ("graphlint.commands.check:check", "Find what CUDA Graph capture will refuse, freeze or waste."),
    "clean": ("graphlint.commands.cache:clean", "Remove what earlier runs of `check` have kept."),
    "config": ("graphlint.commands.config:config", "Show the settings that hold here, and where each comes from."),
    "confirm": ("graphlint.confirm.command:confirm", "Capture for real, and compare with what was predicted."),
    "explain": ("graphlint.commands.explain:explain", "Print the page of a code or rule."),
    "lsp": ("graphlint.commands.lsp:lsp", "Serve an editor over stdin and stdout."),
    "rules": ("graphlint.commands.rules:rules", "List all rules."),
}
HELP = {
    "help": "`graphlint --help` lists the commands, `graphlint COMMAND --help` its options",
    "version": "`graphlint --version` shows it",
}
TRACEBACK = "GRAPHLINT_TRACEBACK"


class Commands(click.Group):
    """Commands that are imported when they are run, so that `check` does not pay for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from shlex import quote  # here because only a mistake needs it

            path = f"to check it: `graphlint check {quote(args[0])}`"
            hint = near(args[0], COMMANDS, cutoff=0.65) or HELP.get(args[0]) or path
            raise UsageError(f"there is no command `{args[0]}`", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in sorted(COMMANDS.items())])


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"graphlint {import_module('graphlint.commands.version').version()}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show it.")
def graphlint() -> None:
    """Tell what CUDA Graph capture will do to PyTorch code, before the code runs."""


def main() -> NoReturn:
    """Run the command line; every error is one clear line and an exit status."""
    try:
        status = graphlint(standalone_mode=False)
    except click.exceptions.Exit as done:
        status = done.exit_code
    except click.ClickException as error:
        _tell(error)
        status = 2
    except GraphlintError as error:
        click.echo(f"graphlint: {error}", err=True)
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("graphlint: interrupted", err=True)
        status = 130
    except BrokenPipeError:
        # Whoever read the report has gone; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except Exception as error:
        status = _failed(error)
    sys.exit(status if isinstance(status, int) else 0)


def _tell(error: click.ClickException) -> None:
    """Say what click says of a command line in the form of our own errors: one line, and what to type next."""
    if type(error).__name__ == "NoArgsIsHelpError":  # which is the help, and new in click 8.2
        error.show()
        return
    from graphlint.source import phrase  # here because only a mistake needs it

    message, hint = phrase(error.format_message())
    command = " ".join(["graphlint", *(each for each in sys.argv[1:2] if each in COMMANDS)])
    click.echo(f"graphlint: {message}\n  {hint or f'`{command} --help` lists the options'}", err=True)


def _failed(error: Exception) -> int:
    """Say what nobody expected; a full disk behind stdout is no fault of graphlint's."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
        click.echo(f"graphlint: the output cannot be written: {why(error)}", err=True)
        return 2
    if isinstance(error, FileNotFoundError) and not _has_folder():
        click.echo("graphlint: the working folder is not there any more\n  change to another one", err=True)
        return 2
    if os.environ.get(TRACEBACK):
        raise error
    click.echo(f"graphlint: internal error: {type(error).__name__}: {error}", err=True)
    click.echo(f"  please report this with the output of `{TRACEBACK}=1 graphlint ...`", err=True)
    return 2


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def entry() -> NoReturn:
    """What the installed command runs: `main`, and for `check` an end that does not take a million objects apart."""
    try:
        main()
    except SystemExit as done:
        if sys.argv[1:2] != ["check"]:
            raise
        status = done.code
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = status or 1
    atexit._run_exitfuncs()
    os._exit(status if isinstance(status, int) else 0)
