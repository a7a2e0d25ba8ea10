"""`jitchat models`: every provider, whether it can answer, and its models."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from jitchat.cli import model_choices
from jitchat.cli.model_choices import ModelChoices
from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import emit, painted, say, say_json
from jitchat.errors import JitchatError, ProviderError, SettingsError
from jitchat.providers.catalogue.models import ModelInfo, ProviderChoice
from jitchat.providers.catalogue.table import Prices, source
from jitchat.store.models import ModelLists
from jitchat.text.figures import age, plural
from jitchat.text.sanitize import one_line

_SHOWN = 10
"""Models of each provider in the list of all."""


@click.command("models", cls=SharingCommand)
@click.argument("words", nargs=-1, metavar="[PROVIDER] [TEXT]...")
@click.option("--refresh", is_flag=True, help="Ask the providers for their models.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def models_command(flags: Flags, words: tuple[str, ...], refresh: bool, as_json: bool) -> int:
    """List the providers and their models.

    A provider's name lists its models alone; any other text finds the models with it in their
    names. The lists are those of the last --refresh; servers on this machine are always looked
    for.

    Ollama, LM Studio, llama.cpp and vLLM on this machine cost nothing. What any other server of
    your own costs is unknown until [models.NAME] says it: input_price and output_price, 0 for free.
    """
    settings, paths = flags.settings(), flags.paths()
    provider = words[0] if words and words[0] in settings.provider_names() else None
    with opened_store(paths) as store:
        lists = ModelLists(store.database)
        choices = model_choices.ModelChoices(settings, os.environ, paths.keys, lists)
        found, failures, asked = asyncio.run(_looked_up(choices, provider, refresh))
    found = _narrowed(found, words if provider is None else words[1:])
    for name, error in failures:
        say(f"jitchat: {name}: {error}", err=True)
    if as_json:
        say_json([_fields(each) for each in found])
    else:
        _print(found, _SHOWN if not words else None)
    return 1 if failures and len(failures) == asked else 0


async def _looked_up(
    choices: ModelChoices, provider: str | None, refresh: bool
) -> tuple[tuple[ProviderChoice, ...], list[tuple[str, JitchatError]], int]:
    """Look at this machine, and ask whom to ask; the choices, and who did not give a list."""
    running = await choices.running()
    found = await asyncio.to_thread(choices.all, running)
    wanted = [each for each in found if provider in (None, each.name)]
    if not refresh:
        return tuple(wanted), [], 0
    asked = [each.name for each in wanted if each.is_usable and each.name != "reader"]
    failures = await asyncio.gather(*(_refreshed(choices, name) for name in asked))
    renewed = await asyncio.to_thread(choices.all, running)
    names = {each.name for each in wanted}
    failed = [(name, error) for name, error in zip(asked, failures, strict=True) if error]
    return tuple(each for each in renewed if each.name in names), failed, len(asked)


async def _refreshed(choices: ModelChoices, name: str) -> JitchatError | None:
    try:
        await choices.refresh(name)
    except (ProviderError, SettingsError) as error:
        return error
    return None


def _narrowed(found: Sequence[ProviderChoice], words: Sequence[str]) -> tuple[ProviderChoice, ...]:
    """Keep what matches; every provider where nothing is looked for."""
    if not words:
        return tuple(found)
    fitting = [replace(each, models=each.matching(*words)) for each in found]
    return tuple(each for each in fitting if each.models)


def _fields(choice: ProviderChoice) -> dict[str, object]:
    return {
        "provider": choice.name,
        "title": choice.title,
        "state": choice.state.value,
        "note": choice.note,
        "fetched_at": choice.fetched_at.isoformat() if choice.fetched_at else None,
        "models": [each.fields() for each in choice.models],
    }


def _print(found: Sequence[ProviderChoice], most: int | None) -> None:

    if not found:
        say("No model has that in its name. `jitchat models --refresh` asks for newer lists.")
        return
    name = max(len(each.name) for each in found)
    title = max(len(each.title) for each in found)
    for choice in found:
        colour = None if choice.is_usable else "bright_black"
        emit(painted(heading(choice, name, title), colour))
        for line in model_lines(choice, most):
            emit(painted(line, colour))
    if any(model.prices for choice in found for model in choice.models[:most]):
        say("Prices are in US dollars per million tokens.")


_STATE = 12
_WIDEST_NAME = 48


def heading(choice: ProviderChoice, name_width: int, title_width: int) -> str:
    """Tell of a provider in one line."""
    about = " ".join(part for part in (choice.note, _list_of(choice)) if part)
    line = f"{choice.name:<{name_width}}  {one_line(choice.title):<{title_width}}"
    return f"{line}  {choice.state.value:<{_STATE}}  {about}".rstrip()


def model_lines(choice: ProviderChoice, most: int | None) -> Iterator[str]:
    """Tell of its models, a line each; of the first ones where there are many."""
    shown = choice.models[:most]
    width = min(max((len(each.name) for each in shown), default=0), _WIDEST_NAME)
    for model in shown:
        prices = prices_text(model.prices) if model.prices or choice.is_paid else ""
        told = "  ".join(filter(None, (limit_text(model), prices, retirement_text(model))))
        yield f"    {model.name:<{width}}  {told}".rstrip()
    left = len(choice.models) - len(shown)
    if left:
        yield f"    and {left:,} more: `jitchat models {choice.name}`"


def limit_text(model: ModelInfo) -> str:
    """Say how much a model takes, and who says so."""
    if model.limit is None:
        return f"{'?':>9}  limit unknown"
    return f"{model.limit.tokens:>9,}  {model.limit.source}"


def retirement_text(model: ModelInfo) -> str:
    """Say on which day its provider takes a model away; empty where none is known."""
    if model.retires is None:
        return ""
    is_past = model.retires <= datetime.now(UTC).date()
    return f"{'retired' if is_past else 'retires'} {model.retires} ({source()})"


def prices_text(prices: Prices | None) -> str:
    """Say what a model costs per million tokens; what is not known is said, never zero."""
    if prices is None:
        return "price unknown"
    kinds = (("in", prices.input), ("cached", prices.cached), ("out", prices.output))
    each = [
        f"{kind} {'?' if price is None else f'${price:,.6g}'}"
        for kind, price in kinds
        if price is not None or kind != "cached"
    ]
    return f"{' · '.join(each)} ({prices.source})"


def _list_of(choice: ProviderChoice) -> str:
    """Say how many models it listed, and when; or how to get a list."""
    count = plural(len(choice.models), "model")
    if choice.fetched_at is not None:
        return f"{count}, asked {age(choice.fetched_at, datetime.now(UTC))}."
    if choice.state == "running here" and choice.models:
        return f"{count}."
    is_asked = choice.is_usable and choice.name not in ("reader", "ollama")
    return "Its models were not asked for: add --refresh." if is_asked else ""
