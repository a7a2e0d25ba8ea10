"""The chat screen: its widgets and controllers, and the order in which they are called.

Each controller owns its state. A message that concerns several controllers is handled here, which
calls them in the written order; an action of the registry calls the controller that it names.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from operator import attrgetter
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker

from jitchat.draft import EMPTY, Draft, joined
from jitchat.events import FactsFound, MemoryUpdated, ObservationDue
from jitchat.store.deletion import delete_left
from jitchat.store.drafts import Drafts
from jitchat.tools.approvals import Answer
from jitchat.tui.actions import BY_ID, Needs, screen_bindings
from jitchat.tui.chat.branches import Branches
from jitchat.tui.chat.choices import Choices, Levels
from jitchat.tui.chat.completion import Completions, Highlights
from jitchat.tui.chat.conversations import Changes, Conversations
from jitchat.tui.chat.drafting import Drafting, Offers
from jitchat.tui.chat.ending import Ending
from jitchat.tui.chat.facts import Facts, Observations
from jitchat.tui.chat.find import Find
from jitchat.tui.chat.host import Host, Surfaces
from jitchat.tui.chat.key_routing import KeyRouting, Question
from jitchat.tui.chat.opening import DraftKeeper, Indexing, Opening
from jitchat.tui.chat.outbox import Outbox
from jitchat.tui.chat.personas import ModelSwitch, Personas
from jitchat.tui.chat.previews import Meter, Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import Steering
from jitchat.tui.chat.tools import Tools
from jitchat.tui.chat.turns import Turns
from jitchat.tui.chat.views import Views
from jitchat.tui.frames import RowCompositor
from jitchat.tui.key_names import KeyNames
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.completion_list import CompletionList
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.workers import is_drawn
from jitchat.values import Conversation

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

WIDE = 110
"""Minimum columns to show the inspector next to the transcript."""
TALL = 30
"""Minimum rows for the inspector to start open below the transcript."""
READ_ONLY = "Read-only: stored conversations can be read, but nothing can be sent."
TEMPORARY_DELETED = "Temporary conversation deleted."

_PATIENCE = 0.5
"""Maximum seconds that quitting waits for deletions while another thread reads."""


class ChatScreen(Screen[None]):
    """Transcript, inspector, budget bar and prompt for one conversation."""

    BINDINGS = screen_bindings()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__()
        self._compositor = RowCompositor()
        self.backend = backend
        self.host, self.surfaces = Host(self), Surfaces(backend)
        self.routing = KeyRouting(self)
        shared = self.host, backend, self.surfaces
        drafts = Drafts(backend.store.database)
        self.keeper = DraftKeeper(self.host, drafts, self._typed, backend.settings.secrets)
        self.levels = Levels(*shared)
        self.steering = steering = Steering(*shared)
        self.ending = Ending(*shared)
        self.opening = opening = Opening(*shared, self.keeper, self.ending, conversation)
        self.indexing = indexing = Indexing(*shared, opening)
        self.previews = previews = Previews(*shared, opening, steering)
        self.meter = meter = Meter(*shared, opening, steering, previews)
        self.sends = sends = Sends(*shared, opening, steering, previews)
        self.tools = tools = Tools(*shared)
        self.observations = Observations(*shared, opening, previews)
        self.facts = Facts(*shared, opening, previews)
        self.offers = offers = Offers(*shared, tools)
        self.branches = branches = Branches(*shared, opening, steering, previews, indexing, sends)
        self.models = ModelSwitch(*shared, opening, previews, indexing, sends, tools, self.open)
        self.personas = Personas(*shared, opening, self.models)
        self.conversations = Conversations(*shared, opening, sends, self.routing, self.open)
        self.changes = Changes(*shared, opening, indexing, previews, sends, self.conversations)
        others = self.conversations, self.personas.use_size
        self.views = views = Views(
            *shared, opening, steering, previews, meter, sends, branches, *others
        )
        self.choices = Choices(*shared, opening, steering, previews)
        self.turns = Turns(*shared, opening, views)
        self.drafting = Drafting(*shared, opening)
        own = self.routing, self.run_action
        self.outbox = Outbox(*shared, opening, steering, sends, branches, tools, offers, *own)
        self.find = Find(*shared, opening)
        self.completions = Completions(*shared, opening)
        self.highlights = Highlights(*shared, opening)
        self._was_shown = False

    @property
    def session(self) -> Session | None:
        return self.opening.session

    @property
    def busy(self) -> bool:
        return self.sends.busy

    def compose(self) -> ComposeResult:
        # Otherwise Textual sets the class on the first resize and styles every widget again.
        is_wide = self.app.size.width >= WIDE
        self.set_class(is_wide, "-wide", update=False)
        self.set_class(not is_wide, "-narrow", update=False)
        yield from self.surfaces.compose()

    async def on_mount(self) -> None:
        """Show what is available at once; the rest is loaded after the first frame."""
        self.bindings_updated_signal.subscribe(self, self._show_pane_keys)
        self.sends.watch_store()
        self.steering.show_mode()
        # In a small terminal the inspector starts hidden.
        has_room = self.has_class("-wide") or self.app.size.height >= TALL
        self.levels.begin(has_room=has_room)
        self.surfaces.prompt.focus()
        await self.open(self.opening.conversation)
        self.changes.watch()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Avoid styling every widget a second time before the first frame."""
        event.refresh_styles &= self._was_shown
        self._was_shown = True

    async def on_unmount(self) -> None:
        """Stop all threads and connections, and store the draft."""
        await self.sends.close()
        await self.tools.stop()
        await self.keeper.keep_at_exit(is_temporary=self.opening.conversation.is_temporary)
        await self.opening.close()
        with suppress(TimeoutError):  # the next start deletes them
            await asyncio.wait_for(asyncio.to_thread(delete_left, self.backend.store), _PATIENCE)

    @reports_errors
    async def open(self, conversation: Conversation, at: int | None = None) -> None:
        """Leave the conversation and open another one, at its end or at one of its turns.

        Not while a reply is in progress, which can have begun since the conversation was chosen:
        it would be cut off.
        """
        if self.sends.waits():
            return
        left = self.opening.conversation
        kept = self._typed()
        await self.keeper.keep_now()
        await self.leave()
        await self.steering.begin(conversation.id)
        await self.opening.open(conversation, at, kept)
        if left.id != conversation.id and await self.opening.delete_temporary(left):
            self.host.say(TEMPORARY_DELETED)

    async def leave(self) -> None:
        """Close everything that belongs to the conversation and drop its late messages."""
        self.outbox.return_waiting()
        self.action_find_close()
        self.meter.leave()
        self.branches.leave_edit()
        self.steering.leave()
        self.observations.leave()
        self.facts.leave()
        await self.models.leave()
        self.indexing.stop()
        self.previews.leave()
        await self.opening.leave()

    # Keys and the prompt

    def _show_pane_keys(self, _: object) -> None:
        self.surfaces.hint.pane = self.routing.footer()

    def watch_focused(self) -> None:
        """Close a question when the focus leaves the place where it was asked."""
        if is_drawn(self):
            self.routing.ask(None)
        if self.focused is not self.surfaces.prompt:
            self.completions.close()

    def _typed(self) -> Draft:
        return joined((self.outbox.waiting or EMPTY, self.branches.typed()))

    @on(Prompt.Changed)
    def _draft_changed(self) -> None:
        if self.busy:
            self.call_after_refresh(self.surfaces.transcript.draw_after_key)
        self.models.end_offers()
        self.drafting.end_offer()
        self.keeper.keep_soon()
        self._attend()
        self.surfaces.attached.display &= bool(self.surfaces.prompt.message)
        self.steering.show_mode()
        self.facts.show(while_typing=bool(self.surfaces.prompt.text))
        self.completions.follow()
        self.highlights.follow()
        self.previews.follow_draft()

    @on(Prompt.SelectionChanged, "#prompt")
    def _cursor_moved(self) -> None:
        self.completions.follow()

    @on(CompletionList.OptionSelected, "#completions")
    def _completion_clicked(self, message: CompletionList.OptionSelected) -> None:
        self.completions.accept(message.option_index)

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        await self.outbox.take(message.draft)

    @on(Prompt.Pasted)
    def _text_pasted(self, message: Prompt.Pasted) -> None:
        self.drafting.offer(message)

    def _attend(self) -> None:
        """Let background work yield, because the user is typing or reading a reply."""
        self.ending.attend()
        if self.session is not None:
            self.session.memory.index.throttle.attend()

    # The conversation

    @on(Opening.Ready)
    @reports_errors
    async def _session_ready(self, message: Opening.Ready) -> None:
        if message.opening != self.opening.number:
            return
        session = message.session
        self.tools.offer(session)
        await self.opening.take(session)
        self.indexing.show_status()
        self.previews.plan()
        self.surfaces.prompt.draw_marks()
        self.models.show_answerer(session)
        await self.personas.warn_if_missing()
        self.meter.sum_up()
        self.views.load_soon()
        self.ending.begin(session)
        if (refusal := self.backend.store.database.refusal) is None:
            self.indexing.catch_up()
        else:
            self.indexing.indexed = True
            self.host.warn(f"{READ_ONLY} {refusal}", seconds=60)
        if self.backend.warning and message.opening == 1:
            self.host.warn(self.backend.warning)
        await self.outbox.send_waiting(session)

    @on(Opening.Refused)
    def _session_refused(self, message: Opening.Refused) -> None:
        if message.opening != self.opening.number:
            return
        self.outbox.return_waiting()
        if not self.backend.settings.in_use().model:
            self.models.pick(self.backend.settings.provider.name)
        self.opening.refuse(message.error)
        self.indexing.settle()
        self.host.show_error(message.error)

    @on(Previews.Planned)
    def _preview_ready(self, message: Previews.Planned) -> None:
        if self.indexing.indexed:
            self.indexing.settle()
        self.previews.take(message)

    @on(Indexing.Ended)
    def _backlog_ended(self, message: Indexing.Ended) -> None:
        if message.opening != self.opening.number:
            return
        self.indexing.write_missing_lines()
        self.indexing.end(message.error)
        if message.is_fuller:
            self.previews.plan()

    @on(Indexing.LinesMoved)
    def _lines_moved(self, message: Indexing.LinesMoved) -> None:
        if message.opening == self.opening.number:
            self.meter.sum_up()
            if self.indexing.show_lines(message):
                self.previews.plan()

    @on(Ending.Ended)
    def _session_ended(self, message: Ending.Ended) -> None:
        self.meter.sum_up()
        if self.ending.take(message):
            self.previews.plan(afresh=True)

    @on(Changes.Found)
    @reports_errors
    async def _others_wrote(self, message: Changes.Found) -> None:
        if self.is_current:
            await self.changes.take(message)

    # Sending a message

    @on(Sends.Reported)
    @reports_errors
    async def _session_reported(self, message: Sends.Reported) -> None:
        self._attend()
        if isinstance(message.event, MemoryUpdated | ObservationDue):
            self.observations.take(message.event)
            self.meter.sum_up()
        elif isinstance(message.event, FactsFound):
            self.facts.take(message.event)
        else:
            await self.sends.take(message)

    @on(Sends.Ended)
    @reports_errors
    async def _send_ended(self, message: Sends.Ended) -> None:
        self.meter.sum_up()
        await self.sends.end(message)
        self.indexing.write_missing_lines()
        if self.session is not None:
            self.conversations.improve_title(self.session, self.meter.sum_up)
        await self.models.take_over_if_waiting()

    @on(Worker.StateChanged)
    @reports_errors
    async def _worker_changed(self, message: Worker.StateChanged) -> None:
        await self.sends.end_worker(message.worker)

    # Models and servers

    @on(Tools.Changed)
    def _server_changed(self, message: Tools.Changed) -> None:
        self.tools.take(message)
        self.host.run(partial(self.offers.learn, message.state), "offers")
        self.indexing.show_status()
        self.previews.plan(afresh=True)

    # Views, and choices made in a view or a pane

    @on(Inspector.RowToggled)
    def _row_toggled(self, message: Inspector.RowToggled) -> None:
        if self.session is not None and not self.sends.waits():
            self.choices.toggle_once(self.session, message.turn, is_there=message.is_there)

    @on(Transcript.Opened)
    def _turn_opened(self, message: Transcript.Opened) -> None:
        self.turns.show(message)

    @on(Transcript.Pointed)
    def _link_pointed_at(self, message: Transcript.Pointed) -> None:
        self.surfaces.hint.link = message.leads_to

    @on(Inspector.RowOpened)
    @reports_errors
    async def _row_opened(self, message: Inspector.RowOpened) -> None:
        await self.turns.show_row(message)

    @on(Prompt.LargeOpened)
    def _large_paste_opened(self, message: Prompt.LargeOpened) -> None:
        self.turns.show_text("Pasted text", message.text, f"{len(message.text):,} characters")

    @on(BudgetBar.KindClicked)
    def _kind_clicked(self, message: BudgetBar.KindClicked) -> None:
        self.levels.show(shown=True)
        self.surfaces.inspector.point_at(message.kind)

    # Actions

    @reports_errors
    async def action_do(self, identity: str, *given: object) -> None:
        """Run an action of the registry; if a requirement is not met, notify the user instead."""
        action, session = BY_ID[identity], self.session
        if Needs.SESSION in action.needs and session is None:
            self.host.say("The conversation is still opening.")
        elif Needs.REST not in action.needs or not self.sends.waits():
            about = (session,) if Needs.SESSION in action.needs else ()
            done = attrgetter(action.method)(self)(*about, *action.given, *given)
            if isawaitable(done):
                await done

    def action_submit(self) -> None:
        self.surfaces.prompt.submit()

    def action_cancel(self) -> None:
        """Stop the reply; without one, cancel an edit, or move the focus to the prompt."""
        if self.busy:
            self.sends.stop()
        elif self.branches.leave_edit() is None:
            self.surfaces.prompt.focus()

    async def action_approve(self, name: str = "once") -> None:
        """Answer an open question on a tool call or on observing, or keep a proposed fact."""
        answer = Answer.__members__.get(name.upper())
        if answer is None:
            self.host.say(f"/allow takes one of {', '.join(Answer.__members__).lower()}.")
            return
        if self.tools.answer(answer) or self.observations.answer(answer):
            return
        if answer is Answer.ONCE and self.facts.proposes:
            await self.action_do("keep_fact")
        else:
            self.host.say("No open question takes that answer.")

    def action_ask(self, identity: str) -> None:
        """Ask before sending a request that may cost money."""
        question = ""
        if self.session is not None and not self.busy:
            question = self.branches.confirmation(self.session, identity)
        act = partial(self.action_do, identity)
        if question:
            self.routing.ask(Question(question, act))
        else:
            self.call_later(act)

    async def action_answer(self, yes: bool) -> None:
        await self.routing.answer(yes=yes)

    async def action_press_in_pane(self, key: str) -> None:
        await self.routing.press(key)

    def action_find(self, wanted: str = "") -> None:
        self.find.open(wanted, self.focused)

    @on(Input.Changed, "#find")
    def _find_changed(self, message: Input.Changed) -> None:
        self.find.look_for(message.value)

    def action_find_match(self, step: int) -> None:
        self.find.move(step)

    def action_find_close(self) -> None:
        if (focused := self.find.close()) is not None:
            self.set_focus(focused)

    def action_toggle_inspector(self) -> None:
        inspector = self.surfaces.inspector
        is_shut = inspector.has_class("-hidden")
        self.levels.show(shown=is_shut)
        if not is_shut and inspector.has_focus_within:
            self.surfaces.prompt.focus()

    @reports_errors
    async def action_show_turn(self, position: int) -> None:
        await self.surfaces.transcript.go_to(position)

    def action_scroll_chat(self, pages: int) -> None:
        """Scroll the open question if it does not fit its space, else the conversation."""
        if not self.surfaces.approval.scroll_pages(pages):
            self.surfaces.transcript.action_page(pages)

    def action_menu(self) -> None:
        """Show the menu of views, and open the chosen view."""
        from jitchat.tui.dialogs.choice import menu_screen  # noqa: PLC0415  not on the first frame

        async def open_chosen(chosen: str | None) -> None:
            if chosen is not None:
                await self.run_action(chosen)

        keys = KeyNames(self.backend.settings.keys)
        offered = self.surfaces.approval.offered
        if not offered and self.facts.proposes:
            offered = {"allow_once": ""}
        self.app.push_screen(menu_screen(keys, offered), open_chosen)
