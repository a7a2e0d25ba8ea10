"""What the benchmarks have in common: their options, and where their figures go."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jitchat.bench.answers import Price
from jitchat.cli.options import Flags
from jitchat.cli.output import emit, is_terminal, say
from jitchat.errors import BenchFailed, SettingsError
from jitchat.settings.profiles import nearest
from jitchat.settings.schema import rule_of
from jitchat.text.sanitize import shorten
from jitchat.values import Mode

if TYPE_CHECKING:
    from rich.table import Table


_LEXICAL = "lexical"
WIDTH = 160
"""Columns of a table that goes to a file."""
_OPTIONS = (
    click.option(
        "--modes", default=",".join(Mode), show_default=True, metavar="LIST", help="To measure."
    ),
    click.option(
        "--json",
        "out",
        type=click.Path(path_type=Path),
        metavar="OUT",
        help="Write the figures here.",
    ),
    click.option("--embedder", metavar="NAME", help="lexical, or one that jitchat knows."),
    click.option(
        "--model-path", metavar="DIR", help="A folder with the embedding model's ONNX files."
    ),
)


def measuring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --modes, --json as `out`, --embedder and --model-path."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def with_model(flags: Flags, embedder: str | None, model_path: str | None) -> Flags:
    """Add what was chosen of the embedder; lexical is what the settings call none.

    Raises:
        SettingsError: There is no such embedder.

    """
    if embedder is not None:
        _require_known(embedder)
    name = "none" if embedder == _LEXICAL else embedder
    given = {"embedder.name": name, "embedder.path": model_path}
    return Flags(given={key: value for key, value in given.items() if value}).over(flags)


def _require_known(embedder: str) -> None:
    known = (*rule_of("embedder.name").choices, _LEXICAL)
    if embedder not in known:
        raise SettingsError(
            f"--embedder: embedder.name cannot be {shorten(embedder, 60)!r}.",
            f"Use {', '.join(known[:-1])} or {known[-1]}.{nearest(embedder, known)}",
        )


def modes_of(listed: str) -> list[Mode]:
    """Read what `--modes` lists."""
    known = [mode.value for mode in Mode]
    names = [name for piece in listed.split(",") if (name := piece.strip())]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise click.BadParameter(
            f"--modes: {', '.join(unknown) or 'none named'}. There are {', '.join(known)}."
        )
    return [Mode(name) for name in dict.fromkeys(names)]


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal is, or as it needs to be in a file."""
    from rich.console import Console  # noqa: PLC0415  not needed to print help

    console = Console(width=None if is_terminal(sys.stdout) else WIDTH)
    with console.capture() as drawn:
        console.print(table)
    emit(drawn.get().rstrip())


def require_writable(out: Path | None) -> None:
    """Refuse a file for `--json` that will not take the figures, before they are measured.

    Raises:
        BenchFailed: It cannot be written.

    """
    if out is not None and (why := why_unwritable(out)):
        raise unwritable(out, why)


def why_unwritable(path: Path) -> str:
    """Say why a file cannot be written, without touching it; empty where it can."""
    try:
        place = path if _is_there(path) else path.parent
        place.stat()
    except OSError as error:
        return error.strerror or "it cannot be reached"
    if path.is_dir():
        return os.strerror(errno.EISDIR)
    return "" if os.access(place, os.W_OK) else os.strerror(errno.EACCES)


def write_figures(out: Path, fields: dict[str, object]) -> None:
    """Write the JSON of `--json`.

    Raises:
        BenchFailed: The file cannot be written.

    """
    try:
        out.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable(out, str(error.strerror)) from error
    say(f"written to {out}", err=True)


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def unwritable(out: Path, why: str) -> BenchFailed:
    """Make the error for a file that cannot be written."""
    return BenchFailed(f"{out} cannot be written: {why}.", "Name another.")


_READER = "reader"


@dataclass(frozen=True, slots=True)
class AnswerFlags:
    """What was said of answering and judging."""

    answerer: str | None
    judge: str | None
    answers: Path | None
    parallel: int
    yes: bool
    input_price: float | None
    output_price: float | None
    judge_input_price: float | None
    judge_output_price: float | None

    def over(self, flags: Flags) -> Flags:
        """Make the answerer the model of the settings, for the windows are planned for it."""
        if self.judge is not None and self.answerer is None:
            raise click.UsageError("--judge needs --answerer: there is nothing to judge.")
        if self.judge == _READER:
            raise click.UsageError(
                "--judge: the reader cannot judge, it only quotes. Name a provider's model."
            )
        return flags if self.answerer is None else _of_model(flags, self.answerer)

    def over_for_judge(self, flags: Flags) -> Flags:
        """Make the judge the model of the settings."""
        return _of_model(flags, self.judge or "")

    def prices(self) -> tuple[Price, Price]:
        """Say what the answerer and the judge charge: one model has one price, the reader none."""
        from jitchat.bench.answers import Price  # noqa: PLC0415  loads the planner

        same = self.judge == self.answerer
        free = self.answerer == _READER
        answerer = Price(0.0, 0.0) if free else Price(self.input_price, self.output_price)
        sent, replied = self.judge_input_price, self.judge_output_price
        return answerer, Price(
            answerer.input if same and sent is None else sent,
            answerer.output if same and replied is None else replied,
        )


def answer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of answering; the command gets them as `answering`."""

    @wraps(command)
    def with_answering(*args: object, **values: Any) -> object:  # noqa: ANN401  as click calls it
        given = {each.name: values.pop(each.name) for each in fields(AnswerFlags)}
        return command(*args, answering=AnswerFlags(**given), **values)

    wrapped: Callable[..., Any] = with_answering
    for option in reversed(_options()):
        wrapped = option(wrapped)
    return wrapped


def _options() -> list[Callable[..., Any]]:
    price = click.FloatRange(min=0)
    file = click.Path(path_type=Path, dir_okay=False)
    model = "of the provider's, or reader"
    return [
        click.option("--answerer", metavar="MODEL", help=f"Answer too, by this model {model}."),
        click.option("--judge", metavar="MODEL", help="Have the answers judged by this model."),
        click.option(
            "--answers",
            type=file,
            metavar="FILE",
            help="Keep replies here, so that a run that was stopped goes on; by default beside"
            " OUT, else where `jitchat paths` says.",
        ),
        click.option(
            "--parallel",
            type=click.IntRange(1, 64),
            default=4,
            show_default=True,
            metavar="N",
            help="Requests at once.",
        ),
        click.option("--yes", is_flag=True, help="Send without asking whether the cost is right."),
        *(
            click.option(f"--{who}{way}-price", type=price, metavar="USD", help=about)
            for who, whose in (("", "The answerer's"), ("judge-", "The judge's"))
            for way in ("input", "output")
            for about in (f"{whose} price of a million {way} tokens.",)
        ),
    ]


def _of_model(flags: Flags, model: str) -> Flags:
    """Choose the reader, or a model of the provider that is configured."""
    given = {"provider.name": _READER}
    if model != _READER:
        settings, key = flags.settings(), "provider.name"
        implied = settings.origin(key) == "default" and model.strip()
        named = {} if implied or settings.provider.name != _READER else {key: "openai"}
        given = {"provider.model": model} | named
    return Flags(given=given).over(flags)
