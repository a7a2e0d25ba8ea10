"""A download in a child process: its progress, its timeouts, and its end."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pytest

from jitchat.children import start_installer
from jitchat.downloads import Patience, watched
from tests.support import is_running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

START = """
import os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
(folder / "pid").write_text(str(os.getpid()))
def write(name, size):
    (folder / name).write_bytes(bytes(size))
def wait():
    time.sleep(3600)
"""
COMPLETE = "write('tokenizer.json', 10); write('model.onnx', 1000); print('done')\n"


def child(folder: Path) -> int:
    return int((folder / "pid").read_text())


async def received(
    folder: Path, code: str, on_progress: Callable[[int], None], **limits: float
) -> bytes | None:
    """Run the code with a clock that ticks on every look once the child runs."""
    ticks: Iterator[int] = count()
    patience = Patience(
        look_every=0.01,
        monotonic=lambda: float(next(ticks)) if (folder / "pid").exists() else 0.0,
        **({"silence": 1e9, "total": 1e9} | limits),
    )
    command = (sys.executable, "-S", "-c", START + code, str(folder))
    return await watched(partial(start_installer, command, folder), folder, on_progress, patience)


async def test_what_arrives_is_counted_and_the_output_returned(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(bytes(5_000))
    seen: list[int] = []
    assert await received(tmp_path, COMPLETE, seen.append) == b"done\n"
    assert 1010 <= seen[-1] < 2_000
    assert not is_running(child(tmp_path))


async def test_a_download_that_stalls_is_given_up_and_its_process_ended(tmp_path: Path) -> None:
    assert await received(tmp_path, "write('a', 10); wait()", print, silence=10) is None
    assert not is_running(child(tmp_path))


async def test_a_download_that_trickles_is_given_up_in_the_end(tmp_path: Path) -> None:
    drip = "for n in range(10**9): write('a', n)"
    assert await received(tmp_path, drip, print, total=10) is None
    assert not is_running(child(tmp_path))


async def test_a_download_that_keeps_growing_is_not_given_up(tmp_path: Path) -> None:
    """It takes four times the limit for a stall, and has grown at every look."""
    wait = "while not (folder / 'enough').exists(): time.sleep(0.001)\n"
    seen: list[int] = []

    def grow(size: int) -> None:
        seen.append(size)
        (tmp_path / "more").write_bytes(bytes(len(seen)))
        if len(seen) == 20:
            (tmp_path / "enough").touch()

    assert await received(tmp_path, wait + COMPLETE, grow, silence=5) == b"done\n"
    assert len(seen) >= 20


async def test_cancelling_leaves_no_process_of_the_childs_either(tmp_path: Path) -> None:
    grandchild = tmp_path / "grandchild"
    code = (
        "import subprocess\n"
        "inner = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(3600)'])\n"
        "(folder / 'inner').write_text(str(inner.pid))\n"
        "(folder / 'inner').rename(folder / 'grandchild')\n"
        "write('a', 10); wait()"
    )
    started = asyncio.Event()

    def look(_: int) -> None:
        if grandchild.exists():
            started.set()

    task = asyncio.create_task(received(tmp_path, code, look))
    task.add_done_callback(lambda _: started.set())
    await started.wait()
    running = child(tmp_path), int(grandchild.read_text())
    assert all(is_running(pid) for pid in running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):
        while any(is_running(pid) for pid in running):  # what was killed ends soon
            await asyncio.sleep(0)
