"""One model as its server, or the bundled table, tells of it.

Which server answers is not asked: each field has one meaning wherever it occurs.
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
from jitchat.providers.protocols.json_values import at, count, list_of, text_at
from jitchat.text.sanitize import one_line
from jitchat.values import LOADED, MAXIMUM, Limit

OTHER = "other"
"""An API that no protocol here speaks."""
THE_SERVER = "the server"
"""The source of prices that come with the list of models."""
_KINDS = ("input", "output", "cached", "written")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model by its own name; None for what nobody tells."""

    name: str
    limit: Limit | None = None
    max_output: int | None = None
    """The longest answer, in tokens."""
    prices: Prices | None = None
    retires: date | None = None
    """The day on which its provider takes it away."""
    other_api: str = ""
    """The API that it answers on only, or better, where that is not its provider's usual one:
    `responses`, which is spoken here, or `OTHER`; else empty."""
    tools: bool | None = None
    """Whether it takes tools; where nobody tells, they are tried, and a refusal is learnt."""
    pictures: bool | None = None
    """Whether it takes pictures; where nobody tells, they are sent."""

    @property
    def is_loaded(self) -> bool:
        """Whether a local server has it in memory, so that it answers at once."""
        return self.limit is not None and self.limit.source == LOADED

    def completed(self, provider: str) -> "ModelInfo":
        """Add what the bundled table knows where the server was silent."""
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
        """Give it as JSON knows it; `model_from` reads what a server told of that."""
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
    """Look a model up in the bundled table.

    OpenRouter translates for a model that answers on another API, and may have one from somebody
    else for longer than its maker.
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
    """Read what `fields` gave.

    Raises:
        LookupError: Something else was kept.

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
"""Models that a server may have."""


@cache
def _fields() -> dict[str, Any]:
    """Read what servers call what they tell of a model, by what it means.

    `loaded` is what the model was started with, `maximum` what it takes at the most; `tools` and
    `pictures` are a list of what the model can do, or yes or no; `chats` and `does_not_chat` are
    types of models, and `other_work` patterns of their names.
    """
    read: dict[str, Any] = table.read_json("fields.json")
    other_work = "|".join(read["other_work"])
    read["other_work"] = re.compile(rf"(?:^|[^a-z])(?:{other_work})(?:$|[^a-z])")
    return read


def rows_of(answer: object) -> list[object]:
    """Find the lines of a list, wherever they are."""
    for rows in (answer, at(answer, "data"), at(answer, "models")):
        if isinstance(rows, list):
            return rows[:_MOST]
    return []


def models_of(rows: Iterable[object]) -> tuple[ModelInfo, ...]:
    """Read the models that chat: each once, those that are loaded first, then by name."""
    models: dict[str, ModelInfo] = {}
    for row in rows:
        model = model_of(row) if chats(row) else None
        if model is not None:
            models.setdefault(model.name, model)
    return in_order(models.values())


def in_order(models: Iterable[ModelInfo]) -> tuple[ModelInfo, ...]:
    """Put those first that are loaded; else by name."""
    return tuple(sorted(models, key=lambda model: (not model.is_loaded, model.name.casefold())))


def model_of(row: object) -> ModelInfo | None:
    name, longest = name_of(row), _number(row, "max_output")
    if not name:
        return None
    known = limit_of(row), longest, _prices(row)
    pictures = text_at(row, "type") == "vlm" or _takes(row, "pictures", _SEEING)  # LM Studio's
    return ModelInfo(name, *known, tools=_takes(row, "tools", ("tool",)), pictures=pictures)


_SEEING = ("image", "vision", "multimodal")
"""What lists of what a model can do call it that it takes pictures."""


def _takes(row: object, what: str, words: Sequence[str]) -> bool | None:
    """Tell what the model takes: a list that names it or not, or a plain yes or no."""
    for place in _fields()[what]:
        told = at(row, *place.split("."))
        if isinstance(told, list) and told:
            named = " ".join(each for each in told if isinstance(each, str))
            return any(word in named for word in words)
        if isinstance(told, bool):
            return told
    return None


