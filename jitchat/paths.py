"""Where configuration, data and logs live; the only file that knows.

`JITCHAT_HOME` puts everything into one folder. What is made there is its owner's alone.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """Absolute locations, whether they exist or not."""

    config: Path
    """The TOML with the user's settings."""
    keys: Path
    """The keys that `jitchat keys set` stored, for their owner's eyes only."""
    database: Path
    """The cold store."""
    models: Path
    """Embedding models and weights that were downloaded."""
    crash: Path
    """Written when a defect stops the app; holds no text of the user's and no keys."""
    answers: Path
    """What models answered in a benchmark, where no other file is named for it."""
    rot: Path
    """The folder of the rot lab's runs."""
    servers: Path
    """The folder of what servers of tools write on their standard errors."""
    pasted: Path
    """The folder of pictures from the clipboard that no message has taken yet."""
    log: Path
    """A line for each memory document that was written; holds no text of the user's."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By name, what decided it: a flag, a $VARIABLE, or `default`."""

    def rows(self) -> Iterator[tuple[str, Path, str]]:
        """(name, location, origin) of every one."""
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
    """Resolve every path: explicit argument > environment > the platform's own folders."""
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
    """Make a folder, and those above it, for their owner alone; OSError where that cannot be."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


def opened_private(path: Path) -> TextIOWrapper:
    """Open a text file to append to; one that is made is its owner's alone."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path, "a", encoding="utf-8", opener=opener)


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Put a new file in a file's place, 0600 from its first moment; a link is not followed.

    Whatever making its parts raises leaves the place as it was.
    """
    from tempfile import mkstemp  # noqa: PLC0415  a tenth of what the help takes

    handle, made = mkstemp(prefix=f".{path.name}.", dir=path.parent)  # O_EXCL, 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
    except BaseException:  # whatever it was, no part of it, which may be a key, is left lying about
        with suppress(OSError):
            Path(made).unlink()
        raise


def open_to_others(path: Path, what: str) -> str:
    """Say that others can read `what` is in a file; empty where not, or where it is not there."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return ""
    if os.name != "posix" or not mode & 0o077:
        return ""
    return f"Others can read {what} in {path} ({mode:04o}): run chmod 600 on it."


def absolute(path: Path) -> Path:
    """Resolve `~` and the current folder, as far as there is one; never fails."""
    with suppress(RuntimeError):  # a `~name` that nobody has is an ordinary name
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
    """Choose the folders for configuration, data and cache; and say what chose them."""
    home = environ.get("JITCHAT_HOME")
    if home:
        return (Path(home), Path(home), Path(home)), "$JITCHAT_HOME"
    from platformdirs import PlatformDirs  # noqa: PLC0415  30 ms, not needed with JITCHAT_HOME

    usual = PlatformDirs("jitchat", appauthor=False)
    return (usual.user_config_path, usual.user_data_path, usual.user_cache_path), "default"
