"""Providers' keys: cleaned as they are pasted, stored, and found again.

The first source that has one wins: the variable JITCHAT_PROVIDER_API_KEY for the provider that
answers, the provider's own variables, `api_key_cmd`, `api_key` in the configuration, the keys
file, the keyring. Every key that is found is remembered as a secret, so that no report shows it.

`api_key_cmd` runs without a shell, in the home folder, and once in a process, for it may ask for
a password or a touch; and again where the server refused its key, for some keys last an hour.
Keyring backends fail in ways of their own (no session, locked, refused): then there is no key.
"""

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

from jitchat.children import Completed, run_users_command
from jitchat.crash import redacted, remember_secret
from jitchat.errors import JitchatError, SettingsError, UsageError
from jitchat.paths import make_private, open_to_others, replace_file
from jitchat.providers.catalogue.table import presets
from jitchat.settings import checks, sections
from jitchat.settings.profiles import Profile
from jitchat.text.sanitize import shorten

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_ASSIGNED = re.compile(r"\A(?:export\s+|set\s+)?[A-Za-z_][A-Za-z0-9_]*\s*[=:]\s*(?=\S)")
_BEARER = re.compile(r"\A(?:authorization\s*:\s*)?bearer\s+", re.IGNORECASE)
_QUOTES = ('"', "'", "`", "“”", "‘’", "<>")
_MASKED = ("***", "•••", "xxxx")
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class CleanedKey:
    key: sections.Secret
    removed: tuple[str, ...] = ()
    """What was pasted along with it, in a few words each."""


def cleaned_key(text: str) -> CleanedKey:
    """Take off what is pasted along with keys; UsageError where what is left is no key."""
    removed: list[str] = []
    while found := _next_tidied(text):
        what, text = found
        removed += [what] if what not in removed else []
    if reason := _reason_against(text):
        raise UsageError(f"That is no key: {reason}. Nothing was stored.", "Copy it again, whole.")
    return CleanedKey(sections.Secret(text), tuple(removed))


def key_notes(profile: Profile, cleaned: CleanedKey, place: str, source: str) -> Iterator[str]:
    """Tell, a sentence each, what was taken off, whose it looks like, and what comes before it.

    `place` is where it was stored, `source` where the provider's key is now from, both as
    `key_source` says it.
    """
    if cleaned.removed:
        yield f"Taken off: {', '.join(cleaned.removed)}."
    known = (each for each in presets().values() if cleaned.key.startswith(each.key_prefixes))
    owner = next((preset.name for preset in known), "")
    if owner not in ("", profile.name) and profile.wants_key:
        yield f"It looks like a key of {owner}, not of {profile.name}."
    if source != place:
        yield f"The key in {source} comes before it."


def _next_tidied(text: str) -> tuple[str, str] | None:
    """Take one thing off, as (what it was, what is left); None where nothing is to be."""
    ways = (
        ("invisible characters", text.translate(dict.fromkeys(map(ord, _INVISIBLE)))),
        ("white space around it", text.strip()),
        ("quotation marks", _unquoted(text)),
        ("the word Bearer", _BEARER.sub("", text)),
        ("the variable's name", _ASSIGNED.sub("", text)),  # not the `=` at the end of base64
    )
    return next(((what, left) for what, left in ways if left != text), None)


def _unquoted(text: str) -> str:
    if len(text) < 3:
        return text
    around = any(text[0] == pair[0] and text[-1] == pair[-1] for pair in _QUOTES)
    return text[1:-1] if around else text


def _reason_against(text: str) -> str:
    """Say why it is no key, as a clause; empty where it may be one."""
    reasons = (
        (not text, "it is empty"),
        ("…" in text or "..." in text, "it holds an ellipsis, so only a part of it was copied"),
        (any(mask in text for mask in _MASKED) or "●" in text, "it is masked, not written out"),
        (len(text.splitlines()) > 1, "there is a line break in it"),
        (any(character.isspace() for character in text), "there is a blank in it"),
        (not text.isascii(), "it holds characters that no key has"),
        (not text.isprintable(), "it holds control characters"),
        (len(text) < _SHORTEST, f"it has fewer than {_SHORTEST} characters"),
    )
    return next((why for holds, why in reasons if holds), "")


