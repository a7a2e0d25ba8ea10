"""Providers' API keys: cleaning a pasted key, storing it and finding it.

The first source that has a key wins: the variable JITCHAT_PROVIDER_API_KEY for the provider in
use, the provider's own variables, `api_key_cmd`, `api_key` in the configuration, the keys file,
the keyring. Every key found is registered as a secret, so that no report shows it.

`api_key_cmd` runs without a shell, in the home folder, and once per process, because it may ask
for a password or a touch; it runs again if the server refuses its key, because some keys expire.
Keyring backends fail in different ways (no session, locked, refused): each counts as no key.
"""

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

from jitchat.children import Completed, run_users_command
from jitchat.crash import redacted, remember_secret
from jitchat.errors import JitchatError, SettingsError, UsageError, reported
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
    """What was removed from the pasted text, in a few words each."""


def cleaned_key(text: str) -> CleanedKey:
    """Remove what is often pasted along with a key.

    Raises:
        UsageError: The rest is not a key.

    """
    removed: list[str] = []
    while found := _next_tidied(text):
        what, text = found
        removed += [what] if what not in removed else []
    if reason := _reason_against(text):
        raise UsageError(
            f"This is not a key: {reason}. Nothing was stored.", "Copy the whole key again."
        )
    return CleanedKey(sections.Secret(text), tuple(removed))


def key_notes(profile: Profile, cleaned: CleanedKey, place: str, source: str) -> Iterator[str]:
    """Yield a sentence on what was removed, on a likely other provider, and on precedence.

    `place` is where the key was stored, `source` where the provider's key now comes from, both as
    returned by `key_source`.
    """
    if cleaned.removed:
        yield f"Removed: {', '.join(cleaned.removed)}."
    known = (each for each in presets().values() if cleaned.key.startswith(each.key_prefixes))
    owner = next((preset.name for preset in known), "")
    if owner not in ("", profile.name) and profile.wants_key:
        yield f"This looks like a key for {owner}, not for {profile.name}."
    if source != place:
        yield f"The key in {source} takes precedence over it."


def _next_tidied(text: str) -> tuple[str, str] | None:
    """Remove one thing: return (what it was, the rest), or None if there is nothing to remove."""
    ways = (
        ("invisible characters", text.translate(dict.fromkeys(map(ord, _INVISIBLE)))),
        ("surrounding white space", text.strip()),
        ("quotation marks", _unquoted(text)),
        ("the word Bearer", _BEARER.sub("", text)),
        ("the variable's name", _ASSIGNED.sub("", text)),  # but not a trailing `=` of base64
    )
    return next(((what, left) for what, left in ways if left != text), None)


def _unquoted(text: str) -> str:
    if len(text) < 3:
        return text
    around = any(text[0] == pair[0] and text[-1] == pair[-1] for pair in _QUOTES)
    return text[1:-1] if around else text


def _reason_against(text: str) -> str:
    """Return why the text is not a key, as a clause; empty if it may be one."""
    reasons = (
        (not text, "it is empty"),
        ("…" in text or "..." in text, "it contains an ellipsis, so only part of it was copied"),
        (any(mask in text for mask in _MASKED) or "●" in text, "it is masked"),
        (len(text.splitlines()) > 1, "it contains a line break"),
        (any(character.isspace() for character in text), "it contains a space"),
        (not text.isascii(), "it contains characters that no key has"),
        (not text.isprintable(), "it contains control characters"),
        (len(text) < _SHORTEST, f"it has fewer than {_SHORTEST} characters"),
    )
    return next((why for holds, why in reasons if holds), "")


SECONDS = 10.0
"""Timeout of a command."""
_printed_keys: dict[str, sections.Secret] = {}
"""By command."""
_lock = threading.Lock()


