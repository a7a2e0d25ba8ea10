"""Resolves the model in use from settings, stored lists, learnt facts and the bundled table.

A model's facts come from the settings, the list its server gave, what refusals taught, and the
bundled table, in this order; anything else is assumed. The provider, the small models, the embedder
and the session are made here, for the app and for commands.
"""

import asyncio
import os
from collections.abc import (
    Callable,
    Iterator,
    Sequence,
)
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jitchat import values, weights
from jitchat.errors import EmbedderUnavailable, SettingsError, StoreError, UsageError
from jitchat.index.cross_encoder import load_cross_encoder
from jitchat.index.embedder import Embedder
from jitchat.index.load_embedder import load_embedder
from jitchat.memory import Memory
from jitchat.metering import MeteredProvider, Metering
from jitchat.observing import Consent, ObserveRules
from jitchat.paths import Paths, absolute, locate
from jitchat.providers.catalogue import models, table
from jitchat.providers.catalogue.sizes import size_for
from jitchat.providers.provider import Endpoint, Provider, ServerQuirks
from jitchat.providers.reader import ReaderProvider
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.settings import Settings, keys, personas, sections
from jitchat.settings import small_models as small
from jitchat.settings.profiles import Profile, same_server
from jitchat.small_models.compactor import ModelCompactor
from jitchat.small_models.document_writer import ModelDocumentWriter
from jitchat.small_models.observer import ModelObserver
from jitchat.small_models.reranker import Reranker
from jitchat.small_models.small_model import SizedModel, SizedModels, SmallModel
from jitchat.spending import Spending, SpendingLimits
from jitchat.statements import Proposing
from jitchat.store.database import Database
from jitchat.store.models import ModelLessons, ModelLists, server_of
from jitchat.store.pins import ScreenState
from jitchat.store.requests import Purpose
from jitchat.store.store import local_now
from jitchat.synthesis.policy import Thresholds
from jitchat.text.figures import megabytes
from jitchat.text.sanitize import one_line
from jitchat.threads import left_at_exit
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.window import parts, tokens
from jitchat.window.budget import Budget
from jitchat.window.tool_prices import style_of
from jitchat.window.written import sent_tokens

if TYPE_CHECKING:
    from jitchat.providers.local.engine import EnginePlan

_Sized = TypeVar("_Sized", bound=SizedModels)
ASSUMED_LIMIT, ASSUMED_LOCAL_LIMIT = 8_192, 4_096
"""In tokens, for a model whose context size is unknown."""
_PURPOSES = {
    "picker": Purpose.PICKING,
    "summariser": Purpose.INDEX_LINES,
    "compactor": Purpose.COMPACTION,
    "observer": Purpose.OBSERVATION,
    "writer": Purpose.DOCUMENT,
}
"""The purpose of a small model's requests, by its section."""
_USUAL_CACHE_LIFE = timedelta(minutes=5)
"""Of providers that state none; the shortest that any states."""
_LOCAL_PATIENCE = 2.0
"""Seconds to wait for a local server to report its model's context size."""


