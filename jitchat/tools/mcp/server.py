"""One tool server, kept running: started, restarted when it ends, and stopped.

A separate task holds the connection from start to end, because the SDK requires both in the same
task; calls come from any task. A server that ends is restarted a few times; its tools stay listed
meanwhile, and calls wait for it. A server that cannot be started has a state with a sentence; one
with an address is tried again, because it may only be down. `Servers` are all of the settings.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jitchat.errors import JitchatError
from jitchat.text.sanitize import repair
from jitchat.tools.approvals import Claims, Rules, Verdict, names_of
from jitchat.tools.mcp.names import offered_names
from jitchat.tools.mcp.spec import ServerFailed, ServerSpec, SessionEnded
from jitchat.tools.source import Step, ToolOutput
from jitchat.values import Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    import anyio

    from jitchat.tools.mcp.connection import Connection, Signals
    from jitchat.tools.mcp.elicitation import Elicitor
    from jitchat.tools.mcp.values import ListedTool, Prompt, Resource

_Answer = TypeVar("_Answer")
PAUSES = (0.2, 2.0, 10.0)
"""Seconds before a server that ended or is down is started again; then it is left alone."""
LASTING = 60.0
"""Seconds of running after which a server's restarts are counted from zero again."""
CALL_SECONDS = 600.0
MOST_TOOLS = 500
"""Several times what large servers list; 20,000 tools took 20 s and 1.7 million tokens."""
_TOO_MANY = f"{{name}} lists more than {MOST_TOOLS} tools; the first {MOST_TOOLS} are offered."
NO_SDK = "Tool servers need the package mcp, which is not installed."
INSTALL = "Run: pip install 'jitchat[mcp]'"


class Phase(StrEnum):
    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's state, for the header, the palette and `jitchat mcp check`."""

    name: str
    phase: Phase
    sentence: str = ""
    """What is wrong and what to do; empty if nothing is wrong."""
    tools: int = 0
    """Number of offered tools."""
    protocol: str = ""
    """The negotiated protocol version; empty before the connection."""
    seconds: float = 0.0
    """Seconds from the start until the server was ready."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    rules: Rules = field(default_factory=Rules)
    """A tool that the rules deny is not listed."""
    environ: Mapping[str, str] | None = None
    """The environment for variables; None for this process's environment."""
    elicitor: "Elicitor | None" = None
    """Answers a server's questions to the user; if None, no server can ask."""
    pointer: str = "`jitchat mcp check` shows more."
    """Ends the sentences about a server that failed."""
    pauses: Sequence[float] = PAUSES
    call_seconds: float = CALL_SECONDS