def key_from_command(command: str, provider: str, refused: str | None = None) -> sections.Secret:
    """Return the first line that the command prints, from an earlier run if there was one.

    The command is run again if the server `refused` that key and no other was printed since.

    Raises:
        SettingsError: The command cannot be run, fails, takes too long or prints nothing.

    """
    with _lock:  # two threads that need the same key must ask for the password once
        if _printed_keys.get(command, refused) == refused:
            _printed_keys[command] = _printed(command, f"api_key_cmd of {provider}")
        return _printed_keys[command]


def _printed(command: str, what: str) -> sections.Secret:
    done = _run(command, what)
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    errors = redacted(done.stderr.decode("utf-8", "replace"), lines)
    if done.returncode != 0:
        why = f": {shorten(errors, 200)}" if errors.strip() else " and printed no error"
        raise _failed(f"{what} exited with code {done.returncode}{why}.")
    if not lines:
        raise _failed(f"{what} printed no key.")
    return sections.Secret(lines[0].strip())


def _run(command: str, what: str) -> Completed:
    """Run the command. Errors are raised outside the handlers, whose context has the command."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise _failed(f"{what} is not a valid command: a quotation mark is missing.")
    try:
        done = run_users_command(words, SECONDS)
    except OSError as error:
        why = f"cannot be run: {error.strerror}"
    except ValueError:  # a NUL among its words
        why = "cannot be run: it contains a NUL character"
    else:
        if done is not None:
            return done
        why = f"did not finish within {SECONDS:.0f} seconds"
    raise _failed(f"{what} {why}.")


def _failed(what: str) -> SettingsError:
    return SettingsError(what, "Run it by hand: it must print the key and nothing else.")


_SERVICE = "jitchat"


def key_from_ring(name: str) -> sections.Secret:
    """Look up a provider's key; empty if there is no key or no keyring."""
    with suppress(Exception):  # any failure of a backend counts as no key
        return sections.Secret((_ring().get_password(_SERVICE, name) or "").strip())
    return sections.Secret()


def put_into_ring(name: str, key: sections.Secret) -> None:
    """Store a provider's key; raise JitchatError if that fails."""
    try:
        _ring().set_password(_SERVICE, name, str(key))
    except ImportError:
        why = "the package keyring is not installed"
    except Exception as error:  # noqa: BLE001  see key_from_ring; its text may have the key
        why = f"it refused ({type(error).__name__})"
    else:
        return
    raise JitchatError(
        f"The key was not stored in the keyring: {why}.",
        "Run `pip install 'jitchat[keyring]'`, or omit --keyring to store the key in a file.",
    )


def remove_from_ring(name: str) -> bool:
    """Remove a provider's key; return whether there was one."""
    if not key_from_ring(name):
        return False
    with suppress(Exception):  # see key_from_ring
        _ring().delete_password(_SERVICE, name)
        return True
    return False


def _ring() -> ModuleType:
    import keyring  # noqa: PLC0415  optional, and 55 to 100 ms

    return keyring


_HEAD = "# Written by `jitchat keys`. Anyone who reads this file can spend your money.\n"


