"""The rows of the model list: their order and text, and which model a typed text names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat import weights
from jitchat.text.figures import age, plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.tui.key_names import KeyNames

if TYPE_CHECKING:  # not loaded for the first frame
    from jitchat.providers.catalogue.models import ModelInfo, ProviderChoice

READER, LOCAL = "reader", "local"
MOST = 100
"""Maximum models shown per provider; a search finds the others."""
NO_MODEL = "For a real model, press {models}: download a small one or add an API key."
_RUNNING = "running here"


@dataclass(frozen=True, slots=True)
class ModelRow:
    choice: ProviderChoice
    model: str
    """Empty for the provider's own row."""
    title: str
    note: str = ""
    """Information on a provider, or on a model without figures."""
    figures: tuple[str, str, str] = ("", "", "")
    """Of a model: its context size, and the prices of a million input and output tokens."""
    is_typed: bool = False
    """Whether the row offers the typed name, which is in no list."""
    is_count: bool = False
    """Whether the row only states how many of the provider's models are not shown."""

    @property
    def provider(self) -> str:
        return self.choice.name

    @property
    def id(self) -> tuple[str, str]:
        return self.choice.name, self.model

    @property
    def is_ready(self) -> bool:
        """Whether the provider can be used; if not, the row is greyed out."""
        return self.choice.is_usable

    @property
    def wants_key(self) -> bool:
        return self.choice.state == "needs key"

    @property
    def wants_weights(self) -> bool:
        return self.choice.state == "to fetch" and self.model in weights.known()

    def is_found_by(self, wanted: str) -> bool:
        return matches(wanted, f"{self.provider}/{self.model} {self.title}")


def in_order(choices: Iterable[ProviderChoice]) -> list[ProviderChoice]:
    """Sort choices: jitchat's own models, this machine's servers, usable providers, the rest."""
    ranks, first = {_RUNNING: 2, "ready": 3}, {READER: 0, LOCAL: 1}
    return sorted(choices, key=lambda choice: first.get(choice.name, ranks.get(choice.state, 4)))


def rows_of(choice: ProviderChoice, now: datetime, in_use: str = "") -> list[ModelRow]:
    """Return the provider's row, then those of its models, including the model `in_use`.

    jitchat's own providers have no separate provider row.
    """
    title = one_line(choice.title)
    if choice.name == READER:
        return [ModelRow(choice, READER, title, "quotes the conversation; no key")]
    if choice.name == LOCAL:
        rows = [_local_row(choice, model.name, one_line(choice.note)) for model in choice.models]
        is_listed = not in_use or any(row.model == in_use for row in rows)
        return rows if is_listed else [*rows, _local_row(choice, in_use)]
    models = choice.models if choice.is_usable else ()
    rows = [_model_row(choice, model, now) for model in models]
    if in_use and all(row.model != in_use for row in rows):
        rows.insert(0, ModelRow(choice, in_use, one_line(in_use)))
    return [ModelRow(choice, "", title, _about(choice, now)), *rows]


def shortened_rows(rows: Sequence[ModelRow], in_use: str = "") -> Iterator[ModelRow]:
    """Yield the rows to show, with the model `in_use`, and a row counting those left out."""
    kept = [row for at, row in enumerate(rows) if at <= MOST or row.model == in_use != ""]
    yield from kept
    if left := len(rows) - len(kept):
        note = f"{left:,} more: type to search"
        yield ModelRow(rows[0].choice, "", "", note, is_count=True)


def typed_rows(text: str, choices: Mapping[str, ProviderChoice]) -> Iterator[ModelRow]:
    """Offer a typed text as a model name, for each provider that does not list it.

    `PROVIDER/MODEL` is offered for that provider, even if it cannot be used. A name ending in
    `.gguf` is a file for llama.cpp on this machine.
    """
    typed = text.strip()
    if not typed or any(letter.isspace() for letter in typed) or typed in choices:
        return
    provider, _, rest = typed.partition("/")
    if rest and provider in choices and provider != READER:
        yield from _typed_row(choices[provider], rest)
    for choice in in_order(choices.values()):
        runs_it = choice.name == LOCAL and typed.lower().endswith(".gguf")
        if choice.is_usable and (choice.lists_models or runs_it):
            yield from _typed_row(choice, typed)


