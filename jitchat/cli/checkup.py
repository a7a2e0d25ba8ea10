"""Whether providers answer: one tiny request each, end to end, through the real loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from jitchat.cli.answerers import endpoint_of, key_of, make_provider
from jitchat.cli.who import Who
from jitchat.errors import JitchatError, NotAnAnswer, ProviderError, Unreachable
from jitchat.providers.catalogue.lists import fetch_models
from jitchat.providers.catalogue.local import LocalServer
from jitchat.providers.catalogue.presets import READER
from jitchat.providers.provider import (
    Delta,
    Finished,
    Reasoning,
    Retrying,
    ToolCall,
)
from jitchat.settings import Settings
from jitchat.settings.keys import key_sources
from jitchat.settings.profile import Profile
from jitchat.turn import Message, Role
from jitchat.window.tokens import EstimateCounter

SECONDS = 20.0
"""How long one provider may take."""
_ASKED = (Message(Role.USER, "Say OK."),)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check came to."""

    name: str
    """A provider's name, or what else was looked at."""
    ok: bool | None
    """None: neither good nor bad, but worth knowing."""
    told: str
    remedy: str = ""
    """What to do, as a sentence; empty where nothing is to be done."""
    model: str | None = None
    seconds: float | None = None
    """To the first piece of the answer."""


def worth_asking(
    settings: Settings,
    environ: Mapping[str, str],
    keys_file: Path,
    local: Iterable[LocalServer],
) -> list[Profile]:
    """List who is configured: the reader, who is named, who has a key, which server is there.

    Raises:
        SettingsError: The keys file cannot be read.

    """
    there = {each.name: each.base_url for each in local}
    chosen, profiles = [], settings.profiles()
    keyed = key_sources(profiles, environ, keys_file)
    for profile in profiles:
        named = profile.configured or profile.name in settings.addresses
        if named or keyed[profile.name]:
            chosen.append(profile)
        elif profile.name in there:
            chosen.append(replace(profile, base_url=there[profile.name], is_local=True))
    return chosen


def without_key(settings: Settings, asked: Sequence[Profile]) -> list[Profile]:
    """List the providers that a key would add."""
    names = {each.name for each in asked}
    return [each for each in settings.profiles() if each.requires_key and each.name not in names]


async def ask_all(settings: Settings, profiles: Iterable[Profile]) -> list[Finding]:
    """Ask them at the same time."""
    return await asyncio.gather(*(ask(settings, profile) for profile in profiles))


async def ask(settings: Settings, profile: Profile) -> Finding:
    """Send one tiny request, and stop the answer at its first piece."""
    model = profile.model
    try:
        await asyncio.to_thread(_require_key, profile)
        async with asyncio.timeout(SECONDS):
            model = model or await _first_model(profile)
            seconds = await _first_piece(Who(settings, profile, model))
    except TimeoutError:
        late = f"{profile.title} did not begin to answer within {SECONDS:.0f} seconds."
        return Finding(profile.name, False, late, "Try again; it may be busy.", model or None)
    except JitchatError as error:
        return Finding(profile.name, False, error.what, error.remedy, model or None)
    if profile.protocol == READER.protocol:
        return Finding(profile.name, True, "quotes what it finds in the window", model=model)
    found = "" if profile.model else ", the first of its list"
    told = f"{model}{found}: answered after {seconds:.2f} s"
    return Finding(profile.name, True, told, model=model, seconds=round(seconds, 3))


def _require_key(profile: Profile) -> None:
    """Find its key, so that a slow command does not count as a slow answer.

    Raises:
        JitchatError: It cannot be had, or is known to be wanted and there is none.

    """
    if key_of(profile) is None and profile.requires_key:
        raise ProviderError(f"{profile.title} wants a key, and there is none.", profile.key_help)


async def _first_model(profile: Profile) -> str:
    """Ask the server which models it has.

    Raises:
        ProviderError: It has none, or does not say.

    """
    endpoint = await asyncio.to_thread(endpoint_of, profile, "")
    models = await fetch_models(endpoint, profile.protocol)
    if not models:
        raise NotAnAnswer(
            f"{profile.title} is there, but has no model.",
            f"Load one there, or name one under [providers.{profile.name}].",
        )
    return models[0].name


async def _context(who: Who) -> int | None:
    """Find the context size that the chat would ask Ollama for: another one loads it anew."""
    if who.profile.protocol != "ollama":
        return None
    asked = await who.asked_limit()
    limit = asked if asked is not None else await asyncio.to_thread(who.limit)
    return limit.tokens


async def _first_piece(who: Who) -> float:
    """Ask, and say how many seconds the first piece took.

    Raises:
        ProviderError: There is none.

    """
    profile = who.profile
    provider = await asyncio.to_thread(make_provider, profile, who.model, EstimateCounter())
    options = replace(profile.sampling, context=await _context(who))
    began, why = time.monotonic(), ""
    try:
        async with aclosing(provider.stream(_ASKED, options)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Delta | Reasoning | ToolCall | Finished):
                    return time.monotonic() - began
                if isinstance(piece, Retrying):
                    why = piece.why
                    break
    finally:
        await provider.aclose()
    if why:
        raise Unreachable(f"{profile.title} does not answer now: {why}.", "Try again in a while.")
    raise NotAnAnswer(f"{profile.title} answered with nothing.", "Try another model.")
