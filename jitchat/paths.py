"""Where configuration, data and logs live; the only file that knows.

`JITCHAT_HOME` puts everything into one folder. Nothing is created here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """Absolute locations, whether they exist or not."""

    config: Path
    """The TOML with the user's settings."""
    database: Path
    """The cold store."""
    models: Path
    """Embedding models that were downloaded."""
    crash: Path
    """Written when a defect stops the app; holds no text of the user's and no keys."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By name, what decided it: a flag, a $VARIABLE, or `default`."""

    def rows(self) -> Iterator[tuple[str, Path, str]]:
        """(name, location, origin) of every one."""
        for name in ("config", "database", "models", "crash"):
            yield name, getattr(self, name), self.origins.get(name, "default")


def locate(
    environ: Mapping[str, str], config: Path | None = None, database: Path | None = None
) -> Paths:
    """Resolve every path: explicit argument > environment > the platform's own folders."""
    home = environ.get("JITCHAT_HOME")
    config_dir, data_dir, cache_dir = [Path(home)] * 3 if home else _platform_folders()
    shared = "$JITCHAT_HOME" if home else "default"
    found = {
        "config": _first(config, "--config", environ, "JITCHAT_CONFIG"),
        "database": _first(database, "--db", environ, "JITCHAT_DB"),
        "models": None,
        "crash": None,
    }
    usual = {
        "config": config_dir / "config.toml",
        "database": data_dir / "jitchat.db",
        "models": cache_dir / "models",
        "crash": data_dir / "crash.txt",
    }
    chosen = {name: path or (usual[name], shared) for name, path in found.items()}
    return Paths(
        **{name: _absolute(path) for name, (path, _) in chosen.items()},
        origins={name: origin for name, (_, origin) in chosen.items()},
    )


def _first(
    given: Path | None, flag: str, environ: Mapping[str, str], variable: str
) -> tuple[Path, str] | None:
    if given is not None:
        return given, flag
    value = environ.get(variable)
    return (Path(value), f"${variable}") if value else None


def _absolute(path: Path) -> Path:
    """Resolve `~` and the current folder, as far as there is one."""
    try:
        path = path.expanduser()
    except RuntimeError:  # a `~name` that nobody has is an ordinary name
        pass
    try:
        return path.absolute()
    except FileNotFoundError:  # the current folder was deleted
        return path


def _platform_folders() -> list[Path]:
    from platformdirs import PlatformDirs  # noqa: PLC0415  30 ms, not needed with JITCHAT_HOME

    folders = PlatformDirs("jitchat", appauthor=False)
    return [folders.user_config_path, folders.user_data_path, folders.user_cache_path]