class KeysFile:
    """Keys by provider. The file is read again at each call and replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keys(self) -> dict[str, sections.Secret]:
        """Read every key; none if there is no file. Raise SettingsError if it cannot be read."""
        import tomllib  # noqa: PLC0415  4 ms, not needed to print help

        try:
            document = tomllib.loads(checks.toml_text(self.path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
        except (ValueError, RecursionError):  # the error's own text may quote a key
            why = "is not valid TOML"
        else:
            if all(isinstance(key, str) for key in document.values()):
                keys = {name: sections.Secret(key.strip()) for name, key in document.items()}
                for key in keys.values():
                    remember_secret(key)
                return keys
            why = "has values that are not strings"
        raise SettingsError(
            f"The keys file {self.path} {why}.", "Correct it, or delete it and set the keys again."
        )

    def put(self, name: str, key: sections.Secret) -> None:
        """Store a key, replacing an existing one; raise JitchatError if that fails."""
        self._write(self.keys() | {name: key})

    def remove(self, name: str) -> bool:
        """Remove a key; return whether there was one. Raise JitchatError if that fails."""
        kept = self.keys()
        if kept.pop(name, None) is None:
            return False
        self._write(kept)
        return True

    def warning(self) -> str:
        """Return a warning if others can read the file; empty if not, or if there is no file."""
        return open_to_others(self.path, "the keys")

    def _write(self, keys: dict[str, sections.Secret]) -> None:
        lines = [f"{json.dumps(name)} = {json.dumps(str(key))}\n" for name, key in keys.items()]
        remedy = (
            "Nothing was changed. Make its folder writable, or set the key in an environment"
            " variable."
        )
        with reported(JitchatError, f"The keys file {self.path} cannot be written", remedy):
            make_private(self.path.parent)
            replace_file(self.path, (_HEAD + "".join(lines)).encode())


KEY_OF_PROVIDER_IN_USE = "JITCHAT_PROVIDER_API_KEY"
THE_FILE, THE_RING = "the keys file", "the keyring"

_ReadKeysFile = Callable[[], Mapping[str, sections.Secret]]
"""Reads the keys file; called only if no source before it has a key."""


@dataclass(frozen=True, slots=True)
class FoundKey:
    key: sections.Secret
    source: str
    """A $VARIABLE, `api_key_cmd`, `the configuration`, `the keys file` or `the keyring`."""
    renew: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    """Returns a new key in place of one that a server refused. Slow; raises the same errors as
    `find_key`. None if the source has only one key."""


def find_key(profile: Profile, environ: Mapping[str, str], keys_file: Path) -> FoundKey | None:
    """Find a key; raise SettingsError if its command fails or the keys file cannot be read."""

    def run(refused: str | None = None) -> sections.Secret:
        key = key_from_command(profile.api_key_cmd, profile.name, refused)
        remember_secret(key)
        return key

    read_file = KeysFile(keys_file).keys
    for source, key in _sources(profile, environ, read_file, asks_keyring=True):
        if key is None:
            return FoundKey(run(), source, run)
        if key:
            remember_secret(key)
            return FoundKey(key, source)
    return None


def key_source(profile: Profile, environ: Mapping[str, str], keys_file: Path) -> str:
    """Return where the key would come from, without running a command; empty if there is none."""
    return key_sources([profile], environ, keys_file)[profile.name]


def key_sources(
    profiles: Iterable[Profile],
    environ: Mapping[str, str],
    keys_file: Path,
    *,
    asks_keyring: bool = True,
) -> dict[str, str]:
    """Return `key_source` of several, by name; raise SettingsError if the keys file is unreadable.

    The keys file is read at most once. To ask the keyring starts other programs on some systems.
    """
    read_file = cache(KeysFile(keys_file).keys)
    found: dict[str, str] = {}
    for profile in profiles:
        sources = _sources(profile, environ, read_file, asks_keyring=asks_keyring)
        found[profile.name] = next((source for source, key in sources if key != ""), "")
    return found


def _sources(
    profile: Profile, environ: Mapping[str, str], read_file: _ReadKeysFile, *, asks_keyring: bool
) -> Iterator[tuple[str, sections.Secret | None]]:
    """Yield (source, key) in order of precedence; None for the key that the command would print."""
    if profile.is_embedded:
        return
    variables = (*((KEY_OF_PROVIDER_IN_USE,) if profile.in_use else ()), *profile.key_variables)
    for variable in variables:
        yield f"${variable}", sections.Secret(environ.get(variable, "").strip())
    if profile.api_key_cmd:
        yield "api_key_cmd", None
    yield "the configuration", profile.api_key
    yield THE_FILE, read_file().get(profile.name, sections.Secret())
    if asks_keyring:
        yield THE_RING, key_from_ring(profile.name)
