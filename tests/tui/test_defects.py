"""A defect anywhere in the app leaves the terminal as it was, and a report without secrets."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CANARY = "sk-canary-0123456789"
TEXT = "the user's own words"
SCREEN, CHAT = "jitchat.tui.chat.screen:ChatScreen", "jitchat.tui.chat"
WIDGETS = "jitchat.tui.widgets"
PLACES = (
    f"{CHAT}.host:Surfaces.show_window",
    f"{CHAT}.opening:Indexing.show_status",
    f"{SCREEN}.open",
    f"{SCREEN}.compose",
    f"{CHAT}.previews:Previews.plan",
    f"{CHAT}.views:Views.load",
    f"{CHAT}.sends:Sends.start",
    f"{CHAT}.sends:Sends.release",
    f"{CHAT}.sends:Sends._named",
    f"{CHAT}.choices:Choices.cycle_mode",
    f"{SCREEN}.action_toggle_inspector",
    f"{WIDGETS}.inspector:Inspector.show",
    f"{WIDGETS}.inspector:Inspector.compose",
    f"{WIDGETS}.budget_bar:BudgetBar.render",
    f"{WIDGETS}.transcript:Transcript.show",
    f"{WIDGETS}.transcript:Transcript.put",
    f"{WIDGETS}.transcript:Transcript.stream",
    f"{WIDGETS}.transcript:Transcript.mark",
    f"{WIDGETS}.prompt:Prompt._on_key",
    f"{WIDGETS}.hint_line:HintLine.show_cost",
)
"""Methods as the app finds them: one that moves or goes away fails the test."""
PROGRAM = """
import sys
from importlib import import_module
from jitchat.cli.chat import run_chat
from jitchat.cli.options import Flags
module, _, path = sys.argv[1].partition(":")
owner, name = path.split(".")
used = getattr(import_module(module), owner)
getattr(used, name)
secret_local = {canary!r}
def broken(self, *arguments, **named):
    text = {text!r}
    raise RuntimeError("Bearer {canary}")
setattr(used, name, broken)
sys.exit(run_chat(Flags()))
"""


def test_every_place_is_one_that_the_app_has() -> None:
    for place in PLACES:
        module, _, path = place.partition(":")
        assert callable(attrgetter(path)(import_module(module))), place


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_terminal_is_restored_and_nothing_leaks(
    rounds: Callable[[int, int], int], home: Path
) -> None:
    program = PROGRAM.format(canary=CANARY, text=TEXT)
    environ = dict(os.environ) | {"OPENAI_API_KEY": CANARY, "TERM": "xterm-256color"}
    for place in PLACES[:: rounds(30, 1)]:
        crash = home / "crash.txt"
        crash.unlink(missing_ok=True)
        terminal = Terminal([sys.executable, "-c", program, place], environ)
        code, drawn = terminal.until_exit(keys="a\r\x1b[Z\x1bOQ")
        terminal.close()
        assert code == 1, place
        assert drawn.rfind(b"\x1b[?1049l") > drawn.rfind(b"\x1b[?1049h"), place
        assert drawn.rfind(b"\x1b[?25h") > drawn.rfind(b"\x1b[?25l"), place
        report = crash.read_text()
        assert "RuntimeError" in report, place
        for secret in (CANARY, TEXT):
            assert secret not in report, place
            assert secret.encode() not in drawn, place
        assert crash.stat().st_mode & 0o777 == 0o600
