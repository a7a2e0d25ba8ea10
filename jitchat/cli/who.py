"""The composition root's part on one model that answers: what is known of it, and what it gets.

What is known stands in the settings, in the lists that its server gave, in what it taught, in
the bundled table, in this order; only then is anything assumed.
"""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from jitchat.cli.answerers import endpoint_of
from jitchat.cli.model_choices import facts_of
from jitchat.errors import SettingsError, StoreError
from jitchat.providers.catalogue.models import ModelInfo
from jitchat.providers.catalogue.table import READER_LIMIT, Prices, source
from jitchat.settings import Settings
from jitchat.settings.profiles import Profile
from jitchat.store.database import Database
from jitchat.store.models import ModelLessons, server_of
from jitchat.text.sanitize import one_line
from jitchat.values import ASSUMED, BY_USER, LEARNT, LOADED, OWN, UNTOLD, Limit
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter, counter_for

ASSUMED_LIMIT, ASSUMED_LOCAL_LIMIT = 8_192, 4_096
"""In tokens, for a model whose context size nobody told us."""
_HERE = 2.0
"""Seconds that a server on this machine has to say how much its model takes."""


@dataclass(frozen=True)  # without slots: what is known is looked up once, and kept
class Who:
    """A model of a provider, and what is kept of it."""

    settings: Settings
    profile: Profile
    model: str
    database: Database | None = None
    """None: nothing that was kept is looked at, and nothing will be kept."""

    @property
    def learnt(self) -> ModelLessons | None:
        """What its server taught; None for the reader, who has no server."""
        if self.profile.is_reader or self.database is None:
            return None
        return ModelLessons(self.database, self.profile.base_url, self.model)

    def counter(self) -> TokenCounter:
        """Choose the best counter for it."""
        return counter_for(self.model, os.environ)

    def limit(self) -> Limit:
        """Say how much it takes, without asking anybody."""
        own = self.profile.limit_of(self.model)
        if own is not None:
            return Limit(own, BY_USER)
        if self.profile.is_reader:
            return Limit(READER_LIMIT, OWN)
        assumed = ASSUMED_LOCAL_LIMIT if self.profile.is_local else ASSUMED_LIMIT
        known = self._told() or self.facts.limit
        return self.bounded(known) or Limit(assumed, ASSUMED)

    def _told(self) -> Limit | None:
        """Recall what its server said when it was asked last, with the day."""
        found = self.learnt.reported_limit() if self.learnt else None
        if found is None:
            return None
        limit, at = found
        return Limit(limit.tokens, f"{limit.source} on {at.astimezone():%Y-%m-%d}")

    def doubt(self) -> str:
        """Warn of what is set and may not be meant, or may not answer; empty where nothing is."""
        told = (self._limit_doubt(), self._retirement(), self._other_api(), self._verbatim())
        return " ".join(filter(None, told))

    def _limit_doubt(self) -> str:
        own, taught = self.profile.limit_of(self.model), self.learnt and self.learnt.limit()
        if own is None or not taught or own <= taught:
            return ""
        return (
            f"{one_line(self.model)} took {taught:,} tokens when it refused a window; the limit is"
            f" set to {own:,} and that counts. If windows are refused, lower it or take it out."
        )

    def _retirement(self) -> str:
        day = None if self.profile.is_reader else self.facts.retires
        if day is None or day > datetime.now(UTC).date():
            return ""
        return (
            f"{one_line(self.model)} was retired on {day} ({source()}): choose another where it"
            " does not answer."
        )

    def _other_api(self) -> str:
        if self.profile.is_reader or not self.facts.other_api:
            return ""
        api = "OpenAI's Responses API" if self.facts.other_api == "responses" else "another API"
        return (
            f"{one_line(self.model)} answers only on {api}, which jitchat does not speak"
            f" ({source()}): choose another model."
        )

    def _verbatim(self) -> str:
        """Tell of a PROVIDER/MODEL that is taken for a name, for an address is given."""
        provider, slash, _ = self.model.partition("/")
        implied = self.settings.origin("provider.name").removeprefix("implied by ")
        is_given = self.settings.origin("provider.model").startswith(("--", "$"))
        if not (slash and is_given and provider in self.settings.provider_names()):
            return ""
        if not self.profile.in_use or implied != self.settings.origin("provider.base_url"):
            return ""
        return (
            f"{one_line(self.model)} is asked for by that name at"
            f" {server_of(self.profile.base_url)}, which {implied} gives, not of {provider}."
        )

    def bounded(self, told: Limit | None) -> Limit | None:
        """Let what the server taught by a refusal win over a larger figure that it tells."""
        taught = self.learnt.limit() if self.learnt else None
        if taught is None or (told and (told.source == LOADED or told.tokens <= taught)):
            return told
        return Limit(taught, LEARNT)

    def budget(self, limit: Limit | None = None) -> Budget:
        """Say what a window for it may spend.

        Raises:
            SettingsError: The reserve leaves nothing of the limit.

        """
        limit = limit or self.limit()
        reserve, spend = self.profile.reserve_of(limit.tokens), self.settings.window
        if reserve >= limit.tokens:
            raise self._no_room(limit, reserve)
        return Budget(
            limit.tokens, reserve, spend.recent, spend.retrieved, spend.index, limit.source
        )

    def prices(self) -> Prices | None:
        """Say what it costs; None where nobody knows. What is sure to run here is free."""
        here = Prices(0.0, 0.0, source="runs here")
        if self.profile.is_reader:
            return here
        return self.facts.prices or (here if self.profile.is_local_preset else None)

    @property
    def longest_answer(self) -> int | None:
        """How long an answer it gives, in tokens; None where nobody knows."""
        return None if self.profile.is_reader else self.facts.max_output

    async def asked_limit(self, *, patient: bool = False) -> Limit | None:
        """Ask its server how much it takes, and keep what it says; None where that is settled.

        A server that is not on this machine is asked where nothing else is known; by who is
        `patient`, because nobody waits, also where the bundled table knows. Where it does not say,
        what is known stands.

        Raises:
            SettingsError: Its key cannot be had.

        """
        known = await asyncio.to_thread(self.limit)
        if not self._is_open(known, patient=patient):
            return None
        from jitchat.providers.catalogue.limits import PATIENCE, ask_limit  # noqa: PLC0415  loads httpx

        endpoint = await asyncio.to_thread(endpoint_of, self.profile, self.model)
        if endpoint.wants_key and not endpoint.key:
            return None  # nobody would say anything
        patience = PATIENCE if patient or not self.profile.is_local else _HERE
        told = await ask_limit(endpoint, self.profile.protocol, patience=patience)
        if told is None:
            return Limit(known.tokens, UNTOLD) if known.source == ASSUMED else None
        await asyncio.to_thread(self._keep, told)
        return self.bounded(told)

    @cached_property
    def asked_budget(self) -> Budget:
        """What a window for it may spend, as its server has it now; for where no loop runs. Slow.

        Raises:
            SettingsError: See `budget` and `asked_limit`.

        """
        if not self._is_open(self.limit()):
            return self.budget()
        return self.budget(asyncio.run(self.asked_limit()))

    def _is_open(self, known: Limit, *, patient: bool = False) -> bool:
        """Whether its server is to be asked for its limit."""
        if known.source in (BY_USER, OWN):
            return False
        return self.profile.is_local or patient or known.source == ASSUMED

    def _keep(self, told: Limit) -> None:
        if self.learnt is not None:
            with suppress(StoreError):  # it is a help, and no reason to refuse a window
                self.learnt.keep_reported_limit(told, datetime.now(UTC))

    @cached_property
    def facts(self) -> ModelInfo:
        """What is known of it without asking anybody, as it was when first looked at.

        Raises:
            StoreError: The kept lists cannot be read.

        """
        return facts_of(self.profile, self.model, self.database)

    def _no_room(self, limit: Limit, reserve: int) -> SettingsError:
        own, wide = "provider.reserve", f"the limit ({limit.tokens:,}, {limit.source})"
        if self.settings.provider.reserve is None or not self.profile.in_use:
            own = f"providers.{self.profile.name}.reserve"
        if self.profile.in_use and self.settings.provider.limit == limit.tokens:
            wide = f"provider.limit ({limit.tokens:,}, {self.settings.origin('provider.limit')})"
        return SettingsError(
            f"{self.settings.origin(own)}: {own} ({reserve:,}) leaves nothing of {wide}.",
            "Lower the reserve, or raise the limit to the model's context size.",
        )


def who_answers(settings: Settings, database: Database | None = None) -> Who:
    """Name the model that the settings choose.

    Raises:
        SettingsError: They name none.

    """
    return Who(settings, settings.in_use(), settings.model_name(), database)
