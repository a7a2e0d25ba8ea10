"""Turns in which the model calls tools of a real server: allowed, declined, kept."""

from __future__ import annotations

from dataclasses import replace

from jitchat.session_options import SessionOptions
from jitchat.tools.approvals import Answer, Approvals, Rules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Role, ToolCall
from jitchat.window.budget import Budget
from tests.session.sending import send
from tests.support import ScriptedProvider, conversation_of, dump_of, session_on, talk
from tests.tools.mcp.conftest import FRIENDLY
from tests.tools.test_approvals import Scripted

CANARY = "sk-canary-0123456789abcdef"


async def test_a_turn_runs_what_is_allowed_and_tells_the_model_of_what_is_declined(running, store):
    calls = (
        ToolCall("1", "friendly__add", '{"a": 2, "b": 3}'),
        ToolCall("2", "friendly__say", '{"text": "hello"}'),
        ToolCall("3", "friendly__environment", "{}"),
    )
    provider = ScriptedProvider(calls, later=[("Five.",)])
    approver = Scripted([Answer.DECLINE, Answer.ONCE])
    server = replace(FRIENDLY, env={"TOKEN": CANARY})

    async with running(server) as heard:
        decides = Approvals(Rules(allow=("friendly__add",)), heard.servers, approver)
        options = SessionOptions(
            budget=Budget(128_000), toolbox=Toolbox(heard.servers.sources(), decides)
        )
        session = session_on(
            store, conversation_of(store, talk("a talk")), provider, options=options
        )
        await send(session, "what is 2 and 3?")

    results = [turn for turn in session.memory.turns if turn.role is Role.TOOL]
    added, said, environment = sorted(results, key=lambda turn: turn.use.answers.id)
    assert (added.content, added.use.is_error) == ('{\n  "total": 5\n}', False)
    assert said.use.is_error
    assert said.content.startswith("Declined by the user")
    assert [question.tool for question in approver.questions] == ["say", "environment"]
    assert "'TOKEN'" in environment.content
    assert session.memory.turns[-1].content == "Five."
    offered = provider.options[0].tools
    assert [tool.name for tool in offered] == sorted(tool.name for tool in offered)
    with store.database.read() as connection:
        assert CANARY not in "\n".join(dump_of(connection))
