"""The options of `jitchat bench locomo` that are about answering and judging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.options import Flags

if TYPE_CHECKING:
    from jitchat.bench.cost import Price

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
        from jitchat.bench.cost import Price  # noqa: PLC0415  loads the planner

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
