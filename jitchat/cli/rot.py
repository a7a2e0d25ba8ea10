"""`jitchat rot`: how answers fare in each mode as the conversation grows."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.options import Flags, SharingGroup, common_options
from jitchat.cli.output import is_terminal
from jitchat.cli.rot_flags import RotFlags
from jitchat.cli.rot_list import list_command
from jitchat.cli.rot_options import rot_options
from jitchat.cli.rot_runs import compare_command, forget_command, show_command

if TYPE_CHECKING:
    from jitchat.rot.experiment import Experiment


@click.group("rot", cls=SharingGroup, invoke_without_command=True)
@rot_options
@common_options
@click.pass_context
def rot_command(context: click.Context, flags: Flags, wanted: RotFlags) -> int | None:
    """See how answers fare in each mode as the conversation grows.

    Facts are planted in conversations of several lengths and asked for, in each mode, of the model
    that answers; what came is shown by length and depth. In a terminal this opens the app;
    without one, or with an option that asks for figures, it runs here. The embedded reader needs
    no key; for any other model it is told first what is sent.
    """
    context.obj = flags
    if context.invoked_subcommand is not None:
        wanted.require_alone(f"jitchat rot {context.invoked_subcommand}")
        return None
    wanted.require_consistent()
    if wanted.resume is None and wanted.conversation is None:
        wanted = replace(wanted, conversation=flags.conversation)
    from jitchat.cli.chosen import chosen_in_the_app  # noqa: PLC0415  not needed to print help

    if wanted.resume is not None:
        flags = _as_begun(flags, wanted.resume)
    settings = flags.settings(chosen_in_the_app(flags.paths().database))
    is_reader = settings.in_use().is_reader
    asked = wanted.experiment(is_reader=is_reader) if wanted.resume is None else None
    if asked is not None and wanted.wants_the_app and is_terminal(sys.stdout):
        return _in_the_app(flags, wanted, asked)
    from jitchat.cli.rot_run import run_here  # noqa: PLC0415  loads much

    run_here(flags, settings, wanted, asked)
    return None


def _as_begun(flags: Flags, wanted: str) -> Flags:
    """Have the model of a run answer, where the flags name none."""
    from jitchat.rot.runs import Runs  # noqa: PLC0415  loads the database's libraries

    if {"provider.name", "provider.model"} & flags.given.keys():
        return flags
    file = Runs(flags.paths().rot).open(wanted)
    file.close()
    meant: dict[str, Any] = {"provider.name": file.run.provider}
    if not file.run.is_reader:
        meant["provider.model"] = file.run.model
    return Flags(given=meant).over(flags)


def _in_the_app(flags: Flags, wanted: RotFlags, asked: Experiment) -> int:
    """Open the app at the lab."""
    from jitchat.cli.chat import run_chat  # noqa: PLC0415  loads the terminal app
    from jitchat.rot.experiment import RunWanted  # noqa: PLC0415

    return run_chat(flags, None, RunWanted(asked, wanted.parallel, wanted.judge or ""))


for _command in (list_command, show_command, compare_command, forget_command):
    rot_command.add_command(_command)
