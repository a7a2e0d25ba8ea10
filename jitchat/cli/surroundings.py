"""What `jitchat doctor` looks at beside the providers: files, models on the disk, the network."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from jitchat.cli.checkup import Finding
from jitchat.cli.compose import make_embedder
from jitchat.cli.key_names import require_known_keys
from jitchat.errors import JitchatError
from jitchat.memory.cold.database import Database
from jitchat.paths import Paths
from jitchat.providers.http.client import CERTIFICATES
from jitchat.settings import Settings
from jitchat.settings.keys_file import KeysFile
from jitchat.settings.small_models import require_addresses
from jitchat.settings.sources import unknown_variables
from jitchat.text.counts import counted
from jitchat.window.tokens import counter_for

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
    told = f"{counted(stored, 'key')} in {path}" if path.exists() else "no key is stored"
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
        found = make_embedder(settings, paths, refused.append)
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
