"""Running `api_key_cmd`: any command that prints a key.

It runs without a shell, in the home folder, and once in a process, for it may ask for a password
or a touch; and again where the server refused what it printed, for some keys last an hour.
"""

from __future__ import annotations

import shlex
import threading
from typing import TYPE_CHECKING

from jitchat.children import run_users_command
from jitchat.crash import redacted
from jitchat.errors import SettingsError
from jitchat.settings.rules import Secret
from jitchat.text.safe import shortened

if TYPE_CHECKING:
    from subprocess import CompletedProcess  # noqa: TID251  its type

SECONDS = 10.0
"""How long a command may take."""
_found: dict[str, Secret] = {}
_lock = threading.Lock()


def key_from_command(command: str, provider: str) -> Secret:
    """Run the command, or take what it printed before: its first line.

    Raises:
        SettingsError: It cannot be run, fails, takes too long or prints nothing.

    """
    with _lock:  # two threads that want the same key ask for one password
        if command not in _found:
            _found[command] = _printed(command, f"api_key_cmd of {provider}")
        return _found[command]


def renewed_key(command: str, provider: str, refused: str) -> Secret:
    """Run the command again, unless it printed another key than the refused one meanwhile.

    Raises:
        SettingsError: See `key_from_command`.

    """
    with _lock:
        if _found.get(command, refused) == refused:
            _found[command] = _printed(command, f"api_key_cmd of {provider}")
        return _found[command]


def _printed(command: str, what: str) -> Secret:
    done = _run(_words(command, what), what)
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    said = redacted(done.stderr.decode("utf-8", "replace"), lines)
    if done.returncode != 0:
        told = f": {shortened(said, 200)}" if said.strip() else " and said nothing"
        raise _failed(f"{what} ended with code {done.returncode}{told}.")
    if not lines:
        raise _failed(f"{what} printed no key.")
    return Secret(lines[0].strip())


def _words(command: str, what: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise _failed(f"{what} is no command: a quotation mark is missing.")
    return words


def _run(words: list[str], what: str) -> CompletedProcess[bytes]:
    """Run it; the error is made outside of the handler, for its context holds the command."""
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
