"""Data on models, from their servers or from the bundled table.

The parsing does not depend on the server: each field has one meaning wherever it occurs.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from typing import Any

from jitchat.providers.catalogue import table
from jitchat.providers.catalogue.table import PER_PRICE, Prices
from jitchat.text.json_values import at, count, list_of, text_at
from jitchat.text.sanitize import one_line, skeleton
from jitchat.values import LOADED, MAXIMUM, Limit

OTHER = "other"
"""An API that jitchat does not support."""
THE_SERVER = "the server"
"""The source of prices that come with the list of models."""
_KINDS = ("input", "output", "cached", "written")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model and what is known about it; None for unknown values."""

    name: str
    limit: Limit | None = None
    max_output: int | None = None
    """The longest answer, in tokens."""
    prices: Prices | None = None
    retires: date | None = None
    """The day on which its provider retires it."""
    other_api: str = ""
    """The API that the model requires or works better with, if it is not the provider's usual one:
    `responses`, which is supported, or `OTHER`; otherwise empty."""
    tools: bool | None = None
    """Whether the model supports tools. If unknown, they are sent, and a refusal is learnt."""
    pictures: bool | None = None
    """Whether the model accepts pictures. If unknown, they are sent."""

    @property
    def is_loaded(self) -> bool:
        """Whether a local server has it in memory, so that it answers at once."""
        return self.limit is not None and self.limit.source == LOADED

    def completed(self, provider: str) -> "ModelInfo":
        """Fill in values that the server did not report from the bundled table."""
        known = known_model(provider, self.name)
        return replace(
            known,
            limit=self.limit or known.limit,
            max_output=self.max_output or known.max_output,
            prices=self.prices or known.prices,
            tools=self.tools,
            pictures=self.pictures,
        )

    def fields(self) -> dict[str, Any]:
        """Return the data as JSON values, which `model_from` reads."""
        described: dict[str, Any] = {"name": self.name}
        if self.limit is not None:
            described |= {"limit": self.limit.tokens, "limit_source": self.limit.source}
        if self.max_output is not None:
            described["max_output"] = self.max_output
        if self.prices is not None:
            described["prices"] = {kind: getattr(self.prices, kind) for kind in _KINDS}
            described["prices"]["source"] = self.prices.source
        if self.retires is not None:
            described["retires"] = self.retires.isoformat()
        if self.tools is not None:
            described["tools"] = self.tools
        if self.pictures is not None:
            described["pictures"] = self.pictures
        return described


def known_model(provider: str, name: str) -> ModelInfo:
    """Look up a model in the bundled table.

    For OpenRouter, the API and the retirement date are omitted: it translates between APIs, and
    may serve a model from another vendor after its maker retires it.
    """
    row, is_routed = table.row_of(provider, name), provider == "openrouter"
    limit, retires = row.get("limit"), row.get("retires")
    return ModelInfo(
        name,
        Limit(limit, table.source()) if limit else None,
        row.get("max_output"),
        table.prices_of(row),
        date.fromisoformat(retires) if retires and not is_routed else None,
        "" if is_routed else row.get("api", ""),
    )


def model_from(fields: Mapping[str, Any]) -> ModelInfo:
    """Make a model from the result of `ModelInfo.fields`.

    Raises:
        LookupError: The data has another format.

    """
    limit, prices = fields.get("limit"), fields.get("prices")
    return ModelInfo(
        fields["name"],
        None if limit is None else Limit(limit, fields["limit_source"]),
        fields.get("max_output"),
        None if prices is None else Prices(**{kind: prices[kind] for kind in (*_KINDS, "source")}),
        tools=fields.get("tools"),
        pictures=fields.get("pictures"),
    )


_LONGEST_NAME = 200
_MOST = 10_000
"""Maximum number of models read from a server."""


@cache
def _fields() -> dict[str, Any]:
    """Return servers' names of fields, by meaning.

    `loaded` is the context size that the model was started with, `maximum` the largest possible;
    `tools` and `pictures` are a list of capabilities, or a boolean; `chats` and `does_not_chat` are
    types of models, and `other_work` are patterns of their names.
    """
    read: dict[str, Any] = table.read_json("fields.json")
    other_work = "|".join(read["other_work"])
    read["other_work"] = re.compile(rf"(?:^|[^a-z])(?:{other_work})(?:$|[^a-z])")
    return read


def rows_of(answer: object) -> list[object]:
    """Return the rows of a list, wherever they are in the answer."""
    for rows in (answer, at(answer, "data"), at(answer, "models")):
        if isinstance(rows, list):
            return rows[:_MOST]
    return []


def models_of(rows: Iterable[object]) -> tuple[ModelInfo, ...]:
    """Return the chat models without duplicates, loaded ones first, then by name."""
    models: dict[str, ModelInfo] = {}
    for row in rows:
        model = model_of(row) if chats(row) else None
        if model is not None:
            models.setdefault(model.name, model)
    return in_order(models.values())


def in_order(models: Iterable[ModelInfo]) -> tuple[ModelInfo, ...]:
    """Sort the models: loaded ones first, then by name."""
    return tuple(sorted(models, key=lambda model: (not model.is_loaded, model.name.casefold())))


def model_of(row: object) -> ModelInfo | None:
    name, longest = name_of(row), _number(row, "max_output")
    if not name:
        return None
    known = limit_of(row), longest, _prices(row)
    pictures = text_at(row, "type") == "vlm" or _supports(row, "pictures", _SEEING)  # LM Studio's
    return ModelInfo(name, *known, tools=_supports(row, "tools", ("tool",)), pictures=pictures)


