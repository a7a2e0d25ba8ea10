"""Servers over their own input and output and over HTTP: tools, resources, prompts, questions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest

from jitchat.tools.approvals import Claims, Rules
from jitchat.tools.mcp import connection
from jitchat.tools.mcp.elicitation import Field, Request, Response
from jitchat.tools.mcp.server import Phase
from jitchat.tools.mcp.spec import ServerSpec
from tests.support import ROOT
from tests.tools.mcp.conftest import FRIENDLY

TOOLS = ["add", "ask", "environment", "fail_now_3feaf8", "folder", "grow", "picture", "say"]


class Red:
    """Answers every question with red."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def elicit(self, request: Request) -> Response:
        self.requests.append(request)
        return Response("accept", (("colour", "red"),))


async def exercise(heard) -> None:
    """Everything that a server can do, once."""
    assert [name.removeprefix("friendly__") for name in heard.tools()] == TOOLS
    added, said, pictured, failed = await asyncio.gather(
        heard.call("friendly__add", a=1, b=2),
        heard.call("friendly__say", text="grüße"),
        heard.call("friendly__picture"),
        heard.call("friendly__fail_now_3feaf8"),
    )
    assert (added.content, added.is_error) == ('{\n  "total": 3\n}', False)
    assert (said.content, said.is_error) == ("grüße", False)
    assert pictured.content == "[image, image/png, 100 bytes; not shown]"
    assert failed.is_error
    assert "fail.now" in failed.content
    server = heard.servers.server("friendly")
    resource, template = await server.resources()
    assert (resource.uri, template.uri) == ("note://today", "note://{day}/{part}")
    assert not resource.arguments
    assert [(each.name, each.required) for each in template.arguments] == [
        ("day", True),
        ("part", True),
    ]
    assert await server.read(resource.uri) == "note://today\nWater the fern."
    filled = await server.read(template.uri, {"day": "1 May", "part": "noon"})
    assert filled == "note://1%20May/noon\nOn 1 May, noon: nothing."
    (prompt,) = await server.prompts()
    assert [(each.name, each.required) for each in prompt.arguments] == [("name", True)]
    assert await server.prompt("greeting", {"name": "Ada"}) == "Greet Ada kindly."


async def serve(heard, elicitor: Red, version: str) -> None:
    """Everything, with what a server does in the middle of a call and what it tells unasked."""
    await exercise(heard)
    asked = await heard.call("friendly__ask")
    await heard.call("friendly__grow")
    await heard.until(lambda: "friendly__grown" in heard.tools())
    assert heard.heard[1].protocol == version
    assert asked.content == "accept colour='red'"
    colour = Field("colour", "Colour", "string", required=True)
    assert elicitor.requests == [Request("friendly", "Which colour?", (colour,))]


@pytest.fixture(
    params=[
        pytest.param(("auto", "2026-07-28"), id="newer"),
        pytest.param(("legacy", "2025-11-25"), id="older", marks=pytest.mark.long("whole")),
    ]
)
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both generations of the protocol."""
    mode, version = request.param
    monkeypatch.setattr(connection, "Client", partial(connection.Client, mode=mode))
    return version


async def test_a_server_that_runs_here_serves_both_generations(running, version: str):
    elicitor = Red()

    async with running(FRIENDLY, elicitor=elicitor) as heard:
        await serve(heard, elicitor, version)

    assert heard.phases[-1] is Phase.STOPPED
    assert heard.tools() == []


@asynccontextmanager
async def served_over_http(*arguments: str) -> AsyncIterator[str]:
    """Run the friendly server at a port of its own; gives its address."""
    command = (sys.executable, "-m", "tests.tools.mcp.friendly_server", "http", *arguments)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.communicate()


async def test_a_server_that_has_an_address_serves_both_generations(running, version: str):
    elicitor = Red()

    async with (
        served_over_http() as url,
        running(ServerSpec("friendly", url=url), elicitor=elicitor) as heard,
    ):
        await serve(heard, elicitor, version)

    assert heard.phases[-1] is Phase.STOPPED


async def test_a_server_that_has_an_address_is_sent_its_headers(running, version: str):
    headers = {"X-Token": "${NO_SUCH_TOKEN:-abc-0123456789}"}

    async with served_over_http("X-Token", "abc-0123456789") as url:
        async with running(ServerSpec("friendly", url=url, headers=headers), environ={}) as heard:
            await exercise(heard)
        async with running(ServerSpec("friendly", url=url, headers={"X-Token": "no"})) as heard:
            (state,) = heard.servers.states()

    assert state.phase is Phase.FAILED
    assert "(401 Unauthorized). Check its headers" in state.sentence


async def test_servers_start_at_once_and_one_that_fails_leaves_the_others(running):
    gone = replace(FRIENDLY, name="gone", command="/nowhere/server")
    far = ServerSpec("far", url="http://127.0.0.1:9/mcp", timeout=5)
    lost = replace(FRIENDLY, name="lost", cwd="/nowhere")
    off = replace(FRIENDLY, name="off", enabled=False)
    unset = replace(FRIENDLY, name="unset", env={"KEY": "${NO_SUCH_KEY}"})

    rules = Rules(allow=("friendly",)).with_rules_of("friendly", Rules(deny=("fail.*", "s*")))

    async with running(FRIENDLY, gone, lost, far, off, unset, rules=rules) as heard:
        states = {state.name: state for state in heard.servers.states()}
        late = await heard.call("gone__do")
        names = heard.tools()
        claims = heard.servers.claims_of("friendly", "friendly__add")

    assert states["friendly"].phase is Phase.READY
    assert [f"friendly__{name}" for name in TOOLS if name[:4] not in ("say", "fail")] == names
    assert isinstance(claims, Claims)
    assert claims.annotations == ("read only", "accesses no external systems")
    assert 0 < states["friendly"].seconds < 20
    assert states["off"].phase is Phase.OFF
    failed = {name: states[name] for name in ("gone", "lost", "far", "unset")}
    assert {state.phase for state in failed.values()} == {Phase.FAILED}
    assert "there is no command /nowhere/server." in failed["gone"].sentence
    assert "there is no folder /nowhere." in failed["lost"].sentence
    assert "far cannot be reached" in failed["far"].sentence
    assert "mcp.unset.env.KEY needs $NO_SUCH_KEY" in failed["unset"].sentence
    assert late.is_error
