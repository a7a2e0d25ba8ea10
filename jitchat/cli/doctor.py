"""`jitchat doctor`: whether each configured provider answers, and what is wrong where not."""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import click
import httpx

from jitchat import models
from jitchat.cli import cold_store, options, output
from jitchat.errors import JitchatError, NotAnAnswer, ProviderError, Unreachable
from jitchat.paths import Paths
from jitchat.providers import provider as pieces
from jitchat.providers.catalogue import servers
from jitchat.providers.http.client import CERTIFICATES
from jitchat.settings import Settings, keys, load, small_models
from jitchat.settings.profiles import Profile
from jitchat.store.database import Database
from jitchat.store.requests import Purpose
from jitchat.text.figures import plural
from jitchat.values import Message, Role, ToolCall
from jitchat.window.tokens import EstimateCounter, counter_for

SECONDS = 20.0
"""How long one provider may take."""
_QUESTION = (Message(Role.USER, "Say OK."),)
_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}
_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy")


@dataclass(frozen=True, slots=True)
class Finding:
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

    def fields(self) -> dict[str, object]:
        return {"name": self.name, "ok": self.ok, "told": self.told, "remedy": self.remedy}


def _refused(name: str, error: JitchatError, model: str | None = None) -> Finding:
    return Finding(name, False, error.what, error.remedy, model)


