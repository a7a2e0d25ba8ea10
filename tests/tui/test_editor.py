"""The user's own editor gets the whole draft in a private file, and what it saves comes back."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from jitchat.errors import UsageError
from jitchat.tui.app import JitchatApp
from jitchat.tui.editor import editor_command
from tests.tui.support import TestBackend, demo_app, notices, ready, until

SCRIPT = """
import pathlib, stat, sys
file = pathlib.Path(sys.argv[-1])
assert stat.S_IMODE(file.stat().st_mode) == 0o600
assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
pathlib.Path(sys.argv[-2]).write_text(str(file))
file.write_text(file.read_text().upper() + "\\n")
"""


@pytest.fixture
def suspends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JitchatApp, "suspend", lambda _: nullcontext())


def editor(*words: str) -> str:
    return shlex.join([sys.executable, "-c", *words])


@pytest.mark.parametrize("keys", [("ctrl+g",), ("ctrl+x", "ctrl+e"), ("ctrl+o", "v")])
@pytest.mark.usefixtures("suspends")
async def test_the_editor_sees_the_whole_and_what_it_saves_comes_back(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, keys: tuple[str, ...]
):
    monkeypatch.setenv("EDITOR", editor(SCRIPT, str(tmp_path / "where")))
    monkeypatch.delenv("VISUAL", raising=False)
    async with demo_app(backend).run_test() as pilot:
        prompt = (await ready(pilot)).surfaces.prompt
        prompt.paste("line\n" * 20)
        await pilot.press(*keys)
        await until(pilot, lambda: prompt.draft.startswith("LINE"), "the editor's text")
        assert prompt.text == "LINE\n" * 19 + "LINE\n"
        assert not Path((tmp_path / "where").read_text()).parent.exists()


@pytest.mark.usefixtures("suspends")
async def test_what_comes_back_meanwhile_is_kept(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    waits = (
        "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(.01)"
    )
    monkeypatch.setenv("VISUAL", editor(waits, str(tmp_path / "go")))
    async with demo_app(backend).run_test() as pilot:
        prompt = (await ready(pilot)).surfaces.prompt
        prompt.insert("typed")
        await pilot.press("ctrl+g")
        prompt.give_back("not answered")
        (tmp_path / "go").touch()
        await until(pilot, lambda: prompt.draft.count("typed") == 2, "the editor's text")
        assert prompt.draft == "typed\nnot answered\ntyped"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (editor("raise SystemExit(3)"), "failed (exit code 3). The draft is unchanged."),
        ("/no/such/editor", "/no/such/editor could not be started"),
        ("'vim", "cannot be parsed"),
    ],
)
@pytest.mark.usefixtures("suspends")
async def test_what_an_editor_fails_at_is_said(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch, command: str, said: str
):
    monkeypatch.setenv("VISUAL", command)
    async with demo_app(backend).run_test() as pilot:
        prompt = (await ready(pilot)).surfaces.prompt
        prompt.insert("typed")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: any(said in each for each in notices(pilot)), said)
        assert prompt.draft == "typed"


async def test_a_terminal_that_cannot_be_handed_over_is_told_of(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VISUAL", editor("pass"))
    async with demo_app(backend).run_test() as pilot:
        await ready(pilot)
        await pilot.press("ctrl+g")
        told = "An editor cannot be opened in this terminal."
        await until(pilot, lambda: any(told in each for each in notices(pilot)), told)


def test_without_a_variable_what_is_installed_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="No editor was found"):
        editor_command({"VISUAL": " "})
    (nano := tmp_path / "nano").touch(0o700)
    assert editor_command({}) == [str(nano)]
    assert editor_command({"EDITOR": "code --wait"}) == ["code", "--wait"]
