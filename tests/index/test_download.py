"""Downloading the embedding model, with child processes that only pretend to; nothing waits."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.downloads import Patience
from jitchat.index import download
from jitchat.index.download import fetch_model
from jitchat.index.embedding_models import DEFAULT_MODEL, model_cached
from tests.support import is_running

if TYPE_CHECKING:
    from collections.abc import Iterator

FAST = "jitchat.index.fast_embedder"  # named, not imported: it takes a second
FOLDER = "models--Qdrant--all-MiniLM-L6-v2-onnx"
START = """
import json, os, pathlib, sys, time
model, cache = sys.argv[1:]
home = pathlib.Path(cache) / "FOLDER" / "snapshots" / "abc"
(pathlib.Path(cache) / "pid").write_text(str(os.getpid()))
def write(name, size):
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_bytes(bytes(size))
def wait():
    time.sleep(3600)
""".replace("FOLDER", FOLDER)
COMPLETE = "write('tokenizer.json', 10); write('model.onnx', 1000)\n"
SAY_OK = "print(json.dumps({'ok': True, 'detail': str(home)}))\n"


def patience(code: str, cache: Path, **limits: float) -> Patience:
    """Patience with a clock that ticks on every read once the child process runs."""
    ticks: Iterator[int] = count()
    return Patience(
        command=(sys.executable, "-S", "-c", START + code),
        look_every=0.01,
        monotonic=lambda: float(next(ticks)) if (cache / "pid").exists() else 0.0,
        **({"silence": 1e9, "total": 1e9} | limits),
    )


def child(cache: Path) -> int:
    return int((cache / "pid").read_text())


async def fetched(cache: Path, code: str, **limits: float) -> tuple[bool, str, list[int]]:
    seen: list[int] = []
    outcome = await fetch_model(DEFAULT_MODEL, cache, seen.append, patience(code, cache, **limits))
    return outcome.fetched, outcome.sentence, seen


async def test_a_model_that_arrives_is_here(tmp_path):
    ok, sentence, seen = await fetched(tmp_path / "models", COMPLETE + SAY_OK)
    assert ok
    assert DEFAULT_MODEL in sentence
    assert model_cached(DEFAULT_MODEL, tmp_path / "models")
    assert seen[-1] >= 1010
    assert not is_running(child(tmp_path / "models"))


async def test_progress_counts_only_what_arrives_now_even_if_all_of_it_does_at_once(
    tmp_path, monkeypatch
):
    """The child process ends before the first check."""
    start = download.start_watched

    async def started_and_ended(*command):
        running = await start(*command)
        await running.wait()
        return running

    monkeypatch.setattr(download, "start_watched", started_and_ended)
    (tmp_path / "old").write_bytes(bytes(5_000))
    _, _, seen = await fetched(tmp_path, COMPLETE + SAY_OK)
    assert 1010 <= seen[-1] < 2_000


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "print(json.dumps({'ok': False, 'detail': 'ConnectError: no \\x1b[2J route'}))",
            "no \x1b[2J route",
        ),
        ("print('[1')", "without a report"),
        ("print('{}')", "without a report"),
        (SAY_OK, "missing"),
        ("write('tokenizer.json', 10)\n" + SAY_OK, "missing"),
        ("os.kill(os.getpid(), 9)", "without a report"),
        ("raise MemoryError", "without a report"),
    ],
)
async def test_a_download_that_fails_says_so_in_one_sentence(tmp_path, code, reason):
    ok, sentence, _ = await fetched(tmp_path, code)
    assert not ok
    assert reason in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


async def test_a_child_that_cannot_be_started_is_a_failure(tmp_path):
    wrong = Patience(command=(str(tmp_path / "no-python"),))
    outcome = await fetch_model(DEFAULT_MODEL, tmp_path, print, wrong)
    assert not outcome.fetched
    assert "No such file" in outcome.sentence


async def test_a_folder_that_cannot_be_made_is_a_failure(tmp_path):
    (tmp_path / "file").touch()
    ok, sentence, _ = await fetched(tmp_path / "file" / "models", SAY_OK)
    assert not ok
    assert "Not a directory" in sentence


async def test_a_download_that_stalls_is_given_up_and_its_process_ended(tmp_path):
    ok, sentence, _ = await fetched(tmp_path, "write('tokenizer.json', 10); wait()", silence=10)
    assert not ok
    assert "no more data was received" in sentence
    assert not is_running(child(tmp_path))


async def test_a_download_that_trickles_is_given_up_in_the_end(tmp_path):
    drip = "for n in range(10**9): write('tokenizer.json', n)"
    ok, _, seen = await fetched(tmp_path, drip, total=10)
    assert not ok
    assert seen
    assert not is_running(child(tmp_path))


async def test_a_download_that_keeps_growing_is_not_given_up(tmp_path):
    """It takes four times the limit for a stall, and has grown at every check."""
    wait = "while not (pathlib.Path(cache) / 'enough').exists(): time.sleep(0.001)\n"
    seen: list[int] = []

    def grow(size: int) -> None:
        seen.append(size)
        (tmp_path / "more").write_bytes(bytes(len(seen)))
        if len(seen) == 20:
            (tmp_path / "enough").touch()

    limits = patience(wait + COMPLETE + SAY_OK, tmp_path, silence=5)
    outcome = await fetch_model(DEFAULT_MODEL, tmp_path, grow, limits)
    assert outcome.fetched
    assert len(seen) >= 20
    assert seen[-1] >= 1010


async def test_cancelling_leaves_no_process_of_the_childs_either(tmp_path):
    made = tmp_path / "grandchild"
    code = (
        "import subprocess\n"
        "made = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(3600)'])\n"
        "(pathlib.Path(cache) / 'made').write_text(str(made.pid))\n"
        "(pathlib.Path(cache) / 'made').rename(pathlib.Path(cache) / 'grandchild')\n"
        "write('tokenizer.json', 10); wait()"
    )
    started = asyncio.Event()

    def look(_: int) -> None:
        if made.exists():
            started.set()

    task = asyncio.create_task(fetch_model(DEFAULT_MODEL, tmp_path, look, patience(code, tmp_path)))
    task.add_done_callback(lambda _: started.set())
    await started.wait()
    running = child(tmp_path), int(made.read_text())
    assert all(map(is_running, running))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):
        while any(map(is_running, running)):  # what was killed ends soon
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("model", "folder", "cached"),
    [
        (DEFAULT_MODEL, FOLDER, True),
        (DEFAULT_MODEL, FOLDER.lower(), True),
        (DEFAULT_MODEL, "models--Qdrant--all-MiniLM-L6-v2", True),
        (DEFAULT_MODEL, "models--Qdrant--all-MiniLM-L12-v2-onnx", False),
        (DEFAULT_MODEL, "all-MiniLM-L6-v2", False),
        ("BAAI/bge-small-en", "models--Qdrant--bge-small-en-v1.5-onnx-Q", False),
        ("BAAI/bge-base-en", "models--Qdrant--fast-bge-base-en", True),
        ("nomic-ai/nomic-embed-text-v1.5-Q", "models--nomic-ai--nomic-embed-text-v1.5", True),
    ],
)
def test_a_model_is_known_by_the_folder_of_its_repository(tmp_path, model, folder, cached):
    snapshot = tmp_path / folder / "snapshots" / "abc"
    (snapshot / "onnx").mkdir(parents=True)
    (snapshot / "tokenizer.json").touch()
    (snapshot / "onnx" / "model.onnx").touch()
    assert model_cached(model, tmp_path) is cached


def test_every_model_of_fastembed_is_known_by_its_own_folder(tmp_path):
    from fastembed import TextEmbedding

    models = [each for each in TextEmbedding.list_supported_models() if each["sources"]["hf"]]
    for number, each in enumerate(models):
        cache = tmp_path / str(number)
        repository = each["sources"]["hf"].replace("/", "--")
        file = cache / f"models--{repository}" / "snapshots" / "abc" / each["model_file"]
        file.parent.mkdir(parents=True)
        file.touch()
        (cache / f"models--{repository}" / "snapshots" / "abc" / "tokenizer.json").touch()
        assert model_cached(each["model"], cache), each["model"]


@pytest.mark.parametrize("missing", ["tokenizer.json", "model.onnx"])
def test_a_half_finished_download_is_not_a_model(tmp_path, missing):
    snapshot = tmp_path / FOLDER / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for name in {"tokenizer.json", "model.onnx"} - {missing}:
        (snapshot / name).touch()
    (snapshot / missing).symlink_to(tmp_path / "blobs" / "not-there-yet")
    assert not model_cached(DEFAULT_MODEL, tmp_path)
    assert not model_cached(DEFAULT_MODEL, tmp_path / "no-such-folder")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict]:
    code = download.main(list(arguments))
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_the_child_asks_for_the_repository_that_fastembed_names(tmp_path, monkeypatch, capsys):
    asked: dict = {}

    def download(repository: str, **options: object) -> str:
        asked.update(options, repository=repository)
        return str(tmp_path)

    monkeypatch.setattr(f"{FAST}.altered_file", lambda model, folder: "")
    monkeypatch.setattr(f"{FAST}.snapshot_download", download)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    assert answer(capsys, DEFAULT_MODEL, str(tmp_path)) == (
        0,
        {"ok": True, "detail": str(tmp_path)},
    )
    assert asked["repository"] == "Qdrant/all-MiniLM-L6-v2-onnx"
    assert asked["cache_dir"] == str(tmp_path)
    assert asked["revision"] == "5f1b8cd78bc4fb444dd171e59b18f3a3af89a079"
    assert {"model.onnx", "tokenizer.json", "config.json"} <= set(asked["allow_patterns"])
    assert os.environ["HF_HUB_DISABLE_IMPLICIT_TOKEN"] == "1"


def test_the_child_refuses_files_that_are_not_the_published_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(f"{FAST}.snapshot_download", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    (tmp_path / "model.onnx").write_bytes(b"anything")
    code, report = answer(capsys, DEFAULT_MODEL, str(tmp_path))
    assert (code, report["ok"]) == (1, False)
    assert report["detail"] == "model.onnx is not the published file (its SHA-256 differs)"


def test_the_child_reports_what_went_wrong(tmp_path, monkeypatch, capsys):
    def fail(*_: object, **__: object) -> str:
        raise ConnectionError("x" * 1_000 + "\nand more")

    monkeypatch.setattr(f"{FAST}.snapshot_download", fail)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    code, report = answer(capsys, DEFAULT_MODEL, str(tmp_path))
    assert (code, report) == (1, {"ok": False, "detail": "x" * 300})
    assert "no/such" in answer(capsys, "no/such", str(tmp_path))[1]["detail"]
    assert answer(capsys)[0] == 1
