"""The rows of the list of models: one a provider, one for each model, one for a name typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jitchat.text.ages import age
from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.text.words import folded

if TYPE_CHECKING:
    from jitchat.providers.catalogue.choices import ProviderChoice
    from jitchat.providers.catalogue.model import ModelInfo

READER = "reader"
MOST = 100
"""Models of one provider that are drawn; a search finds the others."""
_RUNNING, _READY, _NEEDS_KEY, _NOT_LOOKED = "running here", "ready", "needs key", "not looked for"
_RANKS = {_RUNNING: 1, _READY: 2}
"""What can be used stands first; the reader before all."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A provider, or one of its models."""

    provider: str
    model: str
    """Empty for the provider's own row."""
    title: str
    note: str = ""
    """What there is to know of a provider, or of a model that has no figures."""
    figures: tuple[str, str, str] = ("", "", "")
    """Of a model: its context size, and what a million tokens in and out cost."""
    is_ready: bool = True
    """Whether the provider can be asked; a row of one that cannot is greyed."""
    wants_key: bool = False
    is_typed: bool = False
    """Whether it stands for the name that was typed, which no list has."""
    is_count: bool = False
    """Whether it only tells how many models of the provider are not drawn."""

    @property
    def id(self) -> tuple[str, str]:
        """Provider and model."""
        return self.provider, self.model

    def is_found_by(self, wanted: str) -> bool:
        """Whether a search finds it."""
        return matches(wanted, f"{self.provider}/{self.model} {self.title}")


def in_order(choices: Iterable[ProviderChoice]) -> list[ProviderChoice]:
    """Put the providers that can be used first: the reader, this machine's servers, the others."""
    return sorted(choices, key=lambda each: 0 if _is_reader(each) else _RANKS.get(each.state, 3))


def rows_of(choice: ProviderChoice, now: datetime, in_use: str = "") -> list[ModelRow]:
    """Make the provider's row, then those of its models; the one `in_use` is among them.

    The reader has one row for both: it is the only one of its kind.
    """
    if _is_reader(choice):
        return [ModelRow(READER, READER, one_line(choice.title), "quotes what was said; no key")]
    is_ready = choice.state in (_READY, _RUNNING)
    heading = ModelRow(
        choice.name,
        "",
        one_line(choice.title),
        _about(choice, now),
        is_ready=is_ready,
        wants_key=choice.state == _NEEDS_KEY,
    )
    rows = [_row(choice, each, now) for each in choice.models] if is_ready else []
    if in_use and all(row.model != in_use for row in rows):
        rows.insert(0, ModelRow(choice.name, in_use, one_line(in_use), is_ready=is_ready))
    return [heading, *rows]


def shortened_rows(rows: Sequence[ModelRow], in_use: str = "") -> Iterator[ModelRow]:
    """Leave out what is too much to draw, tell how many that are, and keep the one `in_use`."""
    kept = [row for at, row in enumerate(rows) if at <= MOST or row.model == in_use != ""]
    yield from kept
    if left := len(rows) - len(kept):
        note = f"and {left:,} more: type to search them"
        yield ModelRow(rows[0].provider, "", "", note, is_count=True)


def typed_rows(text: str, choices: Mapping[str, ProviderChoice]) -> Iterator[ModelRow]:
    """Offer what was typed as the name of a model, wherever no list has it.

    `PROVIDER/MODEL` is offered of that provider, too, and of it alone where it cannot be asked.
    """
    typed = text.strip()
    if not typed or any(each.isspace() for each in typed) or typed in choices:
        return
    provider, _, rest = typed.partition("/")
    if rest and provider in choices and provider != READER:
        yield from _typed_row(choices[provider], rest)
    for each in in_order(choices.values()):
        if each.is_usable and not _is_reader(each):
            yield from _typed_row(each, typed)


def meant_by(text: str, choices: Mapping[str, ProviderChoice]) -> tuple[str, str] | None:
    """Find the one model that a text names, by `PROVIDER/MODEL` or by its name or a part of it.

    None where it is none or several, or what it names cannot be used as it is.
    """
    usable = {each.name: each for each in choices.values() if each.is_usable}
    provider, _, rest = text.partition("/")
    of_provider = usable.get(provider) if rest else None
    if of_provider is not None and (not of_provider.models or _has(of_provider, rest)):
        return provider, rest
    known = [(each.name, model.name) for each in usable.values() for model in each.models]
    exact = [each for each in known if text in (each[1], each[0])]
    named = [each for each in known if matches(text, each[1])]
    anywhere = [each for each in known if matches(text, "/".join(each))]
    found = exact or named or anywhere
    return found[0] if len(found) == 1 else None


def matches(wanted: str, name: str) -> bool:
    """Whether every word of a search is a part of a name, in capitals or not."""
    known = folded(name)
    return all(word in known for word in folded(wanted).split())


def _typed_row(choice: ProviderChoice, model: str) -> Iterator[ModelRow]:
    if not _has(choice, model):
        title = f"use {one_line(model)} of {one_line(choice.title)}"
        yield ModelRow(
            choice.name,
            model,
            title,
            is_ready=choice.is_usable,
            wants_key=choice.state == _NEEDS_KEY,
            is_typed=True,
        )


def _has(choice: ProviderChoice, model: str) -> bool:
    return any(each.name == model for each in choice.models)


def _is_reader(choice: ProviderChoice) -> bool:
    return choice.name == READER


def _about(choice: ProviderChoice, now: datetime) -> str:
    """Say what a provider wants, or what it has."""
    count = counted(len(choice.models), "model")
    match choice.state:
        case "needs key":
            paste = "Enter to paste a key"
            return f"set {choice.key_variable}, or {paste}" if choice.key_variable else paste
        case "not looked for":
            return "looking for it…"
        case "running here":
            return one_line(choice.note) or (f"running here · {count}" if choice.models else "")
        case "ready" if choice.fetched_at is not None:
            return f"{count}, listed {age(choice.fetched_at, now)}"
        case "ready":
            return f"{'has a key · ' if choice.has_key else ''}Enter lists its models"
    return one_line(choice.note)


def _row(choice: ProviderChoice, model: ModelInfo, now: datetime) -> ModelRow:
    context = f"{model.limit.tokens:,}" if model.limit is not None else "?"
    is_gone = model.retires is not None and model.retires <= now.date()
    title = f"{one_line(model.name)}{f' · retired {model.retires}' if is_gone else ''}"
    return ModelRow(choice.name, model.name, title, figures=(context, *_prices(choice, model)))


def _prices(choice: ProviderChoice, model: ModelInfo) -> tuple[str, str]:
    """Write what it costs; what is not known is said, never zero. Here: whether it is loaded."""
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
