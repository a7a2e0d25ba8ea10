"""A bug in jitchat ends in one sentence, an exit code and a report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat import models
from jitchat.cli import cold_store, main, output
from tests.support import ROOT, ScriptedProvider

if TYPE_CHECKING:
    from jitchat.values import Message
    from tests.cli.conftest import Shell

TEXT = "my diagnosis is confidential"
KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider with a defect whose error contains the key and the text."""

    class Broken(ScriptedProvider):
        async def stream(self, messages: tuple[Message, ...], options: object):
            api_key = KEY
            raise ZeroDivisionError(f"{api_key} {messages[-1].content}")
            yield

    monkeypatch.setattr(models, "make_provider", lambda *asked: Broken())


def test_a_defect_ends_with_a_sentence_that_names_the_report(jitchat: Shell, broken: None):
    done = jitchat("send", TEXT, "--conversation", "demo")

    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "jitchat: stopped because of a bug (ZeroDivisionError). Stored data is safe. A report"
        f" without your texts and keys is in {jitchat.home / 'crash.txt'}.\n"
    )


def test_the_report_has_no_text_or_key_and_is_private_to_the_user(
    jitchat: Shell, broken: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    done = jitchat("send", TEXT, "--conversation", "demo")

    path = jitchat.home / "crash.txt"
    report = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "ZeroDivisionError\n" in report
    assert "jitchat/cli/turns.py:" in report
    for canary in ("confidential", "canary"):
        assert canary not in report + done.err


def test_the_users_message_is_stored_despite_a_defect(jitchat: Shell, broken: None):
    jitchat("send", TEXT, "--conversation", "demo")

    assert jitchat.stored()["demo"][-1] == TEXT


def test_a_report_that_cannot_be_written_is_not_promised(
    jitchat: Shell, broken: None, tmp_path: Path
):
    (jitchat.home / "crash.txt").mkdir(parents=True)

    done = jitchat("send", TEXT, "--conversation", "demo")

    assert done.code == 1
    assert done.err.endswith("(ZeroDivisionError). Stored data is safe.\n")


def test_the_entry_point_ends_with_the_code_of_its_command(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["jitchat", "window", ""])

    with pytest.raises(SystemExit) as left:
        main()

    assert left.value.code == 2
    assert capsys.readouterr().err == "jitchat: TEXT is empty. Give a message.\n"


@pytest.mark.parametrize("gone", ["stdout", "stderr"])
def test_a_closed_stream_is_not_a_defect(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, gone: str
):
    monkeypatch.setattr(sys, "argv", ["jitchat", "conversations" if gone == "stdout" else "x"])
    monkeypatch.setattr(sys, gone, None)

    with pytest.raises(SystemExit) as left:
        main()

    assert left.value.code == (0 if gone == "stdout" else 2)
    assert not (jitchat.home / "crash.txt").exists()


def test_a_full_disk_for_the_output_ends_with_a_sentence(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    echo = output.click.echo

    def full(text: str, *, file: object, **how: object) -> None:
        if file is sys.stdout:
            raise OSError(28, "No space left on device")
        echo(text, file=file, **how)

    monkeypatch.setattr(output.click, "echo", full)

    done = jitchat("paths")

    assert done.code == 1
    assert done.err == "jitchat: The output cannot be written: No space left on device.\n"


def run_into(stdout: object, home: Path) -> subprocess.CompletedProcess[str]:
    """Run `jitchat paths` in a separate process that writes to `stdout`."""
    return subprocess.run(
        [sys.executable, "-m", "jitchat", "paths"],
        cwd=ROOT,
        env=os.environ | {"JITCHAT_HOME": str(home), "PYTHONUNBUFFERED": ""},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_pipe_that_nobody_reads_ends_it_in_silence(home: Path):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run_into(writing, home)
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full_ends_it_in_a_sentence(home: Path):
    with Path("/dev/full").open("wb") as full:
        done = run_into(full, home)

    assert done.returncode == 1
    assert done.stderr == "jitchat: The output cannot be written: No space left on device.\n"


def test_ctrl_c_anywhere_ends_with_its_code(jitchat: Shell, monkeypatch: pytest.MonkeyPatch):
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cold_store, "open_store", pressed)

    done = jitchat("conversations")

    assert done.code == 130
    assert done.err.strip() == ""
