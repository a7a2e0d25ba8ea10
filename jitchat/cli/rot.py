"""The options of `jitchat rot`."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import wraps
from itertools import pairwise
from typing import Any, TypeVar

import click

from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.options import Flags, SharingGroup, common_options
from jitchat.cli.output import is_terminal
from jitchat.cli.rot_output import RotFiles, file_options
from jitchat.cli.rot_runs import compare_command, forget_command, list_command, show_command
from jitchat.errors import UsageError
from jitchat.lab.experiment import PRESETS, Experiment, RunWanted, preset
from jitchat.lab.facts import Kind
from jitchat.lab.runs import Runs
from jitchat.settings.profiles import nearest
from jitchat.text.sanitize import shorten
from jitchat.values import Mode

USUAL = "quick"
"""The preset where none is given."""


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


SHORTEST = 500
"""Tokens of a conversation, at least: room for a fact, and for talk about it."""
LONGEST = 10_000_000
"""Tokens of a conversation, at most: more than any model takes."""
_LENGTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(k?)", re.IGNORECASE)
_DEPTH = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%?")
_SHARE = re.compile(r"[01](?:\.[0-9]{1,6})?|\.[0-9]{1,6}")
_SHOWN = 60
_Name = TypeVar("_Name", bound=StrEnum)


def known(option: str, name: str, names: Sequence[str]) -> str:
    """Take one of these names.

    Raises:
        UsageError: It is none of them.

    """
    if name not in names:
        listed = f"Use {', '.join(names[:-1])} or {names[-1]}."
        quoted = repr(shorten(name, _SHOWN))
        raise UsageError(f"{option} cannot be {quoted}.", listed + nearest(name, names))
    return name


def listed(option: str, text: str, kind: type[_Name]) -> tuple[_Name, ...]:
    """Read a list of names, each once, in the order in which they are given.

    Raises:
        UsageError: One is unknown, or there is none.

    """
    names = [each.value for each in kind]
    given = [piece.strip() for piece in text.split(",")]
    return tuple(dict.fromkeys(kind(known(option, name, names)) for name in given))


def lengths_of(text: str) -> tuple[int, ...]:
    """Read `1k,2k,8000`.

    Raises:
        UsageError: It is no ascending list of lengths.

    """
    found = tuple(_length(piece.strip()) for piece in text.split(","))
    _require_ascending("--lengths", text, found)
    return found


def depths_of(text: str) -> tuple[float, ...]:
    """Read `0,50,100`, which are percent.

    Raises:
        UsageError: It is no ascending list of percents.

    """
    found = tuple(_depth(piece.strip()) for piece in text.split(","))
    _require_ascending("--depths", text, found)
    return found


def threshold_of(text: str, modes: Sequence[str]) -> tuple[str, float]:
    """Read `jit=0.9`.

    Raises:
        UsageError: It is something else.

    """
    mode, _, share = (piece.strip() for piece in text.partition("="))
    if not _SHARE.fullmatch(share) or float(share) > 1:
        raise UsageError(
            f"--fail-under: {shorten(text, _SHOWN)!r} is no mode with a share from 0 to 1.",
            "Write it as jit=0.9.",
        )
    return known("--fail-under", mode, modes), float(share)


def _length(piece: str) -> int:
    read = _LENGTH.fullmatch(piece)
    tokens = float(read[1]) * (1_000 if read[2] else 1) if read else 0.0
    if not 1 <= tokens <= LONGEST or tokens != int(tokens):
        raise UsageError(
            f"--lengths: {shorten(piece, _SHOWN)!r} is no number of tokens.",
            f"Give whole numbers from {SHORTEST:,} to {LONGEST:,}; k is 1,000: 1k,2k,8k.",
        )
    if tokens < SHORTEST:
        raise UsageError(
            f"--lengths: {shorten(piece, _SHOWN)} is too short to plant facts in.",
            f"The shortest length is {SHORTEST:,} tokens.",
        )
    return int(tokens)


def _depth(piece: str) -> float:
    read = _DEPTH.fullmatch(piece)
    percent = float(read[1]) if read else -1.0
    if not 0 <= percent <= 100:
        raise UsageError(
            f"--depths: {shorten(piece, _SHOWN)!r} is no depth.",
            "Give percents from 0, the beginning, to 100, the end: 0,50,100.",
        )
    return round(percent / 100, 6)


def _require_ascending(option: str, text: str, found: Sequence[float]) -> None:
    if any(later <= earlier for earlier, later in pairwise(found)):
        raise UsageError(
            f"{option} are not ascending: {shorten(text, _SHOWN)}.",
            "Give each once, the smallest first.",
        )


_GRID = ("preset", "lengths", "depths", "kinds", "modes", "repeats", "seed", "conversation")
"""What says what is asked, so that a run that goes on has it already."""


@dataclass(frozen=True, slots=True)
class RotFlags:
    """What was given to `jitchat rot`; None where nothing was."""

    preset: str | None
    lengths: str | None
    depths: str | None
    kinds: str | None
    modes: str | None
    repeats: int | None
    seed: int | None
    conversation: str | None
    judge: str | None
    parallel: int
    resume: str | None
    fail_under: tuple[str, ...]
    yes: bool
    headless: bool
    files: RotFiles

    @property
    def wants_the_app(self) -> bool:
        """Whether nothing asks for a run without the screen."""
        told = (self.fail_under, self.yes, self.headless, self.resume, self.files.named())
        return not any(told)

    def require_alone(self, command: str) -> None:
        """Refuse options of a run beside a command that makes none.

        Raises:
            UsageError: There are some.

        """
        given = [name for name in (*_GRID, "judge", "resume") if getattr(self, name) is not None]
        given += [name for name in ("fail_under", "yes", "headless") if getattr(self, name)]
        given += [name for name, _ in self.files.named()]
        if given:
            raise UsageError(f"{_options(given)} are for a run.", f"Leave them out of `{command}`.")

    def require_consistent(self) -> None:
        """Refuse what cannot be asked for at once.

        Raises:
            UsageError: Two options contradict each other.

        """
        given = [name for name in (*_GRID, "judge") if getattr(self, name) is not None]
        if self.resume is not None and given:
            raise UsageError(
                f"--resume goes on as the run was begun, and {_options(given)} would change that.",
                "Leave out the one or the other.",
            )

    def experiment(self, *, is_reader: bool) -> Experiment:
        """Make the grid: of the preset, and what was given beside it.

        Raises:
            UsageError: A part of it cannot be read.

        """
        name = known("--preset", self.preset or USUAL, PRESETS)
        own: dict[str, Any] = dict(self._grid())
        if self.seed is not None:
            own["seed"] = self.seed
        return replace(preset(name, is_reader=is_reader), **own)

    def thresholds(self) -> Mapping[str, float]:
        """Read `--fail-under`, by mode.

        Raises:
            UsageError: It cannot be read, or names a mode twice.

        """
        modes = [mode.value for mode in Mode]
        found = [threshold_of(text, modes) for text in self.fail_under]
        if len(dict(found)) < len(found):
            raise UsageError("--fail-under names a mode twice.", "Give one share for each.")
        return dict(found)

    def _grid(self) -> Iterator[tuple[str, Any]]:
        """Read what was given of the grid; with any of it, the grid is the user's own."""
        read: dict[str, Callable[[str], object]] = {
            "lengths": lengths_of,
            "depths": depths_of,
            "kinds": lambda text: listed("--kinds", text, Kind),
            "modes": lambda text: listed("--modes", text, Mode),
            "repeats": int,
            "conversation": str,
        }
        given = [name for name in read if getattr(self, name) is not None]
        for name in given:
            yield name, read[name](getattr(self, name))
        if given:
            yield "preset", "own"


def _options(names: list[str]) -> str:
    told = [f"--{name.replace('_', '-')}" for name in names]
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


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

    return run_chat(flags, None, RunWanted(asked, wanted.parallel, wanted.judge or ""))


for _command in (list_command, show_command, compare_command, forget_command):
    rot_command.add_command(_command)
