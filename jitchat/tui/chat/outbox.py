"""Handle submitted text: run it if it is a command, else send it as a message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from jitchat.draft import Draft
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.files.named import mentions_of
from jitchat.text.sanitize import one_line
from jitchat.tools.compacting import LARGE_MESSAGE
from jitchat.tui.chat.branches import Branches
from jitchat.tui.chat.commands import Command, addressed_in, command_in, mistyped
from jitchat.tui.chat.drafting import Offers
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.key_routing import KeyRouting, Question
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import NextMessage, Steering
from jitchat.tui.chat.tools import Tools
from jitchat.tui.dialogs.large_message import Choice, Chosen, LargeMessageScreen
from jitchat.window.steering import Once

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.session import Session


@dataclass(eq=False)
class Outbox(Controller):
    """Handles submitted text; a message that cannot be sent goes back to the prompt."""

    opening: Opening
    steering: Steering
    sends: Sends
    branches: Branches
    tools: Tools
    offers: Offers
    routing: KeyRouting
    run_action: Callable[[str], Awaitable[object]]
    """Runs a Textual action of the screen."""

    waiting: Draft | None = None
    """A message that waits for the conversation to open, or for an answer on how to send it."""

    async def take(self, draft: Draft) -> None:
        prompt, session, text = self.surfaces.prompt, self.opening.session, draft.text
        prompt.hand_over(draft)
        prompts = self.surfaces.prompts
        if (command := command_in(text, prompts)) is not None:
            await self._run(command)
        elif sentence := mistyped(text, prompts):
            prompt.give_back(draft)
            self.host.say(sentence)
        elif self.waiting is not None:
            prompt.give_back(draft)
            self.sends.waits()
        elif session is not None and not self.sends.busy:
            await self._send(session, draft)
        elif session is None and self.opening.refusal is None:
            self.waiting = draft
            self.surfaces.hint.wait("sending once the conversation is open")
        else:
            prompt.give_back(draft)
            if self.opening.refusal is not None:
                self.host.show_error(self.opening.refusal)
            else:
                self.sends.waits()

    async def send_waiting(self, session: Session) -> None:
        """Send the message that was waiting for the conversation to open, if there is one."""
        if self.waiting is not None:
            await self._send(session, self.waiting)

    def return_waiting(self) -> None:
        """Put a message that waits back into the prompt."""
        if self.waiting is not None:
            self.surfaces.hint.arrive()
            self.surfaces.prompt.give_back(self.waiting)
            self.waiting = None

    async def _run(self, command: Command) -> None:
        name, argument = command.name, command.argument
        if name in self.surfaces.prompts.sentences:
            self.offers.take_prompt(name, argument)
        else:
            action = command.action
            await self.run_action(action.call(argument) if argument else action.run)

    async def _send(self, session: Session, typed: Draft) -> None:
        """Send the typed text; until its reply begins, the conversation is not left.

        Until then it is kept like a draft, for the case that the app ends.
        """
        self.sends.prepares = True
        self.waiting = typed
        try:
            await self._prepare(session, typed)
        except JitchatError:
            self.return_waiting()
            raise
        finally:
            self.sends.prepares = False

    async def _prepare(self, session: Session, typed: Draft) -> None:
        """Send the typed text with the choices made for this message only."""
        message = typed.ending(addressed_in(typed.text).text)
        if not message.text.strip():
            self.return_waiting()
            self.host.say(f"Type a message after {typed.text.strip()}.")
            return
        found = Once(mentions=mentions_of(message))
        folder = None
        with suppress(JitchatError):  # reported by the send
            found = await asyncio.to_thread(session.find_named, found)
            folder = await asyncio.to_thread(session.folder_to_allow, found)
        if folder is not None:
            self.return_waiting()
            text = f"Attach files of {one_line(str(folder))} from now on?"
            allow = self.host.showing_errors(partial(self._allow, session, folder))
            self.routing.ask(Question(text, allow))
            return
        question = await question_on(session, self.steering.as_message(typed))
        if question is not None:
            self.host.run(partial(self._ask, session, typed, question), "large", exclusive=True)
        else:
            await self._start(session, typed, found)

    async def _allow(self, session: Session, folder: Path) -> None:
        """Let mentions attach files of a folder, and submit the draft again."""
        await asyncio.to_thread(session.allow_folder, folder)
        self.surfaces.prompt.submit()

    async def _ask(self, session: Session, typed: Draft, question: LargeMessageScreen) -> None:
        """Ask how to send a very long message; if cancelled, it goes back to the prompt."""
        chosen = await self.host.wait_for(question)
        if chosen is None or session is not self.opening.session or self.sends.busy:
            self.return_waiting()
            return
        if chosen.choice is Choice.ALL:
            session.spending.exceed_once()
        self.surfaces.hint.wait("compacting the message")
        try:
            form = await form_of(session, addressed_in(typed.text).text, chosen)
        except JitchatError:
            self.return_waiting()
            raise
        self.surfaces.hint.arrive()
        await self._start(session, typed, Once(form=form))

    async def _start(self, session: Session, typed: Draft, known: Once) -> None:
        """Start a send; its form, and the files that it names, may be known already."""
        self.opening.keeper.send(typed)
        self.waiting = None
        if (after := self.branches.leave_edit()) is not None:
            await self.branches.show_up_to(session, after)
        draft, once, mode = self.steering.take(typed, after)
        self.sends.start(session, draft, replace(once, form=known.form, named=known.named), mode)
        if starting := self.tools.starting():
            late = starting[0] if len(starting) == 1 else f"{len(starting)} servers"
            self.host.say(f"Sent without the tools of {late} (still starting).")


async def question_on(session: Session, message: NextMessage) -> LargeMessageScreen | None:
    """Return the dialog that asks how to send a message; None if all of it can be sent.

    Only a very long message is asked about: of any other, the send says what is in the way.
    """
    text = message.text
    if len(text) <= LARGE_MESSAGE:  # a token has at least one character
        return None
    tokens = await asyncio.to_thread(session.counter.count, text)
    if tokens <= LARGE_MESSAGE:
        return None
    fits, why = True, ""
    try:
        window = await asyncio.to_thread(session.preview, *message)
        if not session.spending.is_lifted:
            why = (await asyncio.to_thread(session.forecast, window)).exceeded
    except WindowOverflow as overflow:
        fits, why = False, overflow.what
    except JitchatError:  # reported by the send
        return None
    if not why:
        return None
    seen = await asyncio.to_thread(session.previewed, text)
    return LargeMessageScreen(tokens, why, seen, fits=fits)


async def form_of(session: Session, text: str, chosen: Chosen) -> str | None:
    """Return the text that windows carry instead of the message; None for all of it."""
    if chosen.choice is Choice.ALL:
        return None
    if chosen.choice is Choice.PREVIEW:
        return await asyncio.to_thread(session.previewed, text)
    return await session.compacted(text, chosen.instruction)