@click.command("doctor", cls=options.SharingCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.common_options
def doctor_command(flags: options.Flags, names: tuple[str, ...], as_json: bool) -> int:
    """Check that each configured provider answers.

    Sends one tiny request ("Say OK.") to each provider that is named in the configuration, has a
    key or runs on this machine, and stops the answer at its first piece. With NAMEs, only to
    those. The exit code is 1 where one of them fails.
    """
    settings, paths = cold_store.load_settings(flags), flags.paths()
    cold_store.quiet_libraries()
    checks: list[Finding] = []
    keyless: dict[str, str] = {}
    if names:
        profiles = [settings.profile(name) for name in dict.fromkeys(names)]
    else:
        checks = [
            *_configuration(settings, paths),
            _keys_file(paths.keys),
            _database(paths.database),
            _embedder(settings, paths),  # slow: a model is loaded
            _vocabulary(settings),
            *_network(),
        ]
        profiles = _configured(settings, paths.keys)
        asked = {profile.name for profile in profiles}
        keyless = {
            profile.name: profile.key_variables[0]
            for profile in settings.profiles()
            if profile.requires_key and profile.name not in asked
        }
    with _usage_log(paths.database) as database:
        answers = asyncio.run(_ask_all(settings, profiles, database))
    if as_json:
        output.say_json(
            {
                "checks": [check.fields() for check in checks],
                "providers": [
                    answer.fields() | {"model": answer.model, "seconds": answer.seconds}
                    for answer in answers
                ],
                "without_key": keyless,
            }
        )
    else:
        _print([*checks, *answers])
        if keyless:
            listed = ", ".join(f"{name} ({variable})" for name, variable in keyless.items())
            output.emit(output.painted(f"Without a key: {listed}.", None))
    return 1 if any(finding.ok is False for finding in (*checks, *answers)) else 0


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark, colour = _MARKS[finding.ok]
        line = f"{finding.name:<{width}}  {finding.told} {finding.remedy}".rstrip()
        output.emit(f"{output.painted(mark, colour)} {output.painted(line, None)}")


def _configuration(settings: Settings, paths: Paths) -> Iterator[Finding]:
    name = "configuration"
    try:
        cold_store.check_key_bindings(settings)
        small_models.require_addresses(settings)
    except JitchatError as error:
        yield _refused(name, error)
    else:
        there = "" if paths.config.exists() else " is not there, so every setting is the default"
        yield Finding(name, True, f"{paths.config}{there}")
    for warning in load.unknown_variables(os.environ):
        yield Finding(name, None, warning)


def _keys_file(path: Path) -> Finding:
    file = keys.KeysFile(path)
    try:
        stored = len(file.keys())
    except JitchatError as error:
        return _refused("keys file", error)
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
        return _refused("database", error)
    database.close()
    if (refusal := database.refusal) is not None:
        return _refused("database", refusal)
    if warning := database.warning():
        return Finding("database", None, warning)
    return Finding("database", True, str(path))


@contextmanager
def _usage_log(path: Path) -> Iterator[Database | None]:
    """Open the database in which requests are recorded; None where none is there, or readable."""
    database = None
    with suppress(JitchatError):
        database = Database(path) if path.exists() else None
    try:
        yield database
    finally:
        if database is not None:
            database.close()


def _embedder(settings: Settings, paths: Paths) -> Finding:
    errors: list[JitchatError] = []
    try:
        embedder = models.make_embedder(settings, paths, errors.append)
    except JitchatError as error:
        errors = [error]
    return _refused("embedder", errors[0]) if errors else Finding("embedder", True, embedder.id)


def _vocabulary(settings: Settings) -> Finding:
    model = settings.in_use().model
    counter = counter_for(model, os.environ)
    if counter.exact:
        return Finding("vocabulary", True, f"{counter.name}, which counts {model} exactly")
    of = f" of {model}" if model else ""
    return Finding("vocabulary", None, f"{counter.name}: tokens{of} are estimated, shown with ~")


def _network() -> Iterator[Finding]:
    """Name each variable that keeps every request from being sent."""
    for name in _PROXIES:
        if os.environ.get(name) and (why := _proxy_fault(os.environ[name])):
            yield Finding("network", False, f"${name} {why}.", "Correct it, or unset it.")
    for name in CERTIFICATES:
        is_folder = name == "SSL_CERT_DIR"
        what, is_there = ("folder", os.path.isdir) if is_folder else ("file", os.path.exists)
        if os.environ.get(name) and not is_there(os.environ[name]):
            yield Finding("network", False, f"${name} names no {what}.", "Correct it, or unset it.")


def _proxy_fault(address: str) -> str:
    """Say why no request can go through a proxy, without its login; empty where it may."""
    try:
        httpx.AsyncClient(proxy=address, trust_env=False, verify=False)  # noqa: S501  nothing is sent
    except ImportError:
        return "names a SOCKS proxy, for which the package socksio is missing"
    except (ValueError, OSError, httpx.InvalidURL):
        return "is not the address of a proxy (http://HOST:PORT)"
    return ""


def _configured(settings: Settings, keys_file: Path) -> list[Profile]:
    """List who is configured: the reader, who is named, who has a key, which server is there."""
    profiles = settings.profiles()
    moved = {profile.name: profile.base_url for profile in profiles if profile.is_local}
    local = asyncio.run(servers.find_local(moved=moved))
    running = {server.name: server.base_url for server in local}
    configured = []
    keyed = keys.key_sources(profiles, os.environ, keys_file)
    for profile in profiles:
        named = profile.configured or profile.name in settings.addresses
        if named or keyed[profile.name]:
            configured.append(profile)
        elif profile.name in running:
            configured.append(replace(profile, base_url=running[profile.name], is_local=True))
    return configured


async def _ask_all(
    settings: Settings, profiles: Iterable[Profile], database: Database | None
) -> list[Finding]:
    return await asyncio.gather(*(_ask(settings, profile, database) for profile in profiles))


async def _ask(settings: Settings, profile: Profile, database: Database | None) -> Finding:
    model = profile.model
    try:
        # first, so that a slow command for a key does not count as a slow answer
        if await asyncio.to_thread(models.lacks_key, profile):
            what = f"{profile.title} wants a key, and there is none."
            raise ProviderError(what, profile.key_help)
        async with asyncio.timeout(SECONDS):
            model = model or await _first_model(profile)
            asked = models.ResolvedModel(settings, profile, model, database)
            seconds = await _first_piece(asked)
    except TimeoutError:
        late = f"{profile.title} did not begin to answer within {SECONDS:.0f} seconds."
        return Finding(profile.name, False, late, "Try again; it may be busy.", model or None)
    except JitchatError as error:
        return _refused(profile.name, error, model or None)
    if profile.is_reader:
        return Finding(profile.name, True, "quotes what it finds in the window", model=model)
    of_list = "" if profile.model else ", the first of its list"
    told = f"{model}{of_list}: answered after {seconds:.2f} s"
    return Finding(profile.name, True, told, model=model, seconds=round(seconds, 3))


async def _first_model(profile: Profile) -> str:
    endpoint = await asyncio.to_thread(models.endpoint_of, profile, "")
    listed = await servers.fetch_models(endpoint, profile.protocol)
    if not listed:
        raise NotAnAnswer(
            f"{profile.title} is there, but has no model.",
            f"Load one there, or name one under [providers.{profile.name}].",
        )
    return listed[0].name


async def _first_piece(model: models.ResolvedModel) -> float:
    profile, context = model.profile, None
    if profile.protocol == "ollama":  # another size than the chat asks for loads it anew
        context = (await model.ask_limit() or model.limit).tokens
    counter = EstimateCounter()
    provider = await asyncio.to_thread(models.make_provider, profile, model.name, counter)
    if not profile.is_reader:
        provider = model.metered(provider, Purpose.DOCTOR, counter)
    sampling = replace(profile.sampling, context=context)
    began = time.monotonic()
    answering = pieces.ReplyDelta | pieces.ReasoningDelta | ToolCall | pieces.Finished
    try:
        async with aclosing(provider.stream(_QUESTION, sampling)) as answer:
            async for piece in answer:
                if isinstance(piece, answering):
                    return time.monotonic() - began
                if isinstance(piece, pieces.RetryScheduled):
                    late = f"{profile.title} does not answer now: {piece.why}."
                    raise Unreachable(late, "Try again in a while.")
    finally:
        await provider.aclose()
    raise NotAnAnswer(f"{profile.title} answered with nothing.", "Try another model.")
