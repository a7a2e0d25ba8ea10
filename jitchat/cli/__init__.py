"""The command line: flags → settings → the app, or a headless command.

A command is loaded when it is run, so that `jitchat --help` loads click and little else.
Whatever goes wrong ends as a sentence on standard error and an exit code; never as a
traceback.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, NoReturn

import click

from jitchat import __version__
from jitchat.cli import options, output, shell_values
from jitchat.cli.termination import exit_code, handle_signals, heed_interrupts, leave
from jitchat.crash import crash_report, place_of
from jitchat.errors import JitchatError
from jitchat.paths import locate

INTERRUPTED = 130
"""The exit code of a command that Ctrl+C ended, as shells have it."""


_COMMANDS = {
    "send": ("turns", "Send TEXT, print the reply as it comes, store both."),
    "window": ("turns", "Show the window that TEXT would be sent in; send nothing of it."),
    "why": ("turns", "Say why turn ID is in the window for TEXT, or why not."),
    "replay": ("windows", "Show the window that was sent for TURN; send nothing."),
    "observations": (
        "observations",
        "Show what is observed of CONVERSATION, each line with its turns.",
    ),
    "document": (
        "document",
        "Show the memory document of a project: each line with its number, date and source.",
    ),
    "check": (
        "check",
        "Plan the window of each noted message anew, and look for the turn that it is to have.",
    ),
    "demo": (
        "chat",
        "Show the same question in each mode: a tour of seven steps, in the chat.",
    ),
    "rot": ("rot", "See how answers fare in each mode as the conversation grows."),
    "conversations": (
        "conversations",
        "List, search, rename, tag, archive and delete conversations.",
    ),
    "memory": ("memory", "List, add, edit, forget and export what is remembered of a project."),
    "import": ("importing", "Import conversations from a file, a zip or a folder."),
    "export": ("exporting", "Export conversations as Markdown, JSON, JSONL or HTML."),
    "models": ("models", "List the providers and their models."),
    "usage": (
        "usage",
        "Show what was sent and what it cost, by model, day, conversation, project or purpose.",
    ),
    "tokens": ("tokens", "Show how the tokens of MODEL are counted, and how sure that is."),
    "keys": ("keys", "Store the keys of providers, or list where they come from."),
    "mcp": ("mcp", "Add, list, check and remove servers of tools."),
    "doctor": ("doctor", "Check that each configured provider answers."),
    "config": (
        "config",
        "Print every setting and where its value comes from, or change it.",
    ),
    "paths": ("config", "Print where things are, and what decided it."),
    "completion": (
        "completion",
        "Install the completion of commands for SHELL: bash, zsh or fish.",
    ),
    "bench": ("bench", "Measure what retrieval finds, and what it costs."),
}
"""Of each command: its module in `jitchat.cli`, and its line in the help."""


class _Commands(options.SharingGroup):
    """The group; loads a command when it is run, and leaves with an exit code at its end."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"jitchat.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        heed_interrupts()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands, loading none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])

    def main(  # type: ignore[override]  # click's overloads differ in what they return
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,  # noqa: ANN401  click's own
    ) -> NoReturn:
        """Run the command line; a defect leaves a report and a sentence."""
        try:
            code = super().main(args, prog_name, **extra | {"standalone_mode": False})
        except output.ReaderGone as error:
            _forget_output(sys.stdout)
            code = error.exit_code
        except output.OutputError as error:
            _forget_output(sys.stdout)
            code = _tell(error)
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except (JitchatError, click.ClickException) as error:
            code = _tell(error)
        except Exception as error:  # noqa: BLE001  whatever it is, the user gets a sentence
            # what fails once a signal came may fail for the terminal that went away
            code = 0 if exit_code(0) else _tell_defect(error)
        _flush_output()
        sys.exit(exit_code(code if isinstance(code, int) else 0))


_EPILOG = (
    "A provider's key is in its own variable, such as $OPENAI_API_KEY, or stored by `jitchat keys"
    " set`. Every setting is also a line of the configuration; most are variables, too: `jitchat"
    " config` lists them, `jitchat paths` says where the files are."
)


@click.group(cls=_Commands, invoke_without_command=True, epilog=_EPILOG)
@click.option(
    "--conversation",
    metavar="ID",
    help="Open this one; the one touched last if not given.",
    shell_complete=shell_values.CONVERSATIONS,
)
@options.in_project
@options.as_temporary
@click.version_option(__version__, prog_name="jitchat", message="%(prog)s %(version)s")
@options.common_options
@click.pass_context
def commands(context: click.Context, flags: options.Flags) -> int | None:
    """Chat with any LLM and see what is inside its context window.

    Without a command, the chat opens; Ctrl+L there picks who answers, or takes a key.
    """
    context.obj = flags
    if context.invoked_subcommand is not None:
        return None
    from jitchat.cli.chat import run_chat  # noqa: PLC0415  loads the terminal app

    return run_chat(flags)


def main() -> None:
    handle_signals()
    try:
        commands.main(prog_name="jitchat")
    except SystemExit as end:
        leave(int(end.code or 0))


def _tell(error: JitchatError | click.ClickException) -> int:
    """Say what is wrong, and how the command is used where that is the matter."""
    what = str(error) if isinstance(error, JitchatError) else error.format_message()
    usage = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        path = error.ctx.command_path
        usage = f"{error.ctx.get_usage()}\nTry '{path} --help' for help.\n\n"
    with suppress(output.OutputError):
        output.say(f"{usage}jitchat: {what}", err=True)
    return error.exit_code


def _tell_defect(error: Exception) -> int:
    """Write the report, say where it is; the exit code."""
    where = place_of(locate(os.environ).crash, crash_report(error, __version__))
    output.warn(f"a defect stopped it ({type(error).__name__}). What is stored is safe.{where}")
    return 1


def _flush_output() -> None:
    """Write what is buffered: where that fails at the very end, the exit code is another one."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _forget_output(stream)


def _forget_output(stream: IO[str]) -> None:
    """Give up an output, so that the interpreter does not complain of it at the end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (AttributeError, OSError):  # it is not there, or is no file
        return