SECONDS = 10.0
"""How long a command may take."""
_printed_keys: dict[str, sections.Secret] = {}
"""By command."""
_lock = threading.Lock()


def key_from_command(command: str, provider: str, refused: str | None = None) -> sections.Secret:
    """Run the command, or take what it printed before: its first line.

    It is run again where the server `refused` what it printed, unless it printed another meanwhile.
    SettingsError where it cannot be run, fails, takes too long or prints nothing.
    """
    with _lock:  # two threads that want the same key ask for one password
        if _printed_keys.get(command, refused) == refused:
            _printed_keys[command] = _printed(command, f"api_key_cmd of {provider}")
        return _printed_keys[command]


def _printed(command: str, what: str) -> sections.Secret:
    done = _run(command, what)
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    said = redacted(done.stderr.decode("utf-8", "replace"), lines)
    if done.returncode != 0:
        told = f": {shorten(said, 200)}" if said.strip() else " and said nothing"
        raise _failed(f"{what} ended with code {done.returncode}{told}.")
    if not lines:
        raise _failed(f"{what} printed no key.")
    return sections.Secret(lines[0].strip())


def _run(command: str, what: str) -> Completed:
    """Run it; the errors are made outside of the handlers, for their context holds the command."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise _failed(f"{what} is no command: a quotation mark is missing.")
    try:
        done = run_users_command(words, SECONDS)
    except OSError as error:
        why = f"cannot be run: {error.strerror}"
    except ValueError:  # a NUL among its words
        why = "cannot be run: it holds a character that no command has"
    else:
        if done is not None:
            return done
        why = f"did not end within {SECONDS:.0f} seconds"
    raise _failed(f"{what} {why}.")


def _failed(what: str) -> SettingsError:
    return SettingsError(what, "Run it by hand; it is to print the key and nothing else.")


_SERVICE = "jitchat"


def key_from_ring(name: str) -> sections.Secret:
    """Look up a provider's key; empty where there is none, or no keyring."""
    ring = _ring()
    if ring is None:
        return sections.Secret()
    try:
        return sections.Secret((ring.get_password(_SERVICE, name) or "").strip())
    except Exception:  # noqa: BLE001  a backend's own failure, whatever it is, is no key
        return sections.Secret()


def put_into_ring(name: str, key: sections.Secret) -> None:
    """Store a provider's key; JitchatError where no keyring takes it."""
    ring, why = _ring(), "the package keyring is not installed"
    if ring is not None:
        try:
            ring.set_password(_SERVICE, name, str(key))
        except Exception as error:  # noqa: BLE001  see key_from_ring; its words may hold the key
            why = f"it refused ({type(error).__name__})"
        else:
            return
    raise JitchatError(
        f"The key was not stored in the keyring: {why}.",
        "Without --keyring it is stored in a file; `pip install 'jitchat[keyring]'` adds keyrings.",
    )


def remove_from_ring(name: str) -> bool:
    """Forget a provider's key; whether there was one."""
    ring = _ring()
    if ring is None or not key_from_ring(name):
        return False
    try:
        ring.delete_password(_SERVICE, name)
    except Exception:  # noqa: BLE001  see key_from_ring
        return False
    return True


def _ring() -> ModuleType | None:
    try:
        import keyring  # noqa: PLC0415  optional, and 55 to 100 ms
    except ImportError:
        return None
    return keyring  # type: ignore[no-any-return]  # it has no types where it is not installed


_HEAD = "# Written by `jitchat keys`. Anyone who reads this file can spend your money.\n"


