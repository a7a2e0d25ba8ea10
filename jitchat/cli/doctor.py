"""`jitchat doctor`: whether each configured provider answers, and what is wrong where not."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import click

from jitchat.cli import compose
from jitchat.cli.answerers import endpoint_of, key_of, make_provider
from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.keys import require_known_keys
from jitchat.cli.opening import quiet_libraries
from jitchat.cli.options import Flags, SharingCommand, common_options
from jitchat.cli.output import emit, painted, say_json
from jitchat.cli.who import Who
from jitchat.errors import JitchatError, NotAnAnswer, ProviderError, Unreachable
from jitchat.paths import Paths
from jitchat.providers.catalogue import lists
from jitchat.providers.catalogue.lists import LocalServer
from jitchat.providers.catalogue.table import READER
from jitchat.providers.http.client import CERTIFICATES
from jitchat.providers.provider import (
    Delta,
    Finished,
    Reasoning,
    Retrying,
    ToolCall,
)
from jitchat.settings import Settings
from jitchat.settings.keys import KeysFile, key_sources
from jitchat.settings.load import unknown_variables
from jitchat.settings.profiles import Profile
from jitchat.settings.small_models import require_addresses
from jitchat.store.database import Database
from jitchat.text.figures import plural
from jitchat.values import Message, Role
from jitchat.window.tokens import EstimateCounter, counter_for

_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}


@click.command("doctor", cls=SharingCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def doctor_command(flags: Flags, names: tuple[str, ...], as_json: bool) -> int:
    """Check that each configured provider answers.

    Sends one tiny request ("Say OK.") to each provider that is named in the configuration, has a
    key or runs on this machine, and stops the answer at its first piece. With NAMEs, only to
    those. The exit code is 1 where one of them fails.
    """
    settings = flags.settings(chosen_in_the_app(flags.paths().database))
    around, asked, keyless = _checked(flags, settings, names)
    if as_json:
        say_json(_fields(around, asked, keyless))
    else:
        _print([*around, *asked])
        _print_keyless(keyless)
    return 1 if any(each.ok is False for each in (*around, *asked)) else 0


def _checked(
    flags: Flags, settings: Settings, names: Sequence[str]
) -> tuple[list[Finding], list[Finding], list[Profile]]:
    """Look around, and ask: (what was found around, by whom it was answered, who lacks a key)."""
    import asyncio  # noqa: PLC0415  30 ms, not needed to print help

    quiet_libraries()
    if names:
        profiles = [settings.profile(name) for name in dict.fromkeys(names)]
        return [], asyncio.run(ask_all(settings, profiles)), []
    paths = flags.paths()
    around = look_around(settings, paths, os.environ)
    local = asyncio.run(_local(settings))
    chosen = worth_asking(settings, os.environ, paths.keys, local)
    answered = asyncio.run(ask_all(settings, chosen))
    return around, answered, without_key(settings, chosen)


async def _local(settings: Settings) -> Sequence[LocalServer]:
    from jitchat.providers.catalogue.lists import find_local  # noqa: PLC0415  loads httpx

    return await find_local(
        moved={each.name: each.base_url for each in settings.profiles() if each.is_local}
    )


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(each.name) for each in findings)
    for each in findings:
        mark, colour = _MARKS[each.ok]
        sentence = f"{each.told} {each.remedy}".strip()
        emit(f"{painted(mark, colour)} {painted(f'{each.name:<{width}}  {sentence}', None)}")


def _print_keyless(profiles: Iterable[Profile]) -> None:
    listed = ", ".join(f"{each.name} ({each.key_variables[0]})" for each in profiles)
    if listed:
        emit(painted(f"Without a key: {listed}.", None))


def _fields(
    around: Iterable[Finding], asked: Iterable[Finding], keyless: Iterable[Profile]
) -> dict[str, object]:
    return {
        "checks": [_finding(each) for each in around],
        "providers": [
            _finding(each) | {"model": each.model, "seconds": each.seconds} for each in asked
        ],
        "without_key": {each.name: each.key_variables[0] for each in keyless},
    }


def _finding(found: Finding) -> dict[str, object]:
    return {"name": found.name, "ok": found.ok, "told": found.told, "remedy": found.remedy}


_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy")


def look_around(settings: Settings, paths: Paths, environ: Mapping[str, str]) -> list[Finding]:
    """Look at everything. Slow: an embedding model is loaded."""
    return [
        *_configuration(settings, paths, environ),
        _keys_file(paths.keys),
        _database(paths.database),
        _embedder(settings, paths),
        _vocabulary(settings, environ),
        *_network(environ),
    ]


def _configuration(
    settings: Settings, paths: Paths, environ: Mapping[str, str]
) -> Iterator[Finding]:
    name = "configuration"
    try:
        require_known_keys(settings)
        require_addresses(settings)
    except JitchatError as error:
        yield Finding(name, False, error.what, error.remedy)
    else:
        there = "" if paths.config.exists() else " is not there, so every setting is the default"
        yield Finding(name, True, f"{paths.config}{there}")
    for warning in unknown_variables(environ):
        yield Finding(name, None, warning)


def _keys_file(path: Path) -> Finding:
    file = KeysFile(path)
    try:
        stored = len(file.keys())
    except JitchatError as error:
        return Finding("keys file", False, error.what, error.remedy)
    if warning := file.warning():
        return Finding("keys file", False, warning)
    told = f"{plural(stored, 'key')} in {path}" if path.exists() else "no key is stored"
    return Finding("keys file", True, told)


def _database(path: Path) -> Finding:
    if not path.exists():
        return Finding("database", True, f"{path} is made when the chat opens")
    try:
        database = Database(path)
    except JitchatError as error:
        return Finding("database", False, error.what, error.remedy)
    database.close()
    if (refusal := database.refusal) is not None:
        return Finding("database", False, refusal.what, refusal.remedy)
    if warning := database.warning():
        return Finding("database", None, warning)
    return Finding("database", True, str(path))


def _embedder(settings: Settings, paths: Paths) -> Finding:
    refused: list[JitchatError] = []
    try:
        found = compose.make_embedder(settings, paths, refused.append)
    except JitchatError as error:
        refused = [error]
    if refused:
        return Finding("embedder", False, refused[0].what, refused[0].remedy)
    return Finding("embedder", True, found.id)


def _vocabulary(settings: Settings, environ: Mapping[str, str]) -> Finding:
    model = settings.in_use().model
    counter = counter_for(model, environ)
    if counter.exact:
        return Finding("vocabulary", True, f"{counter.name}, which counts {model} exactly")
    of = f" of {model}" if model else ""
    return Finding("vocabulary", None, f"{counter.name}: tokens{of} are estimated, shown with ~")


def _network(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Name each variable that keeps every request from being sent."""
    for name in _PROXIES:
        if environ.get(name) and (why := _proxy_fault(environ[name])):
            yield Finding("network", False, f"${name} {why}.", "Correct it, or unset it.")
    for name in CERTIFICATES:
        is_folder = name == "SSL_CERT_DIR"
        what, is_there = ("folder", os.path.isdir) if is_folder else ("file", os.path.exists)
        if environ.get(name) and not is_there(environ[name]):
            yield Finding("network", False, f"${name} names no {what}.", "Correct it, or unset it.")


def _proxy_fault(address: str) -> str:
    """Say why no request can go through a proxy, without its login; empty where it may."""
    import httpx  # noqa: PLC0415  100 ms, only where there is a proxy

    try:
        httpx.AsyncClient(proxy=address, trust_env=False, verify=False)  # noqa: S501  nothing is sent
    except ImportError:
        return "names a SOCKS proxy, for which the package socksio is missing"
    except (ValueError, OSError, httpx.InvalidURL):
        return "is not the address of a proxy (http://HOST:PORT)"
    return ""


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
    models = await lists.fetch_models(endpoint, profile.protocol)
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