def meant_by(text: str, choices: Mapping[str, ProviderChoice]) -> tuple[str, str] | None:
    """Return the one usable model that a text names, by `PROVIDER/MODEL`, name or part of a name.

    None if the text names none or several.
    """
    usable = {choice.name: choice for choice in choices.values() if choice.is_usable}
    provider, _, rest = text.partition("/")
    of_provider = usable.get(provider) if rest else None
    if of_provider is not None and (not of_provider.models or _lists(of_provider, rest)):
        return provider, rest
    known = [(choice.name, model.name) for choice in usable.values() for model in choice.models]
    exact = [pair for pair in known if text in pair]
    named = [pair for pair in known if matches(text, pair[1])]
    anywhere = [pair for pair in known if matches(text, "/".join(pair))]
    candidates = exact or named or anywhere
    return candidates[0] if len(candidates) == 1 else None


def matches(wanted: str, name: str) -> bool:
    """Whether a name contains every word of a search, ignoring case."""
    known = fold(name)
    return all(word in known for word in fold(wanted).split())


def model_offer(choices: Iterable[ProviderChoice], keys: KeyNames) -> str:
    """Suggest models to a new user: those of providers with a key."""
    ready = [choice for choice in in_order(choices) if choice.is_usable and choice.has_key]
    match ready:
        case []:
            return keys.tell(NO_MODEL)
        case [choice]:
            key = keys["models"] if choice.models else f"{keys['models']}, then Enter,"
            what = "choose a model" if choice.models else "list its models"
            return f"{one_line(choice.title)} has a key: press {key} to {what}."
    names = ", ".join(one_line(choice.title) for choice in ready[:2])
    more = f" and {len(ready) - 2} more" if len(ready) > 2 else ""
    return f"{names}{more} have keys: press {keys['models']} to choose."


def embedder_offer(size: int, keys: KeyNames) -> str:
    """Ask whether to download an embedding model of `size` bytes."""
    megabytes = round(size / 1_000_000)
    key = keys["model"]
    return f"Search talk between people better? {key} downloads a {megabytes} MB model (English)."


def _typed_row(choice: ProviderChoice, model: str) -> Iterator[ModelRow]:
    if not _lists(choice, model):
        title = f"use {one_line(model)} from {one_line(choice.title)}"
        yield ModelRow(choice, model, title, is_typed=True)


def _lists(choice: ProviderChoice, model: str) -> bool:
    return any(known.name == model for known in choice.models)


def _about(choice: ProviderChoice, now: datetime) -> str:
    count = plural(len(choice.models), "model")
    match choice.state:
        case "needs key":
            paste = "Enter to paste a key"
            return f"set {choice.key_variable}, or {paste}" if choice.key_variable else paste
        case "not looked for":
            return "checking…"
        case "running here":
            return one_line(choice.note) or (f"running here · {count}" if choice.models else "")
        case "ready" if choice.fetched_at is not None:
            return f"{count}, listed {age(choice.fetched_at, now)}"
        case "ready":
            return f"{'has a key · ' if choice.has_key else ''}Enter lists its models"
    return one_line(choice.note)


def _model_row(choice: ProviderChoice, model: ModelInfo, now: datetime) -> ModelRow:
    context = f"{model.limit.tokens:,}" if model.limit is not None else "?"
    is_gone = model.retires is not None and model.retires <= now.date()
    title = f"{one_line(model.name)}{f' · retired {model.retires}' if is_gone else ''}"
    return ModelRow(choice, model.name, title, figures=(context, *_prices(choice, model)))


def _local_row(choice: ProviderChoice, model: str, note: str = "") -> ModelRow:
    known = weights.known().get(model)
    title = known.title if known is not None else Path(model).name
    is_missing = choice.state == "not installed"
    about = note if is_missing else " · ".join(filter(None, ("runs locally", note)))
    return ModelRow(choice, model, one_line(title), about)


def _prices(choice: ProviderChoice, model: ModelInfo) -> tuple[str, str]:
    """Format a model's prices: `?` if unknown, never zero; `loaded` for a loaded local model."""
    prices = model.prices
    if prices is None:
        unknown = "?" if choice.is_paid else ""
        return ("", "loaded") if model.is_loaded else (unknown, unknown)
    if prices.input == prices.output == 0:
        return "free", "free"
    return _price(prices.input), _price(prices.output)


def _price(amount: float | None) -> str:
    if amount is None:
        return "?"
    return f"{amount:,.2f}" if round(amount, 2) == round(amount, 8) else f"{amount:,.6g}"