@dataclass(frozen=True)  # without slots: cached properties need a `__dict__`
class ResolvedModel:
    """A model of a provider: its limit, prices, counter and small models."""

    settings: Settings
    profile: Profile
    name: str
    database: Database | None = None
    """None: stored lists and learnt facts are not used, and nothing is stored."""

    @cached_property
    def counter(self) -> tokens.TokenCounter:
        by_openai = self.profile.name == "openai"
        style = style_of(protocol_of(self.profile, self.name), by_openai=by_openai)
        return tokens.counter_for(self.name, os.environ, style)

    @cached_property
    def facts(self) -> models.ModelInfo:
        """The facts known without a request; raises StoreError if a stored list is unreadable."""
        listed = kept_models(self.profile, ModelLists(self.database))[0] if self.database else ()
        named = (info for info in listed if info.name == self.name)
        info = next(named, models.ModelInfo(self.name))
        if info.is_loaded:
            info = replace(info, limit=None)  # true only when the list was fetched
        return completed_facts(self.profile, info)

    @property
    def learnt(self) -> ModelLessons | None:
        """What was learnt from its server; None for the reader, which has no server."""
        if self.profile.is_reader or self.database is None:
            return None
        return ModelLessons(self.database, self.profile.base_url, self.name)

    @property
    def prices(self) -> table.Prices | None:
        """None if unknown. A model that certainly runs on this machine is free."""
        here = table.Prices(0.0, 0.0, source="runs here")
        if self.profile.is_reader:
            return here
        return self.facts.prices or (here if self.profile.stays_here else None)

    def prices_of(self, provider: str, model: str) -> table.Prices | None:
        """Return the prices of another model, by the same settings; None if unknown."""
        with suppress(SettingsError):
            return replace(self, profile=self.settings.profile(provider), name=model).prices
        return None

    @property
    def limit(self) -> values.Limit:
        """The context size, without asking the server."""
        own = self.profile.limit_of(self.name)
        if own is not None:
            return values.Limit(own, values.BY_USER)
        if self.profile.is_reader:
            return values.Limit(table.READER_LIMIT, values.OWN)
        if self.profile.is_engine:
            return values.Limit(engine_plan(self.profile, self.name).context, values.CHOSEN)
        assumed = ASSUMED_LOCAL_LIMIT if self.profile.is_local else ASSUMED_LIMIT
        reported = self.learnt.reported_limit() if self.learnt else None
        if reported is None:
            known = self.facts.limit
        else:
            limit, at = reported
            known = values.Limit(limit.tokens, f"{limit.source} on {at.astimezone():%Y-%m-%d}")
        return self._capped(known) or values.Limit(assumed, values.ASSUMED)

    def _capped(self, limit: values.Limit | None) -> values.Limit | None:
        """Prefer a limit learnt from a refusal to a larger one that the server reports."""
        taught = self.learnt.limit() if self.learnt else None
        if taught is None or (limit and (limit.source == values.LOADED or limit.tokens <= taught)):
            return limit
        return values.Limit(taught, values.LEARNT)

    async def ask_limit(self, *, patient: bool = False) -> values.Limit | None:
        """Ask the server for the model's context size, and store the answer.

        A remote server is asked only if nothing else is known or, with `patient` (in the
        background), also if the bundled table has a value. Returns None if no request was needed or
        the known limit stays. Raises SettingsError if the key cannot be obtained.
        """
        known = await asyncio.to_thread(lambda: self.limit)
        if not self._asks_for_limit(known, patient=patient):
            return None
        from jitchat.providers.catalogue import servers  # noqa: PLC0415  loads httpx

        endpoint = await asyncio.to_thread(endpoint_of, self.profile, self.name)
        if endpoint.wants_key and not endpoint.key:
            return None  # the server would refuse
        patience = servers.PATIENCE if patient or not self.profile.is_local else _LOCAL_PATIENCE
        reported = await servers.ask_limit(endpoint, self.profile.protocol, patience=patience)
        if reported is None:
            return (
                values.Limit(known.tokens, values.UNTOLD)
                if known.source == values.ASSUMED
                else None
            )
        if self.learnt is not None:
            with suppress(StoreError):  # no reason to refuse a window
                await asyncio.to_thread(
                    self.learnt.keep_reported_limit, reported, datetime.now(UTC)
                )
        return self._capped(reported)

    def _asks_for_limit(self, known: values.Limit, *, patient: bool = False) -> bool:
        if known.source in (values.BY_USER, values.OWN, values.CHOSEN):
            return False
        return self.profile.is_local or patient or known.source == values.ASSUMED

    def budget(self, limit: values.Limit | None = None) -> Budget:
        """Return the budget of a window. Raises SettingsError if the reserve leaves no room."""
        limit = limit or self.limit
        reserve, spend = self.profile.reserve_of(limit.tokens), self.settings.window
        if reserve >= limit.tokens:
            raise self._no_room(limit, reserve)
        size, source = spend.size, ""
        if size == values.AUTO:
            size = self._usual_size(limit.tokens)
            source = "usual for the model"
        order = values.RecallOrder(spend.order)
        return Budget(limit.tokens, reserve, size, limit.source, source, order)

    @property
    def _cache_life(self) -> timedelta | None:
        """How long what was sent is kept; an engine on this machine keeps it as long as it runs."""
        is_here = self.profile.is_reader or self.profile.is_local or self.profile.is_engine
        return None if is_here else table.cache_life(self.name) or _USUAL_CACHE_LIFE

    def _usual_size(self, limit: int) -> int:
        profile, prices = self.profile, self.prices
        return size_for(
            limit,
            self.name,
            is_reader=profile.is_reader,
            is_local=profile.is_local or profile.is_engine,
            has_cache=prices is not None and prices.has_cache,
        )

    @cached_property
    def asked_budget(self) -> Budget:
        """The budget for the server's current limit. Slow; not inside an event loop."""
        if not self._asks_for_limit(self.limit):
            return self.budget()
        return self.budget(asyncio.run(self.ask_limit()))

    def _no_room(self, limit: values.Limit, reserve: int) -> SettingsError:
        own, wide = "provider.reserve", f"the limit ({limit.tokens:,}, {limit.source})"
        if self.settings.provider.reserve is None or not self.profile.in_use:
            own = f"providers.{self.profile.name}.reserve"
        if self.profile.in_use and self.settings.provider.limit == limit.tokens:
            wide = f"provider.limit ({limit.tokens:,}, {self.settings.origin('provider.limit')})"
        return SettingsError(
            f"{self.settings.origin(own)}: {own} ({reserve:,}) leaves no room in {wide}.",
            "Lower the reserve, or raise the limit to the model's context size.",
        )

    async def count_exactly(
        self, messages: Sequence[values.Message], tools: tuple[values.Tool, ...] = ()
    ) -> int:
        """Have the provider count, with a request. Raises JitchatError if it cannot."""
        if self.profile.is_reader:
            raise UsageError(
                "The built-in reader has no counter of its own to ask.",
                "Choose a model with /model or --model.",
            )
        from jitchat.providers.catalogue import servers  # noqa: PLC0415  loads httpx

        endpoint = await left_at_exit(lambda: endpoint_of(self.profile, self.name))
        protocol = protocol_of(self.profile, self.name)
        return await servers.count_exactly(endpoint, protocol, messages, tools=tools)

    def open_session(
        self,
        memory: Memory,
        counter: tokens.TokenCounter | None = None,
        *,
        ask: bool = False,
        instructions: str = "",
        asking: Asking | None = None,
    ) -> Session:
        """Start a session with this model. Slow: see `make_provider`.

        With `ask`, the server is asked for an unknown limit first, which needs its own event loop.
        `instructions` are appended to the system prompt of the settings; `asking` overrides the
        setting.
        Raises what `make_provider` and `budget` raise.
        """
        counter, learnt, tools = counter or self.counter, self.learnt, self.settings.tools
        metering = self.metering(memory)
        persona = self.settings.personas.get(self.settings.chat.persona)
        longest = None if self.profile.is_reader else self.facts.max_output
        options = SessionOptions(
            budget=self.asked_budget if ask else self.budget(),
            system=system_text(self.settings, instructions),
            system_reason=personas.reason_of(self.settings),
            request=replace(self.profile.sampling, longest=longest),
            picker=self._small_model("picker", metering),
            reranker=make_reranker(self.settings),
            summariser=self._small_model("summariser", metering),
            prices=self.prices,
            prices_of=self.prices_of,
            learnt=learnt,
            toolbox=Toolbox(most_steps=tools.max_steps),
            large_result=tools.large_result,
            compactor=self.sized_models(ModelCompactor, "compactor", metering),
            observer=self.sized_models(ModelObserver, "observer", metering),
            observing=observe_rules(self.settings),
            writer=self.sized_models(ModelDocumentWriter, "writer", metering),
            offers=OfferRules(
                asking or Asking(tools.request_context),
                tools.tools == "all",
                persona.tools if persona is not None else None,
            ),
            proposing=Proposing(self.settings.memory.facts),
            reach=values.Reach(self.settings.memory.recall),
            spending=self.limits,
            sees=False if self.profile.is_reader else self.facts.pictures,
            takes_tools=True if self.profile.is_reader else self.facts.tools,
            cache_life=self._cache_life,
        )
        provider = make_provider(self.profile, self.name, counter, learnt)
        return Session(memory, provider, counter, options)

    @property
    def limits(self) -> SpendingLimits:
        return SpendingLimits(*astuple(self.settings.spending))

    def metering(self, memory: Memory | None = None) -> Metering | None:
        """Return where requests other than answers are recorded, and their spending limits.

        They belong to the conversation of `memory` if it is in the user's database, as those of
        the rot lab are not. None if there is no such database.
        """
        if self.database is None:
            return None
        is_here = memory is not None and memory.store.database is self.database
        here = memory.conversation.id if memory is not None and is_here else None
        now = memory.store.now if memory is not None else local_now
        return Spending(self.database, now, here, self.limits).metering()

    def metered(
        self,
        provider: Provider,
        purpose: Purpose,
        counter: tokens.TokenCounter | None = None,
        prices: table.Prices | None = None,
    ) -> MeteredProvider:
        """Return a provider that records its requests; for requests other than answers.

        `counter` and `prices` replace the model's own.
        """
        known = counter or self.counter, prices or self.prices
        return MeteredProvider(provider, purpose, self.metering(), *known)

    def _small_model(
        self, section: small.SmallModelSection, metering: Metering | None
    ) -> SmallModel | None:
        address = small.address_of(self.settings, section)
        if address is None:
            return None
        is_this_one = self.name == address.model and same_server(
            self.profile.base_url, address.profile.base_url
        )
        helper = replace(self, profile=address.profile, name=address.model)
        return replace(helper.small_model(address, section, metering), answers=is_this_one)

    def small_model(
        self,
        address: small.ModelAddress,
        section: small.SmallModelSection,
        metering: Metering | None,
    ) -> SmallModel:
        """Make this model as the small model of a section. Slow, and raises: `make_provider`."""
        made = make_small_model(address, section)
        # its own provider is named after its section
        recorded = metering and replace(metering, provider=self.profile.name)
        return replace(made, prices=self.prices, purpose=_PURPOSES[section], metering=recorded)

    def sized_models(
        self, kind: type[_Sized], section: small.SmallModelSection, metering: Metering | None
    ) -> _Sized | None:
        """Make what uses a section's model and its fallback, if it has one; None if none is set.

        The compactor's model is by default the picker's.
        """
        address = small.address_of(self.settings, section)
        if address is None and section == "compactor":
            address = small.address_of(self.settings, "picker")
        if address is None:
            return None
        own = getattr(self.settings, section)
        made = []
        for name in (address.model, own.fallback.strip()):
            if name:
                named = replace(address, model=name, timeout=own.timeout)
                helper = replace(self, profile=address.profile, name=name)
                model = helper.small_model(named, section, metering)
                made.append(SizedModel(model, helper.budget().limit))
        return kind(made)

    def warning(self) -> str:
        """Warn of doubtful settings and of models that may not answer; usually empty."""
        return " ".join(warning for warning in self._warnings() if warning)

    def _retired_settings(self) -> str:
        """Say once what became of settings of earlier versions that are set."""
        sentence = self.settings.retired()
        if sentence and self.database is not None:
            with suppress(StoreError):  # then it is said again
                state = ScreenState(self.database)
                is_said = state.get("retired") == sentence
                state.put("retired", sentence)
                return "" if is_said else sentence
        return sentence

    def _warnings(self) -> Iterator[str]:
        yield self._retired_settings()
        name = one_line(self.name)
        own, taught = self.profile.limit_of(self.name), self.learnt and self.learnt.limit()
        if own and taught and own > taught:
            yield (
                f"{name} once refused a window and stated a limit of {taught:,} tokens; the limit"
                f" is set to {own:,}, which is used. If windows are refused, lower or remove it."
            )
        if self.profile.is_reader:
            return
        retires, other_api = self.facts.retires, self.facts.other_api
        if retires is not None and retires <= datetime.now(UTC).date():
            yield (
                f"{name} was retired on {retires} ({table.source()}): choose another model if"
                " it does not answer."
            )
        if other_api == models.OTHER:
            yield (
                f"{name} is only available through an API that jitchat does not support"
                f" ({table.source()}): choose another model."
            )
        provider, slash, _ = self.name.partition("/")
        if slash and provider in self.settings.provider_names() and self._is_given_by_address():
            implied = self.settings.origin("provider.base_url")
            yield (
                f"The whole name {name} is sent to {server_of(self.profile.base_url)}, as set by"
                f" {implied}; {provider} is not used."
            )

    def _is_given_by_address(self) -> bool:
        """Whether a flag or variable names the model, and only an address implies its provider."""
        origin = self.settings.origin
        implied = origin("provider.name").removeprefix("implied by ")
        is_explicit = origin("provider.model").startswith(("--", "$"))
        return self.profile.in_use and is_explicit and implied == origin("provider.base_url")


