"""The locations of configuration, data and logs; no other module knows them.

`JITCHAT_HOME` puts everything into one folder. New files and folders are private to their owner.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EACCES
from io import TextIOWrapper
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """Absolute paths, which need not exist."""

    config: Path
    """The TOML file with the user's settings."""
    keys: Path
    """The keys stored by `jitchat keys set`, readable only by their owner."""
    database: Path
    """The cold store."""
    models: Path
    """Downloaded embedding models and weights."""
    crash: Path
    """The report of a crash, without the user's texts and without keys."""
    answers: Path
    """The default file for models' answers in a benchmark."""
    rot: Path
    """The folder of the rot lab's runs."""
    servers: Path
    """The folder for the standard error of MCP servers."""
    pasted: Path
    """The folder of clipboard pictures that no message includes yet."""
    log: Path
    """A line for each memory document written, without the user's texts."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By name, what set the location: a flag, a $VARIABLE, or `default`."""

    def rows(self) -> Iterator[tuple[str, Path, str]]:
        """Yield (name, location, origin) of every path."""
        for name in (
            "config",
            "keys",
            "database",
            "models",
            "crash",
            "answers",
            "rot",
            "servers",
            "pasted",
            "log",
        ):
            yield name, getattr(self, name), self.origins.get(name, "default")


def locate(
    environ: Mapping[str, str], config: Path | None = None, database: Path | None = None
) -> Paths:
    """Resolve every path: explicit argument, then environment, then the platform's folders."""
    (config_dir, data_dir, cache_dir), origin = _folders(environ)
    chosen = {
        "config": _first(config, "--config", environ, "JITCHAT_CONFIG")
        or (config_dir / "config.toml", origin),
        "keys": (config_dir / "keys.toml", origin),
        "database": _first(database, "--db", environ, "JITCHAT_DB")
        or (data_dir / "jitchat.db", origin),
        "models": (cache_dir / "models", origin),
        "crash": (data_dir / "crash.txt", origin),
        "answers": (data_dir / "answers.jsonl", origin),
        "rot": (data_dir / "rot", origin),
        "servers": (data_dir / "servers", origin),
        "pasted": (data_dir / "pasted", origin),
        "log": (data_dir / "log.txt", origin),
    }
    return Paths(
        **{name: absolute(path) for name, (path, _) in chosen.items()},
        origins={name: why for name, (_, why) in chosen.items()},
    )


def make_private(folder: Path) -> None:
    """Make a folder and missing parents, private to their owner; raise OSError if that fails."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


def opened_private(path: Path) -> TextIOWrapper:
    """Open a text file for appending; a new one is private to its owner."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path, "a", encoding="utf-8", opener=opener)


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Replace a file atomically; the new one always has mode 0600. Links are not followed.

    If writing fails, or `content` raises, the old file is unchanged.
    """
    from tempfile import mkstemp  # noqa: PLC0415  a tenth of the time of `--help`

    handle, made = mkstemp(prefix=f".{path.name}.", dir=path.parent)  # O_EXCL, 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
    except BaseException:  # in any case, leave no partial file behind: it may contain a key
        with suppress(OSError):
            Path(made).unlink()
        raise


def open_to_others(path: Path, what: str) -> str:
    """Return a warning if others can read the file; empty if not, or if there is no file.

    `what` names the contents.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return ""
    if os.name != "posix" or not mode & 0o077:
        return ""
    return f"Others can read {what} in {path} ({mode:04o}). Run chmod 600 on it."


def why_unreadable(path: Path) -> str:
    """Say why a file or folder cannot be read, as a clause; empty if it can, or is not there."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return error.strerror or type(error).__name__
    needed = os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)
    return "" if os.access(path, needed) else os.strerror(EACCES)


def is_missing(path: Path) -> bool:
    """Whether there is no such file; one that may not be looked at is not missing."""
    return not why_unreadable(path) and not path.exists()


def current_folder() -> Path:
    """Return the current folder or, if it was deleted, a path that nothing is in."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.devnull)


def absolute(path: Path) -> Path:
    """Resolve `~` and the current folder, if possible; never fails."""
    with suppress(RuntimeError):  # `~name` without such a user is an ordinary name
        path = path.expanduser()
    with suppress(FileNotFoundError):  # the current folder was deleted
        path = path.absolute()
    return path


def _first(
    given: Path | None, flag: str, environ: Mapping[str, str], variable: str
) -> tuple[Path, str] | None:
    if given is not None:
        return given, flag
    value = environ.get(variable)
    return (Path(value), f"${variable}") if value else None


def _folders(environ: Mapping[str, str]) -> tuple[tuple[Path, Path, Path], str]:
    """Return the folders for configuration, data and cache, and their origin."""
    home = environ.get("JITCHAT_HOME")
    if home:
        return (Path(home), Path(home), Path(home)), "$JITCHAT_HOME"
    from platformdirs import PlatformDirs  # noqa: PLC0415  30 ms, not needed with JITCHAT_HOME

    usual = PlatformDirs("jitchat", appauthor=False)
    return (usual.user_config_path, usual.user_data_path, usual.user_cache_path), "default"
