"""The options of `jitchat rot`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

import click

from jitchat.cli.rot_files import file_options
from jitchat.cli.rot_flags import USUAL, RotFlags

_KINDS = "direct, paraphrased, updated, distracted, exact, counting, absent"


def rot_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run; the command gets them as `wanted`."""

    @wraps(command)
    def with_wanted(*args: object, **values: Any) -> object:  # noqa: ANN401  as click calls it
        given = {each.name: values.pop(each.name) for each in fields(RotFlags)}
        return command(*args, wanted=RotFlags(**given), **values)

    wrapped = file_options(with_wanted)
    for option in reversed((*_OF_THE_GRID, *_OF_THE_RUN)):
        wrapped = option(wrapped)
    return wrapped


_OF_THE_GRID = (
    click.option("--preset", metavar="NAME", help=f"{USUAL} if not given, standard or deep."),
    click.option(
        "--lengths",
        metavar="LIST",
        help="Tokens of the conversation, ascending, from 500 on: 1k,2k,8k.",
    ),
    click.option("--depths", metavar="LIST", help="Where the facts stand, in percent: 0,50,100."),
    click.option("--kinds", metavar="LIST", help=f"Of question: {_KINDS}."),
    click.option("--modes", metavar="LIST", help="Of full, recency, jit."),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Ask each cell so often, each time for another fact.",
    ),
    click.option(
        "--seed", type=int, metavar="N", help="Another one gives other facts and other talk."
    ),
    click.option(
        "--conversation",
        metavar="ID",
        help="Plant the facts in a copy of this one of yours, not in made-up talk.",
    ),
)
_OF_THE_RUN = (
    click.option(
        "--judge",
        metavar="MODEL",
        help="Have this model of the same provider look at answers that no rule finds right;"
        " beside the reader, as PROVIDER/MODEL.",
    ),
    click.option(
        "--parallel",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        metavar="N",
        help="Requests at once. One alone keeps prompt caches warm, and its times honest.",
    ),
    click.option(
        "--resume", metavar="RUN", help="Go on with a run that was stopped: its id, or last."
    ),
    click.option(
        "--fail-under",
        multiple=True,
        metavar="MODE=SHARE",
        help="Exit with 1 where fewer of a mode's cells are right: jit=0.9. May be repeated;"
        " cells that do not fit or failed count as not right.",
    ),
    click.option("--yes", is_flag=True, help="Send without asking whether the cost is right."),
    click.option("--headless", is_flag=True, help="Run here, not in the app."),
)