def resolve_model(settings: Settings, database: Database | None = None) -> ResolvedModel:
    """Resolve the model that the settings choose. Raises SettingsError if they name none."""
    return ResolvedModel(settings, settings.in_use(), settings.model_name(), database)


def kept_models(
    profile: Profile, lists: ModelLists
) -> tuple[tuple[models.ModelInfo, ...], datetime | None]:
    """Read a provider's stored list and its time; an unreadable list counts as none."""
    kept = lists.get(server_of(profile.base_url)) if profile.base_url else None
    if kept is None:
        return (), None
    fetched_at, rows = kept
    try:
        return tuple(models.model_from(row) for row in rows), fetched_at
    except LookupError:
        return (), None


def completed_facts(profile: Profile, info: models.ModelInfo) -> models.ModelInfo:
    """Add facts from the bundled table; the user's settings take precedence."""
    known_provider = table.known_as(profile.name, profile.base_url)
    info = info.completed(known_provider)
    preset = table.presets().get(known_provider)
    if preset is None or not same_server(profile.base_url, preset.base_url):
        info = replace(
            info, other_api="", retires=None
        )  # a gateway may translate or still serve it
    limit, own = profile.limit_of(info.name), profile.facts_of(info.name)
    if limit is not None:
        info = replace(info, limit=values.Limit(limit, values.BY_USER))
    kinds = ("input", "output", "cached", "written")
    prices = {kind: getattr(own, f"{kind}_price") for kind in kinds}
    given = {kind: price for kind, price in prices.items() if price is not None}
    if given:
        known = info.prices or table.Prices(None, None)
        info = replace(info, prices=replace(known, **given, source=values.BY_USER, above=()))
    return info


