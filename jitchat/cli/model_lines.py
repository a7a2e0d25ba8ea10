"""Providers and models as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from jitchat.providers.catalogue.choices import ProviderChoice
from jitchat.providers.catalogue.model import ModelInfo
from jitchat.providers.catalogue.prices import Prices
from jitchat.providers.catalogue.table import source
from jitchat.text.ages import age
from jitchat.text.counts import counted
from jitchat.text.safe import one_line

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
    count = counted(len(choice.models), "model")
    if choice.fetched_at is not None:
        return f"{count}, asked {age(choice.fetched_at, datetime.now(UTC))}."
    if choice.state == "running here" and choice.models:
        return f"{count}."
    is_asked = choice.is_usable and choice.name not in ("reader", "ollama")
    return "Its models were not asked for: add --refresh." if is_asked else ""
