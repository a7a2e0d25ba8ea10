"""The rows of the list of models: one a provider, one for each model that it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from jitchat.text.safe import one_line
from jitchat.text.words import folded

if TYPE_CHECKING:
    from jitchat.providers.catalogue.choices import ProviderChoice
    from jitchat.providers.catalogue.model import ModelInfo


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A provider, or one of its models."""

    provider: str
    model: str
    """Empty for the provider's own row."""
    title: str
    note: str
    is_ready: bool = True
    """Whether the provider can be asked; a row of one that cannot is greyed."""
    wants_key: bool = False

    @property
    def searched(self) -> str:
        """What is typed to find it."""
        return folded(f"{self.provider}/{self.model} {self.title}")

    def line(self, *, in_use: bool, asking: bool) -> Content:
        """Draw it."""
        note = "asking…" if asking else self.note
        if self.model:
            mark = "• " if in_use else "  "
            return Content.assemble(f"  {mark}{self.title}", (f"  {note}", "dim"))
        style = "bold" if self.is_ready else "dim"
        return Content.assemble((self.title, style), (f"  {note}", "dim"))


def rows_of(choice: ProviderChoice) -> list[ModelRow]:
    """Make the provider's row, then those of its models."""
    wants_key = choice.state == "needs key"
    is_ready = choice.state in ("ready", "running here")
    heading = ModelRow(
        choice.name, "", one_line(choice.title), one_line(choice.note), is_ready, wants_key
    )
    models = choice.models if is_ready else ()
    return [heading, *(_row(choice.name, model) for model in models)]


def _row(provider: str, model: ModelInfo) -> ModelRow:
    return ModelRow(provider, model.name, one_line(model.name), _facts(model))


def _facts(model: ModelInfo) -> str:
    """`272,000 · $0.25 in, $2 out`: how much it takes and what a million tokens cost."""
    facts = []
    if model.limit is not None:
        facts.append(f"{model.limit.tokens:,}" + (" loaded" if model.is_loaded else ""))
    prices = model.prices
    if prices is not None and prices.input is not None and prices.output is not None:
        free = not prices.input and not prices.output
        facts.append("free" if free else f"${prices.input:g} in, ${prices.output:g} out")
    return " · ".join(facts)