class Server:
    """A source of tools, named like the server in the settings."""

    def __init__(
        self,
        spec: ServerSpec,
        errors: Path,
        options: ServerOptions | None = None,
        on_change: Callable[[ServerState], object] = lambda _: None,
    ) -> None:
        """`errors` is the file for the server's standard error."""
        self._spec, self.errors, self._on_change = spec, errors, on_change
        self._options = options or ServerOptions()
        phase = Phase.STOPPED if spec.enabled else Phase.OFF
        self.state = ServerState(spec.name, phase)
        self._connection: Connection | None = None
        self._settled = asyncio.Event()
        """Set while the server is ready, or after it has failed."""
        self._keeping: asyncio.Task[None] | None = None
        self._scope: anyio.CancelScope | None = None
        self._began = 0.0
        """Monotonic time of the latest start."""
        self._tools: tuple[Tool, ...] = ()
        self._note = ""
        """What is wrong with the list of tools."""
        self._claims: dict[str, Claims] = {}
        """Claims by the name under which the tool is offered."""

    @property
    def name(self) -> str:
        return self._spec.name

    # As a source of tools

    def tools(self) -> tuple[Tool, ...]:
        """List the tools that can be called now, without contacting the server."""
        return self._tools

    def claims_of(self, tool: str) -> Claims | None:
        return self._claims.get(tool)

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:  # noqa: ARG002  of the port
        """Run a call; cancelling it stops the call. A failure is a result with `is_error`."""
        claims = self._claims.get(call.name)
        if claims is None:
            gone = f"{self.name} has no tool {call.name!r} any more. Go on without it."
            return ToolOutput(ToolResult(call, gone, is_error=True))
        try:
            async with asyncio.timeout(self._options.call_seconds):
                called = await self._ask(lambda c: c.call(claims.name, dict(arguments)))
        except TimeoutError:
            late = f"{self.name} did not answer within {self._options.call_seconds:g} seconds."
            unknown = "Whether it did anything is not known."
            return ToolOutput(ToolResult(call, f"{late} {unknown}", is_error=True))
        except JitchatError as error:
            failed = f"The call failed: {error.what} Whether it did anything is not known."
            return ToolOutput(ToolResult(call, failed, is_error=True))
        return ToolOutput(ToolResult(call, called.text, is_error=called.is_error))

    # Resources and prompts, to be attached

    async def resources(self) -> "list[Resource]":
        """List the resources, templates last. Raises ServerFailed, as do the next three methods."""

        async def listed(connection: "Connection") -> "list[Resource]":
            return [*await connection.resources(), *await connection.templates()]

        return await self._ask(listed)

    async def read(self, uri: str, values: Mapping[str, str] | None = None) -> str:
        """Read a resource as text; other content is named in a line."""
        return await self._ask(lambda c: c.read(uri, values or {}))

    async def prompts(self) -> "list[Prompt]":
        return await self._ask(lambda c: c.prompts())

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Fill in a prompt; return the text to send."""
        return await self._ask(lambda c: c.prompt(name, arguments))

    async def _ask(self, ask: "Callable[[Connection], Coroutine[Any, Any, _Answer]]") -> "_Answer":
        """Ask the server; if it has forgotten the session, once more in a new one."""
        try:
            return await ask(await self.ready())
        except SessionEnded:
            return await ask(await self.ready())

    async def ready(self) -> "Connection":
        """Wait until the server is ready. Raises ServerFailed if it has failed."""
        await self._settled.wait()
        if self._connection is None:
            sentence = self.state.sentence or f"{self.name} is not running."
            raise ServerFailed(sentence, self._options.pointer)
        return self._connection

    # From its start to its end

    def start(self) -> None:
        """Start the server in the background, unless it is running or switched off."""
        if self._keeping is not None and self._scope is None and self.state.phase is Phase.FAILED:
            self._keeping.cancel()  # between two attempts
            self._keeping = None
        is_running = self._keeping is not None and not self._keeping.done()
        if self._spec.enabled and not is_running:
            self._settled.clear()
            self._report(Phase.STARTING)
            self._keeping = asyncio.create_task(self._keep(), name=f"mcp {self.name}")
            self._keeping.add_done_callback(self._heed_defect)
        if not self._spec.enabled:
            self._settled.set()

    async def started(self) -> ServerState:
        """Wait until the server is ready or has failed."""
        await self._settled.wait()
        return self.state

    async def stop(self) -> None:
        """Stop the server and the processes that it started."""
        keeping, self._keeping = self._keeping, None
        if keeping is None:
            return
        if self._scope is None:  # between two starts, or before the first
            keeping.cancel()
        else:
            self._scope.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.shield(keeping)
        if not keeping.done():  # `stop` itself was cancelled
            keeping.cancel()
            await asyncio.wait([keeping])
        self._leave(Phase.STOPPED, "")

    async def _keep(self) -> None:
        """Keep the server running until it is stopped, fails too often, or cannot be started."""
        if find_spec("mcp") is None:
            self._leave(Phase.FAILED, f"{NO_SDK} {INSTALL}")
            return
        ends = 0
        has_run = False
        while True:
            began = time.monotonic()
            failed = ""
            try:
                if not await self._run_once():
                    return
                has_run = True
            except JitchatError as error:
                failed = str(error)
            ends = 1 if time.monotonic() - began > LASTING else ends + 1
            is_last = ends > len(self._options.pauses)
            if failed and (is_last or not has_run):  # nobody waits while a first start is retried
                self._leave(Phase.FAILED, failed)
            elif is_last:
                self._leave(Phase.FAILED, self._ended_sentence(ends))
            else:
                self._settled.clear()
                self._report(Phase.RESTARTING, f"{self.name} ended and is being restarted.")
            if is_last or not (has_run or self._spec.url):
                return
            await asyncio.sleep(self._options.pauses[ends - 1])

    def _heed_defect(self, keeping: asyncio.Task[None]) -> None:
        """Release the waiting callers if the task failed by a defect."""
        error = None if keeping.cancelled() else keeping.exception()
        if error is not None:
            self._leave(Phase.FAILED, f"{self.name}: internal error ({type(error).__name__}).")

    def _ended_sentence(self, times: int) -> str:
        return f"{self.name} ended {times} times. Its error output is in {self.errors}."

    async def _run_once(self) -> bool:
        """Start the server and wait for its end: True if it ended by itself, False if stopped.

        Raises:
            JitchatError: The server could not be started, or not in time.

        """
        sdk = await asyncio.to_thread(import_module, "jitchat.tools.mcp.connection")
        cancelling = await asyncio.to_thread(import_module, "anyio")
        environ = os.environ if self._options.environ is None else self._options.environ
        spec = self._spec.expanded(environ)
        signals: Signals = sdk.Signals(
            on_end=self._settled.clear, secrets=spec.secrets, pointer=self._options.pointer
        )
        is_ready = False
        try:
            with cancelling.move_on_after(spec.timeout) as self._scope:
                connecting = sdk.connected(spec, self.errors, signals, self._options.elicitor)
                async with connecting as connection:
                    await self._take_tools(connection)
                    is_ready = True
                    assert self._scope is not None  # noqa: S101  set by `with`
                    self._scope.deadline = float("inf")
                    await self._serve(connection, signals)
        except (*sdk.FAILURES, BaseExceptionGroup) as error:
            if not is_ready:
                raise sdk.failure(error, spec, signals) from None
        finally:
            was_stopped = self._keeping is None
            self._connection, self._scope = None, None
        if not is_ready and not was_stopped:
            raise ServerFailed(*_late(spec, signals))
        return not was_stopped

    async def _serve(self, connection: "Connection", signals: "Signals") -> None:
        """Accept calls and refresh the list of tools when it changes, until the server ends."""
        self._connection = connection
        self._report(Phase.READY, self._note, connection.protocol)
        self._settled.set()
        watching = asyncio.create_task(connection.watch(signals))
        try:
            while not signals.ended.is_set():
                await _first_of(signals.changed.wait(), signals.ended.wait())
                if signals.changed.is_set() and not signals.ended.is_set():
                    signals.changed = type(signals.changed)()
                    with suppress(ServerFailed):
                        await self._take_tools(connection)
                    self._report(Phase.READY, self._note, connection.protocol)
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _take_tools(self, connection: "Connection") -> None:
        given = await connection.tools(MOST_TOOLS)
        listed = {tool.name: tool for tool in reversed(given[:MOST_TOOLS])}
        self._note = _TOO_MANY.format(name=self.name) if len(given) > MOST_TOOLS else ""
        names = offered_names(self.name, listed)
        made = [self._made(names[name], tool) for name, tool in listed.items()]
        kept = [
            (tool, claims)
            for tool, claims in made
            if self._options.rules.verdict(self.name, names_of(self.name, tool, claims))
            is not Verdict.DENY
        ]
        self._claims = {tool.name: claims for tool, claims in kept}
        self._tools = tuple(sorted((tool for tool, _ in kept), key=lambda tool: tool.name))

    def _made(self, name: str, listed: "ListedTool") -> tuple[Tool, Claims]:
        schema = repair(json.dumps(listed.schema, ensure_ascii=False, sort_keys=True))
        tool = Tool(name, repair(listed.description), schema)
        return tool, Claims(listed.name, listed.annotations, self._spec.launch)

    def _leave(self, phase: Phase, sentence: str) -> None:
        self._connection, self._tools, self._claims = None, (), {}
        self._report(phase, sentence)
        self._settled.set()

    def _report(self, phase: Phase, sentence: str = "", protocol: str = "") -> None:
        if phase in (Phase.STARTING, Phase.RESTARTING):
            self._began = time.monotonic()
        is_new = phase is Phase.READY and self.state.phase is not Phase.READY
        seconds = time.monotonic() - self._began if is_new else self.state.seconds
        count = len(self._tools)
        self.state = ServerState(self.name, phase, sentence, count, protocol, seconds)
        self._on_change(self.state)


def _late(spec: ServerSpec, signals: "Signals") -> tuple[str, str]:
    late = f"{spec.name} was not ready within {spec.timeout:g} seconds."
    if signals.stray:
        late += " Its standard output contains lines that are not protocol messages."
    return late, f"Raise its timeout to allow more time. {signals.pointer}".strip()


async def _first_of(*waits: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Servers:
    """The configured servers. Create it in a running event loop; `start` starts the servers."""

    def __init__(
        self,
        specs: Iterable[ServerSpec],
        folder: Path,
        options: ServerOptions | None = None,
        on_change: Callable[[ServerState], object] = lambda _: None,
    ) -> None:
        """`folder` holds the servers' standard error, one file each."""
        self._servers = {
            spec.name: Server(spec, folder / f"{spec.name}.log", options, on_change)
            for spec in specs
        }

    def start(self) -> None:
        """Start all servers in the background; `on_change` receives their states."""
        for server in self._servers.values():
            server.start()

    async def started(self) -> tuple[ServerState, ...]:
        """Wait until every server is ready or has failed."""
        return tuple(await asyncio.gather(*(each.started() for each in self._servers.values())))

    async def stop(self) -> None:
        """Stop all servers together, and the processes that they started."""
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    def sources(self) -> tuple[Server, ...]:
        return tuple(self._servers.values())

    def server(self, name: str) -> Server:
        return self._servers[name]

    def states(self) -> tuple[ServerState, ...]:
        return tuple(server.state for server in self._servers.values())

    def claims_of(self, source: str, tool: str) -> Claims | None:
        """Look up a server's claims about a tool, by the name under which the tool is offered."""
        server = self._servers.get(source)
        return server.claims_of(tool) if server is not None else None
