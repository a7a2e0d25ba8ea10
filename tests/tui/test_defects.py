"""A defect anywhere in the app leaves the terminal as it was, and a report without secrets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.benchmarks.terminal import Terminal

CANARY = "sk-canary-0123456789"
TEXT = "the user's own words"
PLACES = (
    "desk.DeskScreen.show_window",
    "desk.DeskScreen.show_status",
    "desk.DeskScreen.open",
    "desk.DeskScreen.compose",
    "chat.ChatScreen.plan_now",
    "desk.DeskScreen._return_unanswered",
    "chat.ChatScreen._start",
    "chat.ChatScreen._free",
    "chat.ChatScreen._named",
    "chat.ChatScreen.action_cycle_mode",
    "chat.ChatScreen.action_toggle_inspector",
    "desk.Inspector.show",
    "desk.Inspector.compose",
    "desk.BudgetBar.render",
    "desk.Transcript.show",
    "desk.Transcript.put",
    "desk.Transcript.stream",
    "desk.Transcript.mark",
    "desk.Prompt._on_key",
    "desk.HintLine.show_cost",
)
PROGRAM = """
import sys
from jitchat.cli.chat import run_chat
from jitchat.cli.options import Flags
from jitchat.tui.screens import chat, desk
module, owner, name = sys.argv[1].split(".")
secret_local = {canary!r}
def broken(self, *arguments, **named):
    text = {text!r}
    raise RuntimeError("Bearer {canary}")
setattr(getattr({{"chat": chat, "desk": desk}}[module], owner), name, broken)
sys.exit(run_chat(Flags(), None))
"""


def few(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return PLACES if request.config.getoption("--long") else PLACES[::9]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_terminal_is_restored_and_nothing_leaks(
    request: pytest.FixtureRequest, home: Path
) -> None:
    program = PROGRAM.format(canary=CANARY, text=TEXT)
    environ = dict(os.environ) | {"OPENAI_API_KEY": CANARY, "TERM": "xterm-256color"}
    for place in few(request):
        crash = home / "crash.txt"
        crash.unlink(missing_ok=True)
        terminal = Terminal([sys.executable, "-c", program, place], environ)
        code, drawn = terminal.until_exit(keys="a\r\x1b[Z\x1bOQ")
        assert code == 1, place
        assert drawn.rfind(b"\x1b[?1049l") > drawn.rfind(b"\x1b[?1049h"), place
        assert drawn.rfind(b"\x1b[?25h") > drawn.rfind(b"\x1b[?25l"), place
        report = crash.read_text()
        assert "RuntimeError" in report, place
        for secret in (CANARY, TEXT):
            assert secret not in report, place
            assert secret.encode() not in drawn, place
        assert crash.stat().st_mode & 0o777 == 0o600
