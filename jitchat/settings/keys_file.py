"""The file that `jitchat keys set` writes: a key a line, for its owner's eyes only."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from jitchat.crash import remember_secret
from jitchat.errors import JitchatError, SettingsError
from jitchat.paths import make_private, open_to_others
from jitchat.settings.checks import toml_text
from jitchat.settings.rules import Secret

_HEAD = "# Written by `jitchat keys`. Anyone who reads this file can spend your money.\n"


class KeysFile:
    """Keys by the names of their providers. Read anew at each call, replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keys(self) -> dict[str, Secret]:
        """Read every key; none where there is no file.

        Raises:
            SettingsError: The file cannot be read, or is none of ours.

        """
        import tomllib  # noqa: PLC0415  4 ms, not needed to print help

        try:
            document = tomllib.loads(toml_text(self.path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
        except (ValueError, RecursionError):  # its own words may quote a key
            why = "is not valid TOML"
        else:
            if all(isinstance(each, str) for each in document.values()):
                return {name: _remembered(key) for name, key in document.items()}
            why = "holds something else than texts"
        raise SettingsError(
            f"The keys file {self.path} {why}.", "Correct it, or delete it and set the keys again."
        )

    def put(self, name: str, key: Secret) -> None:
        """Store a key, in place of the one that was there.

        Raises:
            JitchatError: The file cannot be written.

        """
        self._write(self.keys() | {name: key})

    def remove(self, name: str) -> bool:
        """Forget a key; whether there was one.

        Raises:
            JitchatError: The file cannot be written.

        """
        kept = self.keys()
        if kept.pop(name, None) is None:
            return False
        self._write(kept)
        return True

    def warning(self) -> str:
        """Say that others may read it; empty where they may not, or where it is not there."""
        return open_to_others(self.path, "the keys")

    def _write(self, keys: dict[str, Secret]) -> None:
        lines = [f"{json.dumps(name)} = {json.dumps(str(key))}\n" for name, key in keys.items()]
        try:
            make_private(self.path.parent)
            _replace(self.path, (_HEAD + "".join(lines)).encode())
        except OSError as error:
            why = error.strerror
        else:
            return
        raise JitchatError(
            f"The keys file {self.path} cannot be written: {why}. Nothing was changed.",
            "Make its folder writable, or set the key as a variable.",
        )


def _remembered(key: str) -> Secret:
    remember_secret(key.strip())
    return Secret(key.strip())


def _replace(path: Path, content: bytes) -> None:
    """Write a new file beside it, 0600 from its first moment, and put it in its place."""
    handle, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # O_EXCL, 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
    except BaseException:  # whatever it was, no key is left lying about
        with suppress(OSError):
            Path(made).unlink()
        raise
