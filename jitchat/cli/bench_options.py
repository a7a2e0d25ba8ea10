"""What the benchmarks have in common: the options of what is measured."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from jitchat.cli.options import Flags, with_options
from jitchat.cli.output import write_file
from jitchat.errors import SettingsError
from jitchat.settings.checks import nearest
from jitchat.settings.sections import SETTINGS
from jitchat.text.sanitize import shortened
from jitchat.values import Mode

_LEXICAL = "lexical"


def modes_of(text: str) -> list[Mode]:
    """Read what `--modes` lists, each mode once."""
    known = [mode.value for mode in Mode]
    names = [name for piece in text.split(",") if (name := piece.strip())]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise click.BadParameter(
            f"--modes: {', '.join(unknown) or 'none named'}. There are {', '.join(known)}."
        )
    return [Mode(name) for name in dict.fromkeys(names)]


measuring_options: Callable[[Callable[..., Any]], Callable[..., Any]] = with_options(
    click.option(
        "--modes",
        type=modes_of,
        default="full,recency,jit",
        show_default=True,
        metavar="LIST",
        help="To measure.",
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


def with_embedder(flags: Flags, embedder: str | None, model_path: str | None) -> Flags:
    """Add what was chosen of the embedder; lexical is what the settings call none.

    Raises:
        SettingsError: There is no such embedder.

    """
    known = (*SETTINGS["embedder.name"].choices, _LEXICAL)
    if embedder is not None and embedder not in known:
        raise SettingsError(
            f"--embedder: embedder.name cannot be {shortened(embedder, 60)!r}.",
            f"Use {', '.join(known[:-1])} or {known[-1]}.{nearest(embedder, known)}",
        )
    name = "none" if embedder == _LEXICAL else embedder
    given = {"embedder.name": name, "embedder.path": model_path}
    return Flags(given={key: value for key, value in given.items() if value}).over(flags)


def write_figures(out: Path, fields: dict[str, object]) -> None:
    """Write the JSON of `--json`; raises as `write_file`."""
    write_file(out, (json.dumps(fields, indent=2) + "\n").encode())
