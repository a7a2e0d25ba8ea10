"""`jitchat models`: every provider, whether it can answer, and its models."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import JitchatError, ProviderError, SettingsError
from jitchat.model_choices import ModelChoices
from jitchat.providers.catalogue import models, table
from jitchat.store.models import ModelLists
from jitchat.text import figures, sanitize

_SHOWN = 10
"""Models of each provider in the list of all."""
_STATE, _WIDEST_NAME = 12, 48
"""Columns."""


@click.command("models", cls=options.SharingCommand)
@click.argument("words", nargs=-1, metavar="[PROVIDER] [TEXT]...")
@click.option("--refresh", is_flag=True, help="Ask the providers for their models.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.location_options
def models_command(
    flags: options.Flags, words: tuple[str, ...], refresh: bool, as_json: bool
) -> int:
    """List the providers and their models.

    A provider's name lists its models alone; any other text finds the models with it in their
    names. The lists are those of the last --refresh; servers on this machine are always looked
    for.

    Ollama, LM Studio, llama.cpp and vLLM on this machine cost nothing. What any other server of
    your own costs is unknown until [models.NAME] says it: input_price and output_price, 0 for free.
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
    if as_json:
        output.say_json([_fields(choice) for choice in found])
    else:
        _print(found, most)
    return 1 if failures and len(failures) == asked else 0


async def _look_up(
    choices: ModelChoices, provider: str | None, refresh: bool
) -> tuple[list[models.ProviderChoice], list[tuple[str, JitchatError]], int]:
    """Look at this machine, and ask for lists: the choices, who gave none, how many were asked."""
    running = await choices.running()
    listed = await asyncio.to_thread(choices.all, running)
    wanted = [choice for choice in listed if provider in (None, choice.name)]
    if not refresh:
        return wanted, [], 0
    asked = [choice.name for choice in wanted if choice.is_usable and choice.name != "reader"]
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


def _fields(choice: models.ProviderChoice) -> dict[str, object]:
    return {
        "provider": choice.name,
        "title": choice.title,
        "state": choice.state.value,
        "note": choice.note,
        "fetched_at": choice.fetched_at.isoformat() if choice.fetched_at else None,
        "models": [model.fields() for model in choice.models],
    }


def _print(choices: Sequence[models.ProviderChoice], most: int | None) -> None:
    if not choices:
        output.say(
            "No model has that in its name. `jitchat models --refresh` asks for newer lists."
        )
        return
    name = max(len(choice.name) for choice in choices)
    title = max(len(choice.title) for choice in choices)
    for choice in choices:
        about = " ".join(filter(None, (choice.note, _list_of(choice))))
        line = f"{choice.name:<{name}}  {sanitize.one_line(choice.title):<{title}}"
        heading = f"{line}  {choice.state.value:<{_STATE}}  {about}".rstrip()
        for printed in (heading, *_model_lines(choice, most)):
            output.emit(output.painted(printed, None if choice.is_usable else "bright_black"))
    if any(model.prices for choice in choices for model in choice.models[:most]):
        output.say("Prices are in US dollars per million tokens.")


def _model_lines(choice: models.ProviderChoice, most: int | None) -> Iterator[str]:
    shown = choice.models[:most]
    width = min(max((len(model.name) for model in shown), default=0), _WIDEST_NAME)
    for model in shown:
        prices = prices_text(model.prices) if model.prices or choice.is_paid else ""
        told = "  ".join(filter(None, (limit_text(model), prices, retirement_text(model))))
        yield f"    {model.name:<{width}}  {told}".rstrip()
    left = len(choice.models) - len(shown)
    if left:
        yield f"    and {left:,} more: `jitchat models {choice.name}`"


def limit_text(model: models.ModelInfo) -> str:
    if model.limit is None:
        return f"{'?':>9}  limit unknown"
    return f"{model.limit.tokens:>9,}  {model.limit.source}"


def retirement_text(model: models.ModelInfo) -> str:
    """Say on which day its provider takes a model away; empty where none is known."""
    if model.retires is None:
        return ""
    is_past = model.retires <= datetime.now(UTC).date()
    return f"{'retired' if is_past else 'retires'} {model.retires} ({table.source()})"


def prices_text(prices: table.Prices | None) -> str:
    """Say what a model costs per million tokens; what is not known is said, never zero."""
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
        return f"{count}, asked {figures.age(choice.fetched_at, datetime.now(UTC))}."
    if choice.state == "running here" and choice.models:
        return f"{count}."
    is_asked = choice.is_usable and choice.name not in ("reader", "ollama")
    return "Its models were not asked for: add --refresh." if is_asked else ""
