"""Where configuration, data and logs live; the only file that knows.

`JITCHAT_HOME` puts everything into one folder. Nothing is created here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that hold the files above, without repeats."""
        found = (self.config.parent, self.database.parent, self.models, self.crash.parent)
        return tuple(dict.fromkeys(found))


def locate(
    environ: Mapping[str, str], config: Path | None = None, database: Path | None = None
) -> Paths:
    """Resolve every path: explicit argument > environment > the platform's own folders."""
    home = environ.get("JITCHAT_HOME")
    config_dir, data_dir, cache_dir = _one_folder(Path(home)) if home else _platform_folders()
    config = config or _from(environ, "JITCHAT_CONFIG") or config_dir / "config.toml"
    database = database or _from(environ, "JITCHAT_DB") or data_dir / "jitchat.db"
    return Paths(
        config=config.expanduser().absolute(),
        database=database.expanduser().absolute(),
        models=(cache_dir / "models").expanduser().absolute(),
        crash=(data_dir / "crash.txt").expanduser().absolute(),
    )


def _from(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(name)
    return Path(value) if value else None


def _one_folder(home: Path) -> tuple[Path, Path, Path]:
    return home, home, home


def _platform_folders() -> tuple[Path, Path, Path]:
    from platformdirs import PlatformDirs  # noqa: PLC0415  30 ms, not needed with JITCHAT_HOME

    folders = PlatformDirs("jitchat", appauthor=False)
    return folders.user_config_path, folders.user_data_path, folders.user_cache_path
