"""What a newcomer is told who has the reader only: what is there, and how it is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jitchat.text.safe import one_line
from jitchat.tui.model_rows import READER, in_order

if TYPE_CHECKING:
    from jitchat.providers.catalogue.choices import ProviderChoice

NOTHING = "For a model: start Ollama, or have a provider's key at hand, and press Ctrl+L."


def offer(choices: Iterable[ProviderChoice]) -> str:
    """Say in one line what could answer: a server on this machine, or who has a key."""
    others = [each for each in in_order(choices) if each.is_usable and each.name != READER]
    running = [each for each in others if each.state == "running here"]
    keyed = [each for each in others if each.has_key and each not in running]
    told = [f"{_title(each)} runs here" for each in running]
    told += [f"{_title(each)} has a key" for each in keyed]
    if not told:
        return NOTHING
    if len(told) == 1:
        return _single(told[0], [model.name for each in running for model in each.models])
    more = f" and {len(told) - 2} more" if len(told) > 2 else ""
    return f"{', '.join(told[:2])}{more}: Ctrl+L picks who answers."


def _single(told: str, models: list[str]) -> str:
    if len(models) == 1:
        return f"{told} with {one_line(models[0])}: Ctrl+L, then Enter, and it answers."
    count = f" with {len(models):,} models" if models else ""
    return f"{told}{count}: Ctrl+L picks who answers."


def _title(choice: ProviderChoice) -> str:
    return one_line(choice.title)
