"""MCP servers in the app: start them, offer their tools to sessions, ask before a call runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from jitchat.text.sanitize import one_line
from jitchat.tools.approvals import Answer, Question
from jitchat.tui.chat.host import Controller
from jitchat.tui.notices import READ_SECONDS
from jitchat.tui.widgets.prompt import TYPING_SECONDS

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tools.mcp.elicitation import Request, Response
    from jitchat.tools.mcp.server import Server, Servers, ServerState


@dataclass(eq=False)
class Tools(Controller):
    """Starts servers after the first frame, and asks the user before a tool call runs."""

    @dataclass
    class Changed(Message):
        """The state of a server has changed."""

        state: ServerState

    _servers: Servers | None = None
    _was_started: bool = False
    _asked: Question | None = None
    _answer: asyncio.Future[Answer] | None = None

    def offer(self, session: Session) -> None:
        """Give a session the tools of all servers; the first call starts the servers."""
        if not self._was_started:
            self._was_started = True
            self._servers = self.backend.open_servers(
                lambda state: self.host.post(self.Changed(state)), self
            )
            if self._servers is not None:
                self._servers.start()
        if self._servers is not None:
            session.use_tools(self.backend.toolbox(self._servers, self))

    def take(self, message: Changed) -> None:
        """Report what is wrong with a server; the top line lists the failed and the starting."""
        state = message.state
        if state.sentence and state.phase in ("failed", "ready"):
            self.host.warn(one_line(state.sentence), seconds=READ_SECONDS)
        named = {"tools failed": self._in("failed"), "tools starting": self.starting()}
        lists = [f"{what}: {', '.join(names)}" for what, names in named.items() if names]
        self.surfaces.trouble = " · ".join(lists)

    def start_again(self) -> None:
        """Start the servers that failed, without waiting for their next attempt."""
        failed = self._in("failed")
        if self._servers is not None and failed:
            self._servers.start()
        else:
            self.host.say("No MCP server has failed.")

    async def approve(self, question: Question) -> Answer:
        """Ask the user about a tool call; cancelling this call withdraws the question."""
        self._asked, self._answer = question, asyncio.get_running_loop().create_future()
        self.surfaces.approval.ask(question)
        self.surfaces.hint.wait(
            f"{question.tool} waits for your answer; {self.keys['cancel']} stops the turn"
        )
        try:
            return await self._answer
        finally:
            self._asked = self._answer = None
            self.surfaces.approval.close()
            self.surfaces.hint.wait(f"waiting for the tools; {self.keys['cancel']} stops the turn")

    def answer(self, answer: Answer) -> bool:
        """Handle the user's answer; return False if no question is open that takes it."""
        if self._answer is None or self._answer.done() or self._asked is None:
            return False
        if answer not in self._asked.choices:
            return False
        self._answer.set_result(answer)
        return True

    async def elicit(self, request: Request) -> Response:
        """Have the user fill in a server's form; cancelling this call withdraws the request."""
        from jitchat.tui.dialogs.form import FormScreen  # noqa: PLC0415  seldom

        await self._pause_in_typing()
        done: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        screen = FormScreen(
            f"{request.server} asks",
            request.message,
            request.fields,
            url=request.url,
            declines=True,
        )

        def left(response: Response) -> None:
            if not done.done():
                done.set_result(response)

        self.host.push(screen, left)
        try:
            return await done
        finally:
            if screen.is_active:
                screen.dismiss()

    async def _pause_in_typing(self) -> None:
        """Wait for a pause in typing, because the text being typed is meant for the prompt."""
        while self.surfaces.prompt.typing:  # noqa: ASYNC110  no event ends a burst of keys
            await asyncio.sleep(TYPING_SECONDS)

    def ready(self) -> tuple[Server, ...]:
        """Return the servers that are running."""
        return tuple(map(self.server, self._in("ready")))

    def starting(self) -> tuple[str, ...]:
        """Return the names of servers that are starting or restarting."""
        return self._in("starting", "restarting")

    def _in(self, *phases: str) -> tuple[str, ...]:
        states = self._servers.states() if self._servers is not None else ()
        return tuple(each.name for each in states if each.phase in phases)

    def server(self, name: str) -> Server:
        """Return a configured server by its name."""
        if self._servers is None:
            raise LookupError(name)
        return self._servers.server(name)

    async def stop(self) -> None:
        """Stop all servers and their child processes."""
        if self._servers is not None:
            await self._servers.stop()
