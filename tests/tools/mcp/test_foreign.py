"""A server of another language's SDK: npm's @modelcontextprotocol/server-everything."""

from __future__ import annotations

import shutil

import pytest

from jitchat.tools.mcp.server import Phase
from jitchat.tools.mcp.spec import ServerSpec

COMMAND = shutil.which("mcp-server-everything")


@pytest.mark.skipif(COMMAND is None, reason="npm's server-everything is not installed")
async def test_a_server_of_the_typescript_sdk_is_used_as_any_other(running):
    spec = ServerSpec("everything", str(COMMAND), ("stdio",), timeout=60)

    async with running(spec) as heard:
        (state,) = heard.servers.states()
        assert state.phase is Phase.READY, state.sentence
        echoed = await heard.call("everything__echo", message="grüße")
        server = heard.servers.server("everything")
        resources, prompts = await server.resources(), await server.prompts()
        template = next(each for each in resources if each.arguments)
        read = await server.read(template.uri, {template.arguments[0].name: "3"})
        said = await server.prompt("args-prompt", {"city": "Kiel"})

    assert echoed.content == "Echo: grüße"
    assert "Resource 3" in read
    assert "Kiel" in said
    assert "args-prompt" in [prompt.name for prompt in prompts]