def make_provider(
    profile: Profile, model: str, counter: tokens.TokenCounter, quirks: ServerQuirks | None = None
) -> Provider:
    """Make the provider. Slow: its key may come from a command.

    `quirks` are what was learnt earlier about this model on its server; None if they are not kept.
    Raises SettingsError if the key command fails or the keys file is unreadable.
    """
    if profile.is_reader:
        return ReaderProvider(
            lambda sent, tools, answer: (
                sent_tokens(counter, sent, tools),
                counter.count(answer),
            )
        )
    return _served(profile, model, quirks=quirks)


def _served(
    profile: Profile, model: str, name: str = "", quirks: ServerQuirks | None = None
) -> Provider:
    """Make a provider that has a server, named `name` or as its profile."""
    from jitchat.providers.http.provider import HttpProvider  # noqa: PLC0415  httpx: 100 ms, reader needs none
    from jitchat.providers.protocols.protocol import protocol_named  # noqa: PLC0415  likewise

    protocol, name = protocol_named(protocol_of(profile, model)), name or profile.name
    if not profile.is_engine:
        endpoint = replace(endpoint_of(profile, model), name=name)
        return HttpProvider(endpoint, protocol, quirks=quirks)
    from jitchat.providers.local.engine import engine_for  # noqa: PLC0415  only for such a model
    from jitchat.providers.local.provider import LocalProvider  # noqa: PLC0415  likewise

    endpoint = replace(profile.endpoint(model), name=name)
    return LocalProvider(endpoint, protocol, engine_for(engine_plan(profile, model)), quirks)