def name_of(row: object) -> str:
    """Find the name by which the model is asked for; empty where there is none."""
    named = next(
        (text for key in ("id", "key", "model", "name") if (text := text_at(row, key))), ""
    )
    name = one_line(named[: 2 * _LONGEST_NAME]).removeprefix("models/")
    return name if len(name) <= _LONGEST_NAME else ""


def limit_of(row: object) -> Limit | None:
    """Read how much the model takes: as it is loaded, else at most."""
    instances = at(row, "loaded_instances")
    for holder in [row, *list_of(instances)[:1]]:
        if tokens := _number(holder, "loaded"):
            return Limit(tokens, LOADED)
    tokens = _number(row, "maximum")
    return Limit(tokens, MAXIMUM) if tokens else None


def chats(row: object) -> bool:
    """Whether the model talks, as far as the server or the model's plain name says."""
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
    """Take the first of the numbers that are there and count something."""
    places = (place.split(".") for place in _fields()[field])
    return next((number for place in places if (number := count(at(row, *place)))), None)


def _prices(row: object) -> Prices | None:
    """Read what the model costs: OpenRouter per token, as texts; Together per million."""
    pricing = at(row, "pricing")
    keys, factor = ("input", "output", "cached_input", "-"), 1
    if at(pricing, "prompt") is not None:
        keys, factor = ("prompt", "completion", "input_cache_read", "input_cache_write"), PER_PRICE
    fresh, output, cached, written = (_price(at(pricing, key), factor) for key in keys)
    if fresh is None or output is None or (factor == 1 and not fresh and not output):
        return None  # Together has zeros where a model is let by the hour
    return Prices(fresh, output, cached or None if factor == 1 else cached, written, THE_SERVER)


def _price(value: object, factor: int) -> float | None:
    """Read a price; None for what is none, such as the -1 of a model that varies."""
    try:
        price = float(value) if isinstance(value, str | int | float) else -1.0
    except (ValueError, OverflowError):
        return None
    return round(price * factor, 9) if math.isfinite(price) and price >= 0 else None


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    """The preset's: what it is, wherever it was found."""
    base_url: str
    models: tuple[ModelInfo, ...]
    """None where it has none, or tells only who has its key."""


class State(StrEnum):
    READY = "ready"
    """Its key is there, or it needs none."""
    RUNNING = "running here"
    NOT_RUNNING = "not running"
    NOT_LOOKED = "not looked for"
    """A server of this machine, before anybody looked."""
    NEEDS_KEY = "needs key"
    TO_FETCH = "to fetch"
    """A model that runs here, whose weights are not here yet."""
    NO_FILE = "no file"
    """The user's own model that is to run here cannot be read."""
    NOT_INSTALLED = "not installed"
    """The engine for models that run here."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    name: str
    title: str
    state: State
    note: str
    """Where its key is from, or what to do to use it, as a sentence; empty for nothing to say."""
    models: tuple[ModelInfo, ...]
    """Those that it listed, and those that the user configured, which come first."""
    fetched_at: datetime | None
    """When it listed them, for a list that was kept; None where none was, or it is of now."""
    has_key: bool = False
    """Whether a key was found for it, wherever."""
    key_variable: str = ""
    """The environment variable that may hold its key; empty where none is known."""

    @property
    def is_usable(self) -> bool:
        return self.state in (State.READY, State.RUNNING)

    @property
    def lists_models(self) -> bool:
        """Whether it has a server that is asked for its models."""
        preset = table.presets().get(self.name)
        return preset is None or not (preset.is_engine or preset is table.READER)

    @property
    def is_paid(self) -> bool:
        """Whether somebody may charge for it: no preset that answers on this machine does."""
        preset = table.presets().get(self.name)
        return preset is None or bool(preset.key_variables)

    def matching(self, *words: str) -> tuple[ModelInfo, ...]:
        """Find the models in whose names every word occurs, in capitals or not."""
        wanted = [word.casefold() for word in words]
        return tuple(
            model for model in self.models if all(word in model.name.casefold() for word in wanted)
        )
