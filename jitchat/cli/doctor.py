"""`jitchat doctor`: checks of the installation, and of each configured provider."""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click
import httpx

from jitchat import models
from jitchat.cli import cold_store, options, output
from jitchat.errors import JitchatError, NotAnAnswer, ProviderError, SettingsError, Unreachable
from jitchat.paths import Paths, is_missing
from jitchat.providers import provider as chunks
from jitchat.providers.catalogue import servers
from jitchat.providers.http.client import CERTIFICATES
from jitchat.providers.writing import stream_written
from jitchat.settings import Settings, keys, load, small_models
from jitchat.settings.profiles import Profile
from jitchat.store import search_index
from jitchat.store.database import Database
from jitchat.store.requests import Purpose
from jitchat.text.figures import plural
from jitchat.values import Message, Role, ToolCall
from jitchat.window.tokens import EstimateCounter, counter_for

SECONDS = 20.0
"""Timeout for each provider."""
_QUESTION = (Message(Role.USER, "Say OK."),)
_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy")


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    """A provider's name, or the part of the installation that was checked."""
    ok: bool | None
    """None for a warning: neither a success nor a failure."""
    result: str
    remedy: str = ""
    """What to do, as a sentence; empty if there is nothing to do."""
    model: str | None = None
    seconds: float | None = None
    """Time to the first delta of the answer."""


def _refused(name: str, error: JitchatError, model: str | None = None) -> Finding:
    return Finding(name, False, error.what, error.remedy, model)