_SEEING = ("image", "vision", "multimodal")
"""Words in a list of capabilities that mean that a model accepts pictures."""


def _supports(row: object, what: str, words: Sequence[str]) -> bool | None:
    """Whether the model supports something, by a list of capabilities or a boolean."""
    for place in _fields()[what]:
        value = at(row, *place.split("."))
        if isinstance(value, list) and value:
            capabilities = " ".join(each for each in value if isinstance(each, str))
            return any(word in capabilities for word in words)
        if isinstance(value, bool):
            return value
    return None


def name_of(row: object) -> str:
    """Return the name by which the model is requested; empty if there is none."""
    named = next(
        (text for key in ("id", "key", "model", "name") if (text := text_at(row, key))), ""
    )
    name = one_line(named[: 2 * _LONGEST_NAME]).removeprefix("models/")
    return name if len(name) <= _LONGEST_NAME and skeleton(name) else ""


def limit_of(row: object) -> Limit | None:
    """Return the context size: of the loaded model if it is loaded, else the maximum."""
    instances = at(row, "loaded_instances")
    for holder in [row, *list_of(instances)[:1]]:
        if tokens := _number(holder, "loaded"):
            return Limit(tokens, LOADED)
    tokens = _number(row, "maximum")
    return Limit(tokens, MAXIMUM) if tokens else None


def chats(row: object) -> bool:
    """Whether it is a chat model, judging by the server's data or else by the model's name."""
    kind, methods = text_at(row, "type"), at(row, "supportedGenerationMethods")
    if isinstance(methods, list) and "generateContent" not in methods:
        return False
    if at(row, "capabilities", "completion_chat") is False:
        return False
    makes, can = at(row, "architecture", "output_modalities"), at(row, "capabilities")
    if isinstance(makes, list) and makes and "text" not in makes:
        return False
    if isinstance(can, list) and "embedding" in can and "completion" not in can:
        return False
    fields = _fields()
    if kind in fields["chats"] or kind in fields["does_not_chat"]:
        return kind in fields["chats"]
    return not fields["other_work"].search(name_of(row).lower())


def _number(row: object, field: str) -> int | None:
    """Return the first number of the field that is present and not zero."""
    places = (place.split(".") for place in _fields()[field])
    return next((number for place in places if (number := count(at(row, *place)))), None)


def _prices(row: object) -> Prices | None:
    """Read the prices: OpenRouter's are strings per token, Together's numbers per million."""
    pricing = at(row, "pricing")
    keys, factor = ("input", "output", "cached_input", "-"), 1
    if at(pricing, "prompt") is not None:
        keys, factor = ("prompt", "completion", "input_cache_read", "input_cache_write"), PER_PRICE
    fresh, output, cached, written = (_price(at(pricing, key), factor) for key in keys)
    if fresh is None or output is None or (factor == 1 and not fresh and not output):
        return None  # Together has zeros for models that are rented by the hour
    return Prices(fresh, output, cached or None if factor == 1 else cached, written, THE_SERVER)


def _price(value: object, factor: int) -> float | None:
    """Read a price; None if it is not one, such as the -1 of a model with a variable price."""
    try:
        price = float(value) if isinstance(value, str | int | float) else -1.0
    except (ValueError, OverflowError):
        return None
    return round(price * factor, 9) if math.isfinite(price) and price >= 0 else None


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    """The name of the preset it was recognised as, wherever it was found."""
    base_url: str
    models: tuple[ModelInfo, ...]
    """Empty if it has none, or requires a key to list them."""


class State(StrEnum):
    READY = "ready"
    """The key was found, or none is needed."""
    RUNNING = "running here"
    NOT_RUNNING = "not running"
    NOT_LOOKED = "not looked for"
    """A local server that was not tried yet."""
    NEEDS_KEY = "needs key"
    TO_FETCH = "to fetch"
    """A local model whose weights are not downloaded yet."""
    NO_FILE = "no file"
    """The file of the user's own local model cannot be read."""
    NOT_INSTALLED = "not installed"
    """The engine for local models is not installed."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    name: str
    title: str
    state: State
    note: str
    """Where its key comes from, or what to do to use it, as a sentence; may be empty."""
    models: tuple[ModelInfo, ...]
    """The models that the user configured, then those that it listed."""
    fetched_at: datetime | None
    """When a stored list was fetched; None if there is none, or it was fetched just now."""
    has_key: bool = False
    """Whether a key was found in any source."""
    key_variable: str = ""
    """The environment variable that may hold the key; empty if unknown."""

    @property
    def is_usable(self) -> bool:
        return self.state in (State.READY, State.RUNNING)

    @property
    def lists_models(self) -> bool:
        """Whether its models are listed by a server."""
        preset = table.presets().get(self.name)
        return preset is None or not (preset.is_engine or preset is table.READER)

    @property
    def is_paid(self) -> bool:
        """Whether requests may cost money; false for the presets of local servers."""
        preset = table.presets().get(self.name)
        return preset is None or bool(preset.key_variables)

    def matching(self, *words: str) -> tuple[ModelInfo, ...]:
        """Return the models whose names contain every word, regardless of case."""
        wanted = [word.casefold() for word in words]
        return tuple(
            model for model in self.models if all(word in model.name.casefold() for word in wanted)
        )
