"""Nothing leaves the machine that the user did not send, and no file is left elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.terminal import Terminal
from tests.faults.recorder import STRACE, Recorder
from tests.index.tiny_cross_encoder import MODEL, write_cross_encoder
from tests.support import ROOT, SHARED

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
    pytest.mark.xdist_group("recorder"),
]
JITCHAT = [sys.executable, "-m", "jitchat"]
MINILM = SHARED / "models" / "all-MiniLM-L6-v2"
LOOK_UP = """
import pathlib, socket
pathlib.Path("left").touch()
try:
    socket.getaddrinfo("telemetry.example", 443)
except OSError:
    pass
"""
RERANK = """
import pathlib, sys, time
from jitchat.index.cross_encoder import load_cross_encoder
folder = pathlib.Path(sys.argv[1])
encoder = load_cross_encoder(sys.argv[2], folder, folder)
print(len(encoder.scores("a question", ["an answer"])))
time.sleep(1)
"""
QUIT = "\x11"
SENTENCE = "downloads a"
"""Part of the question about a larger embedding model."""


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    made = Recorder(tmp_path)
    made.environ["PYTHONPATH"] = str(ROOT)
    return made


def test_the_recorder_sees_names_that_are_looked_up_and_files_that_are_left(
    recorder: Recorder,
) -> None:
    _, seen = recorder.run([sys.executable, "-c", LOOK_UP])
    assert [name.rpartition("/")[2] for name in seen.files] == ["left"]
    if STRACE is None:
        pytest.skip("strace is not installed: names that are looked up are not recorded")
    assert "telemetry.example" in seen.names


def test_a_first_start_asks_nobody_and_leaves_files_in_its_own_folders_only(
    recorder: Recorder,
) -> None:
    terminal = Terminal(recorder.command(JITCHAT), recorder.environ)
    terminal.wait_for(SENTENCE)  # everything that starts by itself has started
    terminal.drain(2.0)
    terminal.type(QUIT)
    code, _ = terminal.until_exit()
    terminal.close()
    seen = recorder.recorded()
    assert code == 0
    assert not seen.names
    assert not seen.hosts
    assert not seen.files


def test_the_keyring_is_not_asked_before_the_list_of_models_is_opened(
    recorder: Recorder, tmp_path: Path
) -> None:
    asked, modules = tmp_path / "asked", tmp_path / "modules"
    modules.mkdir()
    (modules / "keyring.py").write_text(f"import pathlib\npathlib.Path({str(asked)!r}).touch()\n")
    recorder.environ["PYTHONPATH"] += f"{os.pathsep}{modules}"
    terminal = Terminal(JITCHAT, recorder.environ)
    terminal.wait_for(SENTENCE)
    terminal.drain(2.0)
    assert not asked.exists()
    terminal.type("/model\r")
    terminal.wait_for("Ollama")
    terminal.drain(1.0)
    assert asked.exists()
    terminal.type(QUIT)
    assert terminal.until_exit()[0] == 0
    terminal.close()


def test_a_second_start_does_not_offer_the_embedding_model_again(recorder: Recorder) -> None:
    for expected in (True, False):
        terminal = Terminal(JITCHAT, recorder.environ)
        terminal.wait_for("estimate")
        terminal.drain(2.0)
        assert (SENTENCE.encode() in terminal.seen) is expected
        terminal.type(QUIT)
        assert terminal.until_exit()[0] == 0
        terminal.close()


@pytest.mark.skipif(not MINILM.is_dir(), reason="MiniLM is not at hand; see CONTRIBUTING.md")
def test_a_message_with_minilm_reaches_nobody_but_its_provider(recorder: Recorder) -> None:
    words = [*JITCHAT, "send", "which port?", "--new", "--provider", "reader"]
    done, seen = recorder.run([*words, "--embedder-path", str(MINILM)])
    assert done.returncode == 0, done.stderr
    assert not seen.names
    assert not seen.hosts
    assert not seen.files


def test_a_model_of_onnxruntime_reports_to_nobody(recorder: Recorder, tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "model", {"answer": 1.0})
    command = [sys.executable, "-c", RERANK, str(tmp_path / "model"), MODEL]
    done, seen = recorder.run(command)
    assert done.stdout == "1\n", done.stderr
    assert not seen.names
    assert not seen.hosts
    assert not seen.files


def test_a_download_of_weights_reaches_the_package_index_alone(recorder: Recorder) -> None:
    index = {"PIP_INDEX_URL": "https://index.example/simple", "PIP_RETRIES": "0"}
    index |= {"PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done, seen = recorder.run([*JITCHAT, "models", "fetch", "minilm"], index)
    assert done.returncode == 1
    assert seen.names == ({"index.example"} if STRACE else set())
    assert not seen.hosts
    assert not seen.files


@pytest.mark.parametrize("value", [None, "0"])
def test_the_user_decides_about_reports_and_otherwise_there_are_none(
    recorder: Recorder, value: str | None
) -> None:
    code = (
        "import os, jitchat.children as c; c.disable_reports();"
        "print(os.environ['ORT_DISABLE_TELEMETRY'], c.own_environment(os.environ)"
        "['ORT_DISABLE_TELEMETRY'])"
    )
    given = {} if value is None else {"ORT_DISABLE_TELEMETRY": value}
    done, _ = recorder.run([sys.executable, "-c", code], given)
    assert done.stdout.split() == [value or "1"] * 2