@click.command("doctor", cls=options.SharingCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.common_options
def doctor_command(flags: options.Flags, names: tuple[str, ...], as_json: bool) -> int:
    """Check the setup, and that each configured provider answers.

    Checks the configuration, the keys file, the database, the embedder, the tokenizer and the
    network settings. Then sends a tiny request ("Say OK.") to every provider that is configured,
    has an API key or runs on this machine, and stops reading at the first token of the answer. With
    NAME, only those providers are checked. The exit code is 1 if a check fails.
    """
    paths = flags.paths()
    cold_store.quiet_libraries()
    checks: list[Finding] = []
    profiles: list[Profile] = []
    keyless: dict[str, str] = {}
    try:
        settings = cold_store.load_settings(flags)
    except SettingsError as error:
        if names:
            raise
        settings = Settings()
        checks = [_refused("configuration", error), *_findings(_of_files(paths))]
    if names:
        profiles = [settings.profile(name) for name in dict.fromkeys(names)]
    elif not checks:
        checks = [*_installation(settings, paths), *_network()]
        profiles = _configured(settings, paths.keys)
        asked = {profile.name for profile in profiles}
        keyless = {
            profile.name: profile.key_variables[0]
            for profile in settings.profiles()
            if profile.requires_key and profile.name not in asked
        }
    with cold_store.existing_database(paths.database) as database:
        answers = asyncio.run(_ask_all(settings, profiles, database))
    selected = "name ok told=result remedy"
    of_answer = f"{selected} model seconds"
    fields = {
        "checks": [output.json_fields(check, selected) for check in checks],
        "providers": [output.json_fields(answer, of_answer) for answer in answers],
        "without_key": keyless,
    }
    findings = [*checks, *answers]
    output.tell(fields, partial(_print, findings, keyless), as_json=as_json)
    return 1 if any(finding.ok is False for finding in findings) else 0


def _print(findings: Sequence[Finding], keyless: Mapping[str, str]) -> None:
    rows = [(finding.name, f"{finding.result} {finding.remedy}") for finding in findings]
    for finding, line in zip(findings, output.columns(rows), strict=True):
        output.print_check(line, passes=finding.ok)
    if keyless:
        listed = ", ".join(f"{name} ({variable})" for name, variable in keyless.items())
        output.say(f"Without an API key: {listed}.")


_Result = tuple[bool | None, str]
"""Whether a check passes, as in `Finding`, and its result."""


def _installation(settings: Settings, paths: Paths) -> Iterator[Finding]:
    """Check each part of the installation."""
    checks = [
        ("configuration", _configuration(settings, paths)),
        ("configuration", ((None, text) for text in load.unknown_variables(os.environ))),
        *_of_files(paths),
        ("embedder", _embedder(settings, paths)),  # slow: a model is loaded
        ("vocabulary", _vocabulary(settings)),
    ]
    yield from _findings(checks)


def _of_files(paths: Paths) -> list[tuple[str, Iterator[_Result]]]:
    return [("keys file", _keys_file(paths.keys)), ("database", _database(paths.database))]


def _findings(checks: Iterable[tuple[str, Iterator[_Result]]]) -> Iterator[Finding]:
    """Make the checks; an error that one raises is a failure."""
    for name, results in checks:
        try:
            for ok, result in results:
                yield Finding(name, ok, result)
        except JitchatError as error:
            yield _refused(name, error)


def _configuration(settings: Settings, paths: Paths) -> Iterator[_Result]:
    cold_store.check_key_bindings(settings)
    small_models.require_addresses(settings)
    absence = " does not exist: all settings have defaults" if is_missing(paths.config) else ""
    yield True, f"{paths.config}{absence}"
    if retired := settings.retired():
        yield None, retired


def _keys_file(path: Path) -> Iterator[_Result]:
    file = keys.KeysFile(path)
    stored = len(file.keys())
    found = "no keys are stored" if is_missing(path) else f"{plural(stored, 'key')} in {path}"
    warning = file.warning()
    yield not warning, warning or found


def _database(path: Path) -> Iterator[_Result]:
    if is_missing(path):
        yield True, f"{path} is created when the chat is opened"
        return
    database = Database(path)
    with closing(database), database.read() as connection:
        backlog = search_index.count_backlog(connection)
    if database.refusal is not None:
        raise database.refusal
    left = f", with {plural(backlog, 'turn')} to be indexed for the search" if backlog else ""
    warning = database.warning()
    yield None if warning or backlog else True, warning or f"{path}{left}"


def _embedder(settings: Settings, paths: Paths) -> Iterator[_Result]:
    errors: list[JitchatError] = []
    embedder = models.make_embedder(settings, paths, errors.append)
    if errors:
        raise errors[0]
    yield True, embedder.id


def _vocabulary(settings: Settings) -> Iterator[_Result]:
    model = settings.in_use().model
    counter = counter_for(model, os.environ)
    if counter.exact:
        yield True, f"{counter.name}, exact for {model}"
        return
    of = f" of {model}" if model else ""
    yield None, f"{counter.name}: tokens{of} are estimated, marked with ~"


def _network() -> Iterator[Finding]:
    """Yield a failure for each environment variable that prevents every request."""
    for name in _PROXIES:
        if os.environ.get(name) and (why := _proxy_fault(os.environ[name])):
            yield Finding("network", False, f"${name} {why}.", "Correct or unset it.")
    for name in CERTIFICATES:
        is_folder = name == "SSL_CERT_DIR"
        what, exists = ("folder", os.path.isdir) if is_folder else ("file", os.path.exists)
        if os.environ.get(name) and not exists(os.environ[name]):
            problem = f"${name} names a {what} that does not exist."
            yield Finding("network", False, problem, "Correct or unset it.")


def _proxy_fault(address: str) -> str:
    """Say why the proxy cannot be used, without quoting its login; empty if it can."""
    try:
        httpx.AsyncClient(proxy=address, trust_env=False, verify=False)  # noqa: S501  nothing is sent
    except ImportError:
        return "names a SOCKS proxy, which requires the missing package socksio"
    except (ValueError, OSError, httpx.InvalidURL):
        return "is not a proxy address (http://HOST:PORT)"
    return ""


def _configured(settings: Settings, keys_file: Path) -> list[Profile]:
    """List the reader and the providers that are configured, have a key or run on this machine."""
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
        # first, so that a slow api_key_cmd does not count as a slow answer
        if await asyncio.to_thread(models.lacks_key, profile):
            what = f"{profile.title} requires a key, but none is set."
            raise ProviderError(what, profile.key_help)
        async with asyncio.timeout(SECONDS):
            model = model or await _first_model(profile)
            asked = models.ResolvedModel(settings, profile, model, database)
            seconds = await _time_to_answer(asked)
    except TimeoutError:
        late = f"{profile.title} did not start to answer within {SECONDS:.0f} seconds."
        return Finding(profile.name, False, late, "Try again; it may be busy.", model or None)
    except JitchatError as error:
        return _refused(profile.name, error, model or None)
    if profile.is_reader:
        return Finding(profile.name, True, "quotes from the window", model=model)
    of_list = "" if profile.model else " (first in its list)"
    result = f"{model}{of_list}: answered after {seconds:.2f} s"
    return Finding(profile.name, True, result, model=model, seconds=round(seconds, 3))


async def _first_model(profile: Profile) -> str:
    endpoint = await asyncio.to_thread(models.endpoint_of, profile, "")
    listed = await servers.fetch_models(endpoint, profile.protocol)
    if not listed:
        raise NotAnAnswer(
            f"{profile.title} is running, but has no models.",
            f"Load a model there, or set model under [providers.{profile.name}].",
        )
    return listed[0].name


async def _time_to_answer(model: models.ResolvedModel) -> float:
    """Return the seconds to the first delta of an answer."""
    profile, context = model.profile, None
    if profile.protocol == "ollama":  # a context size other than the chat's reloads the model
        context = (await model.ask_limit() or model.limit).tokens
    counter = EstimateCounter()
    provider = await asyncio.to_thread(models.make_provider, profile, model.name, counter)
    if not profile.is_reader:
        provider = model.metered(provider, Purpose.DOCTOR, counter)
    sampling = replace(profile.sampling, context=context)
    start = time.monotonic()
    answering = chunks.ReplyDelta | chunks.ReasoningDelta | ToolCall | chunks.Finished
    try:
        async with aclosing(stream_written(provider, _QUESTION, sampling)) as answer:
            async for chunk in answer:
                if isinstance(chunk, answering):
                    return time.monotonic() - start
                if isinstance(chunk, chunks.RetryScheduled):
                    late = f"{profile.title} does not answer at the moment: {chunk.why}."
                    raise Unreachable(late, "Try again later.")
    finally:
        await provider.aclose()
    raise NotAnAnswer(f"{profile.title} returned an empty answer.", "Try another model.")
