"""Tools for tests: a scripted source of tools, and a session that offers it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jitchat.session_options import SessionOptions
from jitchat.tools.mcp.server import Phase, ServerState
from jitchat.tools.mcp.values import Prompt, Resource
from jitchat.tools.source import Step, ToolOutput
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Tool, ToolCall, ToolResult
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider, conversation_of, session_on, talk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jitchat.session import Session
    from jitchat.store.store import ColdStore


def tool(name: str) -> Tool:
    return Tool(name, f"Gives {name}.", json.dumps({"type": "object", "properties": {}}))


@dataclass
class ScriptedTools:
    """Gives back what is set for a call's name; waits where an event is set for its id."""

    given: dict[str, str] = field(default_factory=lambda: {"look": "a lamp", "count": "3 boats"})
    waits: dict[str, asyncio.Event] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    """Ids of the calls, as they began."""
    steps: list[Step] = field(default_factory=list)
    name: str = "scripted"

    def tools(self) -> tuple[Tool, ...]:
        return tuple(map(tool, self.given))

    async def resources(self) -> list[Resource]:
        return []

    async def prompts(self) -> list[Prompt]:
        return []

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        self.ran.append(call.id)
        self.steps.append(step)
        if (waiting := self.waits.get(call.id)) is not None:
            await waiting.wait()
        return ToolOutput(ToolResult(call, self.given[call.name]))


def call(identity: str, name: str = "look", arguments: str = "{}") -> ToolCall:
    return ToolCall(identity, name, arguments)


def with_tools(
    store: ColdStore,
    *answers: tuple,
    tools: ScriptedTools | None = None,
    limit: int = 128_000,
    most_steps: int = 12,
) -> Session:
    """A session on a short conversation, whose provider gives one answer a request."""
    toolbox = Toolbox((tools or ScriptedTools(),), most_steps=most_steps)
    texts = [f"turn {number} of the harbour talk" for number in range(1, 5)]
    provider = ScriptedProvider(answers[0], later=list(answers[1:]))
    options = SessionOptions(budget=Budget(limit), toolbox=toolbox)
    return session_on(store, conversation_of(store, talk(*texts)), provider, options=options)


@dataclass
class ScriptedServers:
    """Servers of tools that are there at once."""

    tools: ScriptedTools = field(default_factory=ScriptedTools)
    state: str = "stopped"

    def start(self) -> None:
        self.state = "ready"

    async def stop(self) -> None:
        self.state = "stopped"

    def sources(self) -> tuple[ScriptedTools, ...]:
        return (self.tools,)

    def server(self, name: str) -> ScriptedTools:
        assert name == self.tools.name
        return self.tools

    def states(self) -> tuple[ServerState, ...]:
        return (ServerState(self.tools.name, Phase(self.state)),)

    def claims_of(self, source: str, name: str) -> None:
        """Nothing is claimed."""
