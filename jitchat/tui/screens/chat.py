"""The chat: what the user sends, what comes back, and every action there is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on

from jitchat.tui.commands import (
    COMMANDS,
    LOOKS,
    Command,
    addressed_in,
    command_in,
    mistyped,
    turn_ahead,
)
from jitchat.tui.key_routing import KeyRouting, Question
from jitchat.tui.keys import bindings
from jitchat.tui.messages import SessionReady, SessionRefused
from jitchat.tui.notices import reports_errors
from jitchat.tui.screens.sending import NEW_TITLE
from jitchat.tui.screens.steered import HOLDS
from jitchat.tui.screens.viewing import ViewingScreen
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import ModeTab
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Mode
from jitchat.window.steering import NO_MORE

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend


class ChatScreen(ViewingScreen):
    """Where people spend their time."""

    BINDINGS = bindings()

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._waiting: str | None = None
        self.routing = KeyRouting(self)

    @on(events.Mount)
    def _follow_focus(self) -> None:
        """The footer shows the keys of the pane that has it."""
        self.bindings_updated_signal.subscribe(self, self._show_pane_keys)

    def _show_pane_keys(self, _: object) -> None:
        self.query_one(HintLine).show_pane(self.routing.footer())

    def watch_focused(self) -> None:
        """A question is of the place where it was asked."""
        if self.is_mounted:
            self.routing.forget()

    def to_keep(self) -> str:
        """With what waits for the conversation to be open."""
        return "\n".join(filter(None, (self._waiting, super().to_keep())))

    def action_ask(self, name: str) -> None:
        """Ask before a request that the user may have to pay for."""
        question = self.costs(name) if not self.busy else ""
        act = partial(self.run_action, name)
        if question:
            self.routing.ask(Question(question, act))
        else:
            self.call_later(act)

    async def action_answer(self, yes: bool) -> None:
        """Answer what is asked in the hint line."""
        await self.routing.answer(yes=yes)

    async def action_press_in_pane(self, key: str) -> None:
        """Do what the footer shows for the pane with the focus."""
        await self.routing.press(key)

    def action_submit(self) -> None:
        """Send what is in the prompt."""
        self.query_one(Prompt).submit()

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        self._prompt.hand_over(message.text)
        if (command := command_in(message.text)) is not None:
            await self._run_command(command)
        elif told := mistyped(message.text):
            self.query_one(Prompt).give_back(message.text)
            self.notify(told, markup=False)
        elif self.session is not None and not self.busy:
            await self._send_off(self.session, message.text)
        elif self.session is None and self.refusal is None and self._waiting is None:
            self._waiting = message.text
            self.query_one(HintLine).wait("opening the conversation, then sending")
        else:
            self.query_one(Prompt).give_back(message.text)
            self._say_why_not()

    async def _send_off(self, session: Session, typed: str) -> None:
        """Send what was typed, with all that was decided for this message alone."""
        said = addressed_in(typed)
        if not said.text.strip():
            self.query_one(Prompt).give_back(typed)
            self.notify(f"Write the message behind {typed.strip()}.", markup=False)
            return
        self.keeper.send(typed)
        if (after := self.leave_edit()) is not None:
            await self.show_up_to(session, after)
        once, self.once = replace(self.once, after=after), NO_MORE
        mode, self.once_mode = said.mode or self.once_mode, None
        self.show_mode()
        self.start(session, said.text, once, mode)

    async def _run_command(self, command: Command) -> None:
        """Do what was typed; a mode that does not exist is told of."""
        argument = command.argument
        if command.name in ("mode", "once") and argument not in list(Mode):
            self.notify(f"/{command.name} takes one of {', '.join(Mode)}.", markup=False)
            return
        if command.name in HOLDS and argument:
            self.hold_named(HOLDS[command.name], argument)
            return
        if command.name in LOOKS:
            turn, text = turn_ahead(argument) if command.name == "why" else ("", argument)
            self.look(LOOKS[command.name], text, turn)
            return
        given = f"({argument!r})" if argument else ""
        await self.run_action(f"{COMMANDS[command.name]}{given}")

    def _say_why_not(self) -> None:
        if self.refusal is not None:
            self.tell(self.refusal)
        else:
            self.waits()

    @on(Prompt.Changed)
    def _key_drawn(self) -> None:
        if self.busy:
            self.call_after_refresh(self.query_one(Transcript).draw_behind_key)

    @on(SessionReady)
    async def _send_waiting(self, message: SessionReady) -> None:
        if self._waiting is not None and message.opening == self.opening:
            draft, self._waiting = self._waiting, None
            await self._send_off(message.session, draft)

    @on(SessionRefused)
    def _refused_to_wait(self, message: SessionRefused) -> None:
        if message.opening == self.opening:
            self._return_waiting()

    def _return_waiting(self) -> None:
        if self._waiting is not None:
            self.query_one(HintLine).arrive()
            self.query_one(Prompt).give_back(self._waiting)
            self._waiting = None

    async def leave(self) -> None:
        """What waits to be sent is for the conversation that is left: back with it."""
        self._return_waiting()
        await super().leave()

    @on(ModeTab.Chosen)
    def _mode_chosen(self, message: ModeTab.Chosen) -> None:
        self.action_use_mode(message.mode.value)

    @on(BudgetBar.KindClicked)
    def _kind_clicked(self, message: BudgetBar.KindClicked) -> None:
        self.query_one(Inspector).remove_class("-hidden")
        self.query_one(Inspector).point_at(message.kind)

    @on(Prompt.ScrollAsked)
    def _scroll_asked(self, message: Prompt.ScrollAsked) -> None:
        self.query_one(Transcript).page(message.pages)

    @on(Prompt.QuitAsked)
    async def _quit_asked(self) -> None:
        await self.app.action_quit()

    def action_cycle_mode(self) -> None:
        """full → recency → jit; bar and inspector follow, without a request."""
        modes = list(Mode)
        self.action_use_mode(modes[(modes.index(self.mode) + 1) % len(modes)].value)

    def action_toggle_inspector(self) -> None:
        """Show or hide the inspector."""
        inspector = self.query_one(Inspector)
        inspector.toggle_class("-hidden")
        if inspector.has_class("-hidden") and inspector.has_focus_within:
            self.query_one(Prompt).focus()

    def action_wrap_code(self) -> None:
        """Show long lines of code whole, or cut them."""
        self.query_one(Transcript).wrap_code()

    def action_cancel(self) -> None:
        """Stop the reply; with none under way, back to the prompt."""
        if self.busy:
            self.stop()
        elif self.once.after is not None:
            self.leave_edit()
        else:
            self.query_one(Prompt).focus()

    @reports_errors
    async def action_new_conversation(self) -> None:
        """An empty conversation; one that is empty already is used again."""
        if self.waits():
            return
        store = self.backend.store
        empty = next((each for each in store.conversations() if not each.turns), None)
        await self.open(empty or store.create(NEW_TITLE))

    def action_resume(self) -> None:
        """Choose another conversation."""
        from jitchat.tui.dialogs.resume import ResumeScreen  # noqa: PLC0415  not on the first frame

        if not self.waits():
            self.app.push_screen(ResumeScreen(self.backend.store), self._resumed)

    @reports_errors
    async def _resumed(self, chosen: tuple[str, int | None] | None) -> None:
        if chosen is not None:
            await self.open(self.backend.store.conversation(chosen[0]), chosen[1])
            self.query_one(Prompt).focus()

    def action_fetch_model(self) -> None:
        """Fetch the better embedding model, or stop fetching it."""
        fetch = self.query_one(ModelFetch)
        if fetch.running:
            fetch.stop()
        else:
            fetch.start(asked=True)

    def action_help(self) -> None:
        """Keys and words."""
        from jitchat.tui.dialogs.help import HelpScreen  # noqa: PLC0415  not on the first frame

        self.app.push_screen(HelpScreen(self.backend.hint()))