class KeysFile:
    """Keys by the names of their providers. Read anew at each call, replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keys(self) -> dict[str, sections.Secret]:
        """Read every key; none where there is no file. SettingsError where it cannot be read."""
        import tomllib  # noqa: PLC0415  4 ms, not needed to print help

        try:
            document = tomllib.loads(checks.toml_text(self.path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
        except (ValueError, RecursionError):  # its own words may quote a key
            why = "is not valid TOML"
        else:
            if all(isinstance(key, str) for key in document.values()):
                keys = {name: sections.Secret(key.strip()) for name, key in document.items()}
                for key in keys.values():
                    remember_secret(key)
                return keys
            why = "holds something else than texts"
        raise SettingsError(
            f"The keys file {self.path} {why}.", "Correct it, or delete it and set the keys again."
        )

    def put(self, name: str, key: sections.Secret) -> None:
        """Store a key, in place of the one that was there; JitchatError where that cannot be."""
        self._write(self.keys() | {name: key})

    def remove(self, name: str) -> bool:
        """Forget a key; whether there was one. JitchatError where that cannot be."""
        kept = self.keys()
        if kept.pop(name, None) is None:
            return False
        self._write(kept)
        return True

    def warning(self) -> str:
        """Say that others may read it; empty where they may not, or where it is not there."""
        return open_to_others(self.path, "the keys")

    def _write(self, keys: dict[str, sections.Secret]) -> None:
        lines = [f"{json.dumps(name)} = {json.dumps(str(key))}\n" for name, key in keys.items()]
        try:
            make_private(self.path.parent)
            replace_file(self.path, (_HEAD + "".join(lines)).encode())
        except OSError as error:
            why = error.strerror
        else:
            return
        raise JitchatError(
            f"The keys file {self.path} cannot be written: {why}. Nothing was changed.",
            "Make its folder writable, or set the key as a variable.",
        )


OF_WHO_ANSWERS = "JITCHAT_PROVIDER_API_KEY"
THE_FILE, THE_RING = "the keys file", "the keyring"

_Filed = Callable[[], Mapping[str, sections.Secret]]
"""Reads the keys file; only where no source before it has a key."""


@dataclass(frozen=True, slots=True)
class FoundKey:
    key: sections.Secret
    source: str
    """A $VARIABLE, `api_key_cmd`, `the configuration`, `the keys file` or `the keyring`."""
    renew: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    """Gives another key in place of the one that a server refused; slow, and raises what
    `find_key` raises. None where there is no other."""


def find_key(profile: Profile, environ: Mapping[str, str], keys_file: Path) -> FoundKey | None:
    """Find a key; SettingsError where its command fails, or the keys file cannot be read."""

    def run(refused: str | None = None) -> sections.Secret:
        key = key_from_command(profile.api_key_cmd, profile.name, refused)
        remember_secret(key)
        return key

    for source, key in _stored(profile, environ, KeysFile(keys_file).keys):
        if key is None:
            return FoundKey(run(), source, run)
        if key:
            remember_secret(key)
            return FoundKey(key, source)
    return None


def key_source(profile: Profile, environ: Mapping[str, str], keys_file: Path) -> str:
    """Say where the key would come from, without running a command; empty for nowhere."""
    return key_sources([profile], environ, keys_file)[profile.name]


def key_sources(
    profiles: Iterable[Profile], environ: Mapping[str, str], keys_file: Path
) -> dict[str, str]:
    """Say it of several, by name; SettingsError where the keys file cannot be read."""
    filed = cache(KeysFile(keys_file).keys)
    return {
        profile.name: next((at for at, key in _stored(profile, environ, filed) if key != ""), "")
        for profile in profiles
    }


def _stored(
    profile: Profile, environ: Mapping[str, str], filed: _Filed
) -> Iterator[tuple[str, sections.Secret | None]]:
    """Go through the sources, best first; None stands for what the command would print."""
    if profile.is_embedded:
        return
    variables = (*((OF_WHO_ANSWERS,) if profile.in_use else ()), *profile.key_variables)
    for variable in variables:
        yield f"${variable}", sections.Secret(environ.get(variable, "").strip())
    if profile.api_key_cmd:
        yield "api_key_cmd", None
    yield "the configuration", profile.api_key
    yield THE_FILE, filed().get(profile.name, sections.Secret())
    yield THE_RING, key_from_ring(profile.name)
