"""What a newcomer is told who has the reader only: what is there, and how it is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jitchat.text.sanitize import one_line
from jitchat.tui.widgets.model_list import READER, in_order

if TYPE_CHECKING:
    from jitchat.providers.catalogue.models import ProviderChoice

NOTHING = "For a model: start Ollama, or press Ctrl+L and paste a provider's key."


def offer(choices: Iterable[ProviderChoice]) -> str:
    """Say in one line what could answer: a server on this machine, or who has a key."""
    others = [each for each in in_order(choices) if each.is_usable and each.name != READER]
    running = [each for each in others if each.state == "running here"]
    keyed = [each for each in others if each.has_key and each not in running]
    if not running + keyed:
        return NOTHING
    if len(running + keyed) == 1:
        return _single((running + keyed)[0])
    told = [f"{_title(each)} runs here" for each in running]
    told += [f"{_title(each)} has a key" for each in keyed]
    more = f" and {len(told) - 2} more" if len(told) > 2 else ""
    return f"{', '.join(told[:2])}{more}: Ctrl+L picks who answers."


def _single(choice: ProviderChoice) -> str:
    """Say of the only one there is how few keys it takes."""
    title, models = _title(choice), choice.models
    if choice.state != "running here":
        does = "picks a model" if models else "then Enter, lists its models"
        return f"{title} has a key: Ctrl+L{'' if models else ','} {does}."
    if not models:
        return f"{title} runs here. {one_line(choice.note)}".strip()
    if len(models) == 1:
        return f"{title} runs here with {one_line(models[0].name)}: press Ctrl+L, then Enter."
    return f"{title} runs here with {len(models):,} models: Ctrl+L picks one."


def _title(choice: ProviderChoice) -> str:
    return one_line(choice.title)
