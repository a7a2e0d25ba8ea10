"""Options shared by the commands of `jitchat bench`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jitchat.bench.questions import LabelledConversation, sampled
from jitchat.cli import options, output
from jitchat.errors import SettingsError
from jitchat.settings import checks, sections
from jitchat.text import sanitize
from jitchat.values import USUAL_MODES, Mode

LEXICAL = "lexical"
"""The name for the setting `none`."""


def json_option() -> Any:  # noqa: ANN401  as its field's type
    return options.option(
        "Write the figures to OUT as JSON.", type=click.Path(path_type=Path), metavar="OUT"
    )


def model_path_option() -> Any:  # noqa: ANN401
    return options.option("Folder with the embedding model's ONNX files.", metavar="DIR")


def require_writable(path: Path | None) -> None:
    if path is not None:
        output.require_writable(path)


def with_embedder(
    flags: options.Flags, embedder: str | None, model_path: str | None
) -> options.Flags:
    """Return the flags with the chosen embedder.

    Raises:
        SettingsError: No embedder has that name.

    """
    known = (*sections.SETTINGS["embedder.name"].choices, LEXICAL)
    if embedder is not None and embedder not in known:
        what = f"--embedder: embedder.name cannot be {sanitize.shorten(embedder, 60)!r}."
        raise SettingsError(what, checks.choose_one(embedder, known))
    name = "none" if embedder == LEXICAL else embedder
    given = {"embedder.name": name, "embedder.path": model_path}
    chosen = {key: value for key, value in given.items() if value}
    return options.Flags(given=chosen).over(flags)


def _modes_of(text: str) -> list[Mode]:
    known = [mode.value for mode in Mode]
    names = [name for piece in text.split(",") if (name := piece.strip())]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise click.BadParameter(
            f"--modes: unknown mode: {', '.join(unknown)}. Use {', '.join(known)}."
            if unknown
            else f"--modes: no mode is named. Use {', '.join(known)}."
        )
    return [Mode(name) for name in dict.fromkeys(names)]


@dataclass(frozen=True, slots=True)
class MeasureFlags:
    modes: Sequence[Mode] = options.option(
        f"Modes to measure, of {', '.join(Mode)}.",
        type=_modes_of,
        default=",".join(USUAL_MODES),
        show_default=True,
        metavar="LIST",
    )
    json: Path | None = json_option()  # noqa: RUF009  it makes a field
    embedder: str | None = options.option("Embedder: lexical or a known name.", metavar="NAME")
    model_path: str | None = model_path_option()

    def with_embedder(self, flags: options.Flags) -> options.Flags:
        return with_embedder(flags, self.embedder, self.model_path)

    def require_writable(self) -> None:
        require_writable(self.json)


@dataclass(frozen=True, slots=True)
class SampleFlags:
    sample: int | None = options.option(
        "Use a random sample of N questions, stratified by category.",
        type=click.IntRange(min=1),
        metavar="N",
    )
    seed: int = options.option(
        "Seed of the sample.", type=int, default=1, show_default=True, metavar="N"
    )

    def draw(
        self, talks: list[LabelledConversation]
    ) -> tuple[list[LabelledConversation], dict[str, int]]:
        """Draw the sample. Return it and a description of it, empty if all questions are used."""
        if self.sample is None:
            return talks, {}
        drawn = sampled(talks, self.sample, self.seed)
        return drawn, {"sample": sum(len(talk.questions) for talk in drawn), "seed": self.seed}