def protocol_of(profile: Profile, model: str) -> str:
    """Name a model's protocol: its provider's, or another API's that suits the model better."""
    facts = completed_facts(profile, models.ModelInfo(model))
    return facts.other_api if facts.other_api in sections.PROTOCOLS else profile.protocol


def engine_plan(profile: Profile, model: str) -> "EnginePlan":
    """Plan how llama.cpp runs a model on this machine.

    Raises SettingsError if the engine is not installed, or the model's file is missing or invalid.
    """
    from jitchat.providers.local import engine, gguf  # noqa: PLC0415  only for a model that runs here

    machine = engine.this_machine()
    file = gguf.read_model_file(model_path(model))
    return engine.plan_engine(file, machine, profile.limit_of(model))


def model_path(model: str) -> Path:
    """Find the file of a local model by the name of its weights or by its path."""
    wanted, folder = weights.known().get(model), locate(os.environ).models
    if wanted is None:
        return absolute(Path(model))
    found = weights.find(model, folder)
    if found is None:
        raise SettingsError(
            f"{wanted.title} is not on this machine.",
            f"Download it with /model or `jitchat models fetch {model}`"
            f" ({megabytes(wanted.download_size)}).",
        )
    if not _is_published(model, folder, found.stat().st_mtime_ns):
        raise SettingsError(
            f"{found} differs from the published file.",
            f"Run `jitchat models remove {model}`, then `jitchat models fetch {model}`.",
        )
    return found


