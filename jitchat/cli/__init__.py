"""The command line: flags → settings → the app, or a headless command.

Commands import what they need when they run, so that `jitchat --help` loads click and little
else. Errors end as one sentence on standard error and an exit code; never as a traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from jitchat import __version__
from jitchat.cli.conversations import conversations_command, import_command
from jitchat.cli.inspect import config_command, paths_command
from jitchat.cli.options import Flags, common_options
from jitchat.cli.turns import send_command, window_command
from jitchat.errors import JitchatError


class _Told(click.ClickException):
    """An error of ours, as click reports one."""

    def __init__(self, error: JitchatError) -> None:
        super().__init__(str(error))
        self.exit_code = error.exit_code

    def show(self, file: Any = None) -> None:  # noqa: ANN401  click's own signature
        from jitchat.text.safe import visible  # noqa: PLC0415

        click.echo(f"jitchat: {visible(self.format_message())}", err=True)


class _Commands(click.Group):
    """A group in which errors of ours become click's."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  click's own signature
        try:
            return super().invoke(ctx)
        except JitchatError as error:
            raise _Told(error) from error


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(__version__, prog_name="jitchat", message="%(prog)s %(version)s")
@click.option("--conversation", metavar="ID", help="Open this one; the last one by default.")
@common_options
@click.pass_context
def commands(context: click.Context, conversation: str | None, flags: Flags) -> None:
    """Chat with any LLM and see what is inside its context window.

    Without a command, the chat opens.
    """
    context.obj = flags
    if context.invoked_subcommand is None:
        from jitchat.cli.chat import run_chat  # noqa: PLC0415  loads the terminal app

        sys.exit(run_chat(flags, conversation))


for _command in (
    conversations_command,
    import_command,
    window_command,
    send_command,
    paths_command,
    config_command,
):
    commands.add_command(_command)


def main() -> None:
    """Run the command line; a defect leaves a report and a sentence, not a traceback."""
    try:
        commands.main(prog_name="jitchat")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001  whatever it is, the user gets a sentence
        from jitchat.cli.failure import tell_defect  # noqa: PLC0415

        sys.exit(tell_defect(error))
