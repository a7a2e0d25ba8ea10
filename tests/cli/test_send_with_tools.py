"""`jitchat send --tools`: the tools of the configured servers, without the screen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.values import ToolCall

if TYPE_CHECKING:
    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

pytest.importorskip("mcp", reason="needs the extra mcp")
SERVER = Path(__file__).parents[1] / "tools" / "mcp" / "friendly_server.py"
SUM = ToolCall("c", "friendly__add", '{"a": 2, "b": 3}')


def configure(jitchat: Shell, more: str = "") -> None:
    """Configure one tool server."""
    jitchat.home.mkdir(exist_ok=True)
    (jitchat.home / "config.toml").write_text(
        f'[mcp.friendly]\ncommand = "{sys.executable}"\nargs = ["{SERVER}"]\n{more}'
    )


def test_allowed_tools_are_run_and_reported_with_the_reply(
    jitchat: Shell, scripted: ScriptedProvider
):
    configure(jitchat, 'allow = ["add"]\n')
    scripted.script, scripted.later = ("I add. ", SUM), [("It is five.",)]
    done = jitchat("send", "add two and three", "--tools")
    assert (done.code, done.out) == (0, "I add. \nIt is five.\n")
    assert "tool: friendly__add(a=2, b=3) → " in done.err
    result = scripted.requests[1][-1]
    assert result.use.answers == SUM
    assert "5" in result.content
    assert "friendly__add" in [tool.name for tool in scripted.options[0].tools]


def test_without_a_user_to_ask_other_tools_are_declined(jitchat: Shell, scripted: ScriptedProvider):
    configure(jitchat)
    scripted.script, scripted.later = (SUM,), [("Without it, then.",)]
    done = jitchat("send", "add two and three", "--tools")
    assert (done.code, done.out) == (0, "Without it, then.\n")
    assert scripted.requests[1][-1].content.startswith("Declined: nobody is here to be asked")


def test_a_server_that_does_not_start_is_reported_and_the_message_sent(
    jitchat: Shell, scripted: ScriptedProvider
):
    configure(jitchat)
    config = jitchat.home / "config.toml"
    config.write_text(config.read_text().replace(sys.executable, "/no/such/command"))
    done = jitchat("send", "hello", "--tools")
    assert (done.code, done.out) == (0, "Understood.\n")
    assert "friendly" in done.err


def test_without_the_flag_no_server_is_started(jitchat: Shell, scripted: ScriptedProvider):
    configure(jitchat)
    assert jitchat("send", "hello").code == 0
    assert "friendly__add" not in [tool.name for tool in scripted.options[0].tools]


LOG = "".join(f"request {number} of the harbour took {number % 90} ms\n" for number in range(2_000))


def test_a_long_message_is_stored_whole_and_sent_as_the_requested_part(
    jitchat: Shell, scripted: ScriptedProvider
):
    text = f"{LOG}ERROR the crane is stuck at berth 14\n{LOG}"
    done = jitchat(
        "send",
        "-",
        "--compact",
        "which crane is stuck",
        "--conversation",
        "demo",
        stdin=text.encode(),
    )
    assert done.code == 0, done.err
    assert len(scripted.requests[0][-1].content) < len(text) / 4
    assert "stuck at berth 14" in scripted.requests[0][-1].content
    assert jitchat.stored()["demo"][-2] == text
    jitchat("send", "and now?", "--conversation", "demo", "--mode", "full")
    assert "stuck at berth 14" in "".join(each.content for each in scripted.requests[1])


def test_a_very_long_message_is_reported(jitchat: Shell, scripted: ScriptedProvider):
    done = jitchat("send", "-", "--limit", "400000", stdin=(LOG * 2).encode())
    assert "--compact INSTRUCTION" in done.err