@cache
def _is_published(name: str, folder: Path, changed_at: int) -> bool:  # noqa: ARG001  of the cache
    """Verify weights once until the file changes: it takes 0.1 s."""
    return weights.is_whole(name, folder)


def make_small_model(address: small.ModelAddress, section: small.SmallModelSection) -> SmallModel:
    """Make the model of a section. Slow, and raises, like `make_provider`."""
    profile = replace(address.profile, read_seconds=address.timeout)
    provider = _served(profile, address.model, section)
    return SmallModel(provider, tokens.counter_for(address.model, os.environ), address.timeout)


def endpoint_of(profile: Profile, model: str) -> Endpoint:
    """Return a model's endpoint with its key. Slow, and raises, like `make_provider`.

    A local model's server is started; raises Unreachable if that fails.
    """
    if profile.is_engine:
        from jitchat.providers.local.engine import engine_for  # noqa: PLC0415  only for such a model

        base_url, key = engine_for(engine_plan(profile, model)).server()
        return replace(profile, base_url=base_url).endpoint(model, key)
    found = key_of(profile)
    return profile.endpoint(model, found.key, found.renew) if found else profile.endpoint(model)


def key_of(profile: Profile) -> keys.FoundKey | None:
    """Find a provider's key in the environment and files; raises like `make_provider`."""
    return keys.find_key(profile, os.environ, locate(os.environ).keys)


def lacks_key(profile: Profile) -> bool:
    """Whether the provider requires a key and none is set. May be slow."""
    return profile.requires_key and key_of(profile) is None


def unencrypted_key(profile: Profile) -> str:
    """Warn of a key sent unencrypted; usually empty. Raises like `make_provider`."""
    if profile.exposes_key and (key_of(profile) or profile.headers):
        return f"The key would be sent to {profile.exposes_key} unencrypted: use https."
    return ""


def unencrypted_keys(settings: Settings) -> str:
    """Warn of the first key sent unencrypted, of the model in use and the small models."""
    addresses = [small.address_of(settings, section) for section in small.SMALL_MODELS]
    profiles = (settings.in_use(), *(address.profile for address in addresses if address))
    return next(filter(None, map(unencrypted_key, profiles)), "")


def system_text(settings: Settings, instructions: str = "") -> str:
    """Return the system prompt: the settings' or the built-in one, then further instructions."""
    return "\n\n".join(filter(None, (settings.chat.system or parts.SYSTEM_PROMPT, instructions)))


def observe_rules(settings: Settings) -> ObserveRules:
    """Return the rules for when turns are observed."""
    wanted = settings.observer
    thresholds = Thresholds(wanted.observe, wanted.reflect)
    return ObserveRules(thresholds, Consent(wanted.consent))


def make_reranker(settings: Settings) -> Reranker | None:
    """Make the reranker; None if none is set. Its model is loaded later."""
    wanted = settings.reranker
    if not wanted.model:
        return None
    folder = absolute(Path(wanted.path)) if wanted.path else None
    cache = locate(os.environ).models
    load = partial(load_cross_encoder, wanted.model, folder, cache)
    return Reranker(wanted.model, load, wanted.timeout)


def make_embedder(
    settings: Settings, paths: Paths, warn: Callable[[EmbedderUnavailable], object] = lambda _: None
) -> Embedder:
    """Load the embedder of the settings if it is on this machine; see `load_embedder`."""
    wanted = settings.embedder
    folder = absolute(Path(wanted.path)) if wanted.path else None
    return load_embedder(wanted.name, wanted.model, folder, paths.models, warn)
