"""The chat: what the user sends, what comes back, and every action there is.

The screen composes widgets and controllers. It has one handler for each message, which calls the
controllers in written order; each of them owns its state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.screen import Screen

from jitchat.errors import FileRefused
from jitchat.events import FactsFound, MemoryUpdated, ObservationDue
from jitchat.files.mentions import files_at, mention_of
from jitchat.statements import Source
from jitchat.store.deletion import delete_left
from jitchat.store.pins import Drafts
from jitchat.text.code_blocks import code_blocks
from jitchat.text.figures import plural
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tools.approvals import Answer
from jitchat.tui.actions import Takes, screen_bindings
from jitchat.tui.chat.branches import Branches
from jitchat.tui.chat.commands import Command, addressed_in, command_in, mistyped, turn_ahead
from jitchat.tui.chat.completions import Completions
from jitchat.tui.chat.conversations import Conversations, named
from jitchat.tui.chat.ending import Ending
from jitchat.tui.chat.facts import Facts
from jitchat.tui.chat.find import Find
from jitchat.tui.chat.highlights import Highlights
from jitchat.tui.chat.host import Host, Surfaces
from jitchat.tui.chat.key_routing import KeyRouting, Question
from jitchat.tui.chat.large import form_of, question_on
from jitchat.tui.chat.levels import Levels
from jitchat.tui.chat.model_switch import ModelSwitch
from jitchat.tui.chat.observations import Observations
from jitchat.tui.chat.offers import Offers
from jitchat.tui.chat.opening import DraftKeeper, Indexing, Opening
from jitchat.tui.chat.personas import Personas
from jitchat.tui.chat.previews import Meter, Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import Steering
from jitchat.tui.chat.tools import Tools
from jitchat.tui.chat.views import Views
from jitchat.tui.dialogs.large_message import LargeMessageScreen
from jitchat.tui.figures import note_sentence
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.completion_list import CompletionList
from jitchat.tui.widgets.find_line import FindLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.tool_block import whole
from jitchat.tui.widgets.top_line import ModelFetch
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Mode
from jitchat.window.steering import Hold

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend
    from jitchat.tui.dialogs.projects import ChosenProject
    from jitchat.tui.dialogs.resume import Choice

WIDE = 110
"""Columns from which the inspector stands beside the transcript."""
TALL = 30
"""Rows from which the inspector begins open where it stands below the transcript."""
_HOLDS = {"pin": Hold.PINNED, "exclude": Hold.EXCLUDED}
"""By command."""
SEARCHED_PROMPTS = 10_000
"""So many of the last ones."""
READ_ONLY = "What is stored can be read; nothing can be sent."
NO_TURN = "Choose a turn first: F6 goes to the conversation. Or name one: /pin 12."


TEMPORARY_DELETED = "The temporary conversation is deleted."

_PATIENCE = 0.5
"""Seconds that quitting waits for deletions, while another thread reads."""


class ChatScreen(Screen[None]):
    """Transcript, inspector, budget bar and prompt over one conversation."""

    BINDINGS = screen_bindings()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__()
        self.backend = backend
        self.host, self.surfaces = Host(self), Surfaces(backend)
        shared = self.host, backend, self.surfaces
        drafts = Drafts(backend.store.database)
        self.keeper = DraftKeeper(self.host, drafts, self._typed, backend.settings.secrets)
        self.levels = Levels(*shared)
        self.steering = steering = Steering(*shared, Mode(backend.settings.chat.mode))
        self.ending = Ending(*shared)
        self.opening = opening = Opening(*shared, self.keeper, self.ending, conversation)
        self.indexing = indexing = Indexing(*shared, opening)
        self.previews = previews = Previews(*shared, opening, steering)
        self.meter = meter = Meter(*shared, opening, steering, previews)
        self.sends = sends = Sends(*shared, opening, steering, previews)
        self.tools = tools = Tools(*shared)
        self.observations = Observations(*shared, opening, previews)
        self.facts = Facts(*shared, opening)
        self.offers = Offers(*shared, tools)
        self.branches = branches = Branches(*shared, opening, steering, previews, indexing, sends)
        self.models = ModelSwitch(*shared, opening, previews, indexing, sends, tools)
        self.personas = Personas(*shared, opening, self.models)
        self.views = Views(*shared, opening, steering, previews, meter, sends, branches)
        self.conversations = Conversations(*shared, opening, self.open)
        self.find = Find(*shared, opening)
        self.completions = Completions(*shared, opening)
        self.highlights = Highlights(*shared, opening)
        self.routing = KeyRouting(self)
        self._was_shown = False
        self._waiting: str | None = None
        """A message that was entered before the conversation was open."""

    @property
    def session(self) -> Session | None:
        return self.opening.session

    @property
    def busy(self) -> bool:
        return self.sends.busy

    def compose(self) -> ComposeResult:
        # Textual sets this class on the first resize, and styles every widget once more for it.
        is_wide = self.app.size.width >= WIDE
        self.set_class(is_wide, "-wide", update=False)
        self.set_class(not is_wide, "-narrow", update=False)
        yield from self.surfaces.compose()

    async def on_mount(self) -> None:
        """Show what can be shown at once; the rest is loaded behind the first frame."""
        self.bindings_updated_signal.subscribe(self, self._show_pane_keys)
        self.sends.watch_unstored()
        self.steering.show_mode()
        # In a small terminal the inspector waits to be opened.
        has_room = self.has_class("-wide") or self.app.size.height >= TALL
        self.levels.begin(has_room=has_room)
        self.surfaces.prompt.focus()
        await self.open(self.opening.conversation)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Do not style every widget once more ahead of the first frame."""
        event.refresh_styles &= self._was_shown
        self._was_shown = True

    async def on_unmount(self) -> None:
        """Leave no thread and no connection behind, and the draft where it is found again."""
        await self.sends.close()
        await self.tools.stop()
        self.keeper.keep_now(leaving=True)
        await self.opening.close()
        with suppress(TimeoutError):  # the next start deletes it
            await asyncio.wait_for(asyncio.to_thread(delete_left, self.backend.store), _PATIENCE)

    @reports_errors
    async def open(self, conversation: Conversation, at: int | None = None) -> None:
        """Leave the conversation for another one, at its end or at one of its turns."""
        left = self.opening.conversation
        await self.leave()
        await self.opening.open(conversation, at)
        if left.id != conversation.id and await self.opening.delete_temporary(left):
            self.host.say(TEMPORARY_DELETED)

    async def leave(self) -> None:
        """Have nothing of the conversation come late from now on, or stay on screen."""
        self._return_waiting()
        self.action_find_close()
        self.meter.leave()
        self.branches.leave_edit()
        self.steering.leave()
        self.observations.leave()
        self.facts.leave()
        await self.models.leave()
        self.keeper.keep_now()
        self.indexing.stop()
        self.previews.leave()
        await self.opening.leave()

    # Keys and the prompt

    def _show_pane_keys(self, _: object) -> None:
        self.surfaces.hint.show_pane(self.routing.footer())

    def watch_focused(self) -> None:
        """Close a question when the focus leaves the place where it was asked."""
        if self.is_mounted:
            self.routing.ask(None)
        if self.focused is not self.surfaces.prompt:
            self.completions.close()

    def _typed(self) -> str:
        return "\n".join(filter(None, (self._waiting, self.branches.typed())))

    @on(Prompt.Changed)
    def _draft_changed(self) -> None:
        if self.busy:
            self.call_after_refresh(self.surfaces.transcript.draw_behind_key)
        self.models.end_offers()
        self.keeper.keep_soon()
        self._attend()
        self.steering.show_mode()
        self.facts.show(while_typing=bool(self.surfaces.prompt.text))
        self.completions.follow()
        self.highlights.follow()
        self.previews.follow_draft()

    @on(Prompt.SelectionChanged, "#prompt")
    def _cursor_moved(self) -> None:
        self.completions.follow()

    @on(Completions.Found)
    def _completions_found(self, message: Completions.Found) -> None:
        self.completions.take(message)

    @on(Highlights.Found)
    def _paths_found(self, message: Highlights.Found) -> None:
        self.highlights.take(message)

    @on(CompletionList.OptionSelected, "#completions")
    def _completion_clicked(self, message: CompletionList.OptionSelected) -> None:
        self.completions.accept(message.option_index)

    @on(Prompt.Submitted)
    async def _submitted(self, message: Prompt.Submitted) -> None:
        prompt = self.surfaces.prompt
        prompt.hand_over(message.text)
        prompts = self.surfaces.prompts
        if (command := command_in(message.text, prompts)) is not None:
            await self._run_command(command)
        elif sentence := mistyped(message.text, prompts):
            prompt.give_back(message.text)
            self.host.say(sentence)
        elif self.session is not None and not self.busy:
            await self._send(self.session, message.text)
        elif self.session is None and self.opening.refusal is None and self._waiting is None:
            self._waiting = message.text
            self.surfaces.hint.wait("opening the conversation, then sending")
        else:
            prompt.give_back(message.text)
            if self.opening.refusal is not None:
                self.host.tell(self.opening.refusal)
            else:
                self.sends.waits()

    async def _send(self, session: Session, typed: str) -> None:
        """Send what was typed, with all that was decided for this message alone."""
        if not addressed_in(typed).text.strip():
            self.surfaces.prompt.give_back(typed)
            self.host.say(f"Write the message behind {typed.strip()}.")
            return
        question = await question_on(session, addressed_in(typed).text)
        if question is not None:
            self._ask_what_to_send(session, typed, question)
        else:
            await self._start(session, typed)

    @work(group="large", exclusive=True)
    async def _ask_what_to_send(
        self, session: Session, typed: str, question: LargeMessageScreen
    ) -> None:
        """Ask what of a very long message is sent; whoever goes back has it in the prompt."""
        chosen = await self.app.push_screen_wait(question)
        if chosen is None or session is not self.session or self.busy:
            self.surfaces.prompt.give_back(typed)
            return
        self.surfaces.hint.wait("compacting the message")
        form = await form_of(session, addressed_in(typed).text, chosen)
        self.surfaces.hint.arrive()
        await self._start(session, typed, form)

    async def _start(self, session: Session, typed: str, form: str | None = None) -> None:
        """Start a send; windows carry the `form` of the message where there is one."""
        self.keeper.send(typed)
        if (after := self.branches.leave_edit()) is not None:
            await self.branches.show_up_to(session, after)
        text, once, mode = self.steering.take(typed, after)
        self.sends.start(session, text, replace(once, form=form), mode)
        if starting := self.tools.starting():
            late = starting[0] if len(starting) == 1 else f"{len(starting)} servers"
            self.host.say(f"Sent without the tools of {late}: still starting.")

    async def _run_command(self, command: Command) -> None:
        if command.name in self.surfaces.prompts.sentences:
            self._take_prompt(command)
            return
        name, argument, action = command.name, command.argument, command.action
        if name in ("mode", "once") and argument not in list(Mode):
            self.host.say(f"/{name} takes one of {', '.join(Mode)}.")
        elif name in _HOLDS and argument:
            digits = argument.removeprefix("#")
            is_id = digits.isascii() and digits.isdigit() and len(digits) <= 18
            self._hold(_HOLDS[name], int(digits) if is_id else None)
        elif action.takes is Takes.MESSAGE:
            turn, text = turn_ahead(argument) if name == "why" else ("", argument)
            self.action_view(action.view, text, turn)
        else:
            await self.run_action(f"{action.method}({argument!r})" if argument else action.method)

    def _return_waiting(self) -> None:
        """Put a message back that waited for a conversation that does not open."""
        if self._waiting is not None:
            self.surfaces.hint.arrive()
            self.surfaces.prompt.give_back(self._waiting)
            self._waiting = None

    def _attend(self) -> None:
        """Have work behind the screen step back: the user types, or reads what comes."""
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
        self.personas.tell_missing()
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
        if self.backend.may_fetch_model:
            self.surfaces.model_fetch.start()
        if self._waiting is not None:
            typed, self._waiting = self._waiting, None
            await self._send(session, typed)

    @on(Opening.Refused)
    def _session_refused(self, message: Opening.Refused) -> None:
        if message.opening != self.opening.number:
            return
        self._return_waiting()
        if not self.backend.settings.in_use().model:
            self.models.pick(self.backend.settings.provider.name)
        self.opening.refuse(message.error)
        self.indexing.settle()
        self.host.tell(message.error)

    @on(Previews.Planned)
    def _preview_ready(self, message: Previews.Planned) -> None:
        if self.indexing.indexed:
            self.indexing.settle()
        self.previews.take(message)

    @on(Indexing.Moved)
    def _backlog_moved(self, message: Indexing.Moved) -> None:
        if message.opening == self.opening.number:
            self.indexing.take_progress(message.progress)

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
        if message.opening == self.opening.number and self.indexing.show_lines(message):
            self.previews.plan()

    @on(ModelFetch.Ended)
    def _fetch_ended(self, message: ModelFetch.Ended) -> None:
        """Use an embedding model that came.

        Nobody waits for a download that is tried again at the next start; what came and was
        refused is told.
        """
        if message.asked or message.fetched or not self.backend.may_fetch_model:
            self.host.say(message.sentence)
        if message.fetched and self.session is not None:
            self.indexing.change_embedder()

    @on(Ending.Ended)
    def _session_ended(self, message: Ending.Ended) -> None:
        if self.ending.take(message):
            self.previews.plan(afresh=True)

    # A message on its way

    @on(Sends.Reported)
    @reports_errors
    async def _session_reported(self, message: Sends.Reported) -> None:
        self._attend()
        if isinstance(message.event, MemoryUpdated | ObservationDue):
            self.observations.take(message.event)
        elif isinstance(message.event, FactsFound):
            self.facts.take(message.event)
            self.previews.plan(afresh=bool(message.event.kept))
        else:
            await self.sends.take(message)

    @on(Observations.Made)
    def _observations_made(self, message: Observations.Made) -> None:
        self.observations.take_made(message)

    @on(Sends.Ended)
    @reports_errors
    async def _send_ended(self, message: Sends.Ended) -> None:
        self.meter.sum_up()
        await self.sends.end(message)
        self.indexing.write_missing_lines()
        if self.session is not None:
            self.conversations.improve_title(self.session)
        await self.models.take_over_if_waiting()

    @on(Sends.ReplyStored)
    @reports_errors
    async def _reply_stored(self, message: Sends.ReplyStored) -> None:
        await self.sends.show_stored_late(message)

    # Who answers

    @on(ModelSwitch.Changed)
    @reports_errors
    async def _model_changed(self, message: ModelSwitch.Changed) -> None:
        if message.note:
            self.host.warn(message.note)
        if message.session is None:
            await self.open(self.opening.conversation)
        else:
            await self.models.change(message, message.session)

    # Views, and what was chosen in them or in a pane

    @on(Views.Left)
    @reports_errors
    async def _view_left(self, message: Views.Left) -> None:
        outcome = message.outcome
        if isinstance(outcome, Source):
            await self._open_elsewhere(outcome)
        elif self.session is not None:
            await self.views.follow(self.session, outcome)

    @on(Steering.HoldChanged)
    def _hold_changed(self, message: Steering.HoldChanged) -> None:
        if message.opening == self.opening.number:
            self.opening.show_holds()
            self.host.say(message.sentence)
            self.previews.plan(afresh=True)

    @on(Inspector.RowToggled)
    def _row_toggled(self, message: Inspector.RowToggled) -> None:
        """Take a turn out of the next message or into it, and no further."""
        session = self.session
        if session is None or self.sends.waits():
            return
        if self.steering.toggle_once(session, message.turn, is_there=message.is_there):
            self.previews.plan(afresh=True)

    @on(Transcript.Opened)
    def _turn_opened(self, message: Transcript.Opened) -> None:
        turn, detail = message.turn, message.detail
        call = turn.use.answers
        text = turn.content or detail.reasoning if call is None else whole(turn, call)
        self._show_exact(f"#{turn.position} {turn.speaker}", text, note_sentence(detail.note))

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        self._show_exact(message.title, message.text, message.note, (), message.source)

    @on(Inspector.TurnOpened)
    def _whole_turn_opened(self, message: Inspector.TurnOpened) -> None:
        if message.source is not None:
            turn = self.backend.store.turn(message.source.conversation, message.turn)
        else:
            turn = self.session.memory.turn_at(message.turn) if self.session is not None else None
        text = turn.content if turn is not None else ""
        self._show_exact(message.title, text, message.note, message.marks, message.source)

    @on(Prompt.LargeOpened)
    def _large_paste_opened(self, message: Prompt.LargeOpened) -> None:
        self._show_exact("Pasted text", message.text, f"{len(message.text):,} characters")

    @on(BudgetBar.KindClicked)
    def _kind_clicked(self, message: BudgetBar.KindClicked) -> None:
        self.levels.show(shown=True)
        self.surfaces.inspector.point_at(message.kind)

    def _show_exact(
        self,
        title: str,
        text: str,
        note: str,
        marks: Sequence[tuple[int, int]] = (),
        leads_to: Source | None = None,
    ) -> None:
        from jitchat.tui.dialogs.exact import ExactScreen  # noqa: PLC0415  not on the first frame

        self.app.push_screen(ExactScreen(title, text, note, marks, leads_to), self.views.left)

    def _hold(self, hold: Hold, position: int | None) -> None:
        if (session := self._opened()) is None:
            return
        if position is None:
            self.host.say(NO_TURN)
        else:
            self.steering.hold(session, hold, position, self.opening.number)

    def _opened(self) -> Session | None:
        """Give the session, or say that there is none yet."""
        if self.session is None:
            self.host.say("The conversation is still being opened.")
        return self.session

    # Actions

    def action_submit(self) -> None:
        self.surfaces.prompt.submit()

    @work(group="prompts", exclusive=True)
    @reports_errors
    async def action_earlier_prompts(self, wanted: str = "") -> None:
        """Search what was sent before, for what is typed; one that is taken stands in its place."""
        from jitchat.tui.dialogs import prompts  # noqa: PLC0415  seldom

        prompt, store = self.surfaces.prompt, self.backend.store
        sent = await asyncio.to_thread(lambda: prompts.searchable(store.prompts(SEARCHED_PROMPTS)))
        screen = prompts.PromptsScreen(sent, wanted or prompt.draft)
        taken = await self.app.push_screen_wait(screen)
        if taken is not None:
            prompt.retype(taken)

    @work(group="editor", exclusive=True)
    @reports_errors
    async def action_edit_outside(self) -> None:
        """Have the draft edited in the user's own editor; what comes meanwhile is not lost."""
        from jitchat.tui.editor import edited  # noqa: PLC0415  not on the first frame

        prompt = self.surfaces.prompt
        before = prompt.draft
        text = await edited(self.app, before)
        (prompt.retype if prompt.draft == before else prompt.give_back)(text)

    def action_cancel(self) -> None:
        """Stop the reply; with none under way, leave an edit, or go back to the prompt."""
        if self.busy:
            self.sends.stop()
        elif self.branches.leave_edit() is None:
            self.surfaces.prompt.focus()

    @on(Tools.Changed)
    def _server_changed(self, message: Tools.Changed) -> None:
        self.tools.take(message)
        self.host.run(self.offers.learn(message.state), "offers")
        self.indexing.show_status()
        self.previews.plan(afresh=True)

    @reports_errors
    async def action_attach(self, path: str = "") -> None:
        """Name files in the prompt, so that they go along with its message."""
        named, session = path.strip("\"'"), self._opened()
        folder = session.folder if session is not None else None
        if named and folder and not await asyncio.to_thread(files_at, named, folder):
            raise FileRefused(f"There is no file at {one_line(named)}.", "Check the path.")
        prompt = self.surfaces.prompt
        prompt.insert(f"{mention_of(named)} " if named else "@")
        prompt.focus()

    @work(group="offered", exclusive=True)
    async def action_offered(self, what: str, given: str = "") -> None:
        """Pick a resource or a prompt of a server, and put its text into the prompt."""
        await self.offers.pick(what, given)

    def action_server_prompt(self, given: str = "") -> None:
        """Pick a prompt of a server; `given` has its arguments: `name=value`."""
        self.action_offered("prompts", given)

    @work(group="offered", exclusive=True)
    async def _take_prompt(self, command: Command) -> None:
        await self.offers.take_prompt(command.name, command.argument)

    async def action_approve(self, name: str = "once") -> None:
        """Answer whether a tool may run, turns may be observed, or a fact be kept."""
        answer = Answer.__members__.get(name.upper())
        if answer is None:
            self.host.say(f"/allow takes one of {', '.join(Answer.__members__).lower()}.")
            return
        if self.tools.answer(answer) or self.observations.answer(answer):
            return
        if answer is Answer.ONCE and self.facts.proposes:
            await self.action_keep_fact()
        else:
            self.host.say("Nothing waits for that answer.")

    def action_ask(self, name: str) -> None:
        """Ask before a request that the user may have to pay for."""
        question = ""
        if self.session is not None and not self.busy:
            question = self.branches.confirmation(self.session, name)
        act = partial(self.run_action, name)
        if question:
            self.routing.ask(Question(question, act))
        else:
            self.call_later(act)

    async def action_answer(self, yes: bool) -> None:
        await self.routing.answer(yes=yes)

    async def action_press_in_pane(self, key: str) -> None:
        await self.routing.press(key)

    def action_cycle_mode(self) -> None:
        modes = list(Mode)
        self.action_use_mode(modes[(modes.index(self.steering.mode) + 1) % len(modes)].value)

    def action_use_mode(self, mode: str) -> None:
        self.steering.use_mode(Mode(mode))
        self.previews.plan()

    def action_use_once(self, mode: str) -> None:
        self.steering.use_mode_once(Mode(mode))
        self.previews.plan(afresh=True)

    def action_hold(self, hold: str) -> None:
        """Pin or exclude the turn under the cursor; a second time takes that back."""
        inspector, transcript = self.surfaces.inspector, self.surfaces.transcript
        if inspector.has_focus_within:
            position = inspector.chosen
        else:
            position = transcript.chosen.position if transcript.chosen is not None else None
        self._hold(Hold(hold), position)

    def action_undo_hold(self) -> None:
        if (session := self._opened()) is not None:
            self.steering.undo_hold(session, self.opening.number)

    @reports_errors
    async def action_regenerate(self) -> None:
        if self.session is not None and not self.sends.waits():
            await self.branches.regenerate(self.session)

    def action_edit(self) -> None:
        if self.session is not None and not self.sends.waits():
            self.branches.edit(self.session)

    @reports_errors
    async def action_go_on(self) -> None:
        if self.session is not None and not self.sends.waits():
            await self.branches.go_on(self.session)

    def action_other_version(self, step: int = 1, position: int | None = None) -> None:
        # A click is handled by the header that is taken away, which would wait for itself.
        self.call_later(self._go_to_version, step, position)

    @reports_errors
    async def _go_to_version(self, step: int, position: int | None) -> None:
        if self.session is not None and not self.sends.waits():
            await self.branches.go_to_version(self.session, step, position)

    def action_reasoning(self) -> None:
        if self.surfaces.approval.display:
            self.surfaces.approval.toggle()
        elif not self.surfaces.transcript.toggle_fold():
            self.host.say("No reasoning came with this reply, and it called no tool.")

    @reports_errors
    async def action_switch_window(self) -> None:
        """Show the window that was sent last, or else the next one; the draft stays."""
        if self.session is None or self.sends.waits():
            return
        if self.previews.sent is not None:
            self.previews.switch_to_next()
        elif not await self.meter.show_last_sent(self.session):
            self.host.say("Nothing was sent here yet.")

    @reports_errors
    async def action_sent_window(self) -> None:
        """Show the window that was sent for the chosen turn, and what was reported for it."""
        session = self.session
        if session is None or self.sends.waits():
            return
        asked, chosen = self.branches.question(session), self.surfaces.transcript.chosen
        if asked is None or not await self.meter.show_sent(session, asked, chosen):
            self.host.say("No window was sent for this turn.")

    def action_count_exactly(self) -> None:
        if self.session is not None and not self.sends.waits():
            self.meter.count_exactly(self.session)

    def action_costs(self) -> None:
        if (session := self._opened()) is not None:
            self.meter.show_costs(session)

    async def action_note_requested(self) -> None:
        """Note the turns that the model had to ask for, in the chosen exchange or the last one."""
        session, chosen = self._opened(), self.surfaces.transcript.chosen
        if session is None:
            return
        from jitchat.tui.chat.requested import note_requested  # noqa: PLC0415  not on the first frame

        place = chosen.position if chosen is not None else None
        self.host.say(await asyncio.to_thread(note_requested, session, place))

    def action_end(self) -> None:
        """End the session: the memory document is written from all of its turns."""
        session = self._opened()
        if session is not None and not self.sends.waits():
            self.ending.end_now(session)

    def action_view(self, name: str, text: str = "", turn: str = "") -> None:
        """Open a view on a text, else on what is on screen; the ledger explains `turn`."""
        if (session := self._opened()) is not None:
            self.views.open(session, name, text, turn)

    def action_models(self, wanted: str = "") -> None:
        self.models.pick(wanted)

    @reports_errors
    async def action_system(self, text: str = "") -> None:
        """Show the system text; a given one is the conversation's own from now on."""
        if text:
            self.personas.say(text)
        else:
            self.personas.edit()

    @reports_errors
    async def action_persona(self, name: str = "") -> None:
        """Use a persona in the conversation; without a name, choose among all."""
        if name:
            self.personas.use(name)
        else:
            self.personas.choose()

    def action_rot(self, preset: str = "") -> None:
        """Open the rot lab; a preset that is named is begun where that costs nothing."""
        from jitchat.lab import experiment  # noqa: PLC0415  not on the first frame

        if not preset:
            self.views.open_lab()
        else:
            answers = self.opening.session.provider.name if self.opening.session else "reader"
            wanted = experiment.RunWanted(experiment.preset(preset, answers))
            self.views.open_lab(wanted, begins=True)

    @reports_errors
    async def action_new_conversation(self) -> None:
        if not self.sends.waits():
            await self.conversations.begin()

    @reports_errors
    async def action_temporary(self) -> None:
        if not self.sends.waits():
            await self.conversations.begin_temporary()

    @reports_errors
    async def action_project(self, name: str = "") -> None:
        """Put the conversation into a project; without a name, choose among all."""
        if self.sends.waits():
            return
        if name:
            await self.conversations.move(name)
        else:
            await self.conversations.choose_project(self._project_chosen)

    @reports_errors
    async def _project_chosen(self, chosen: ChosenProject | None) -> None:
        await self.conversations.take_project(chosen)

    @reports_errors
    async def action_keep_fact(self) -> None:
        """Keep what the last line proposes; what is typed stays."""
        if (session := self._opened()) is not None and await self.facts.keep(session):
            self.previews.plan(afresh=True)

    @reports_errors
    async def action_remember(self, text: str = "") -> None:
        if (session := self._opened()) is not None and await self.facts.remember(session, text):
            self.previews.plan(afresh=True)

    @reports_errors
    async def action_forget(self, wanted: str = "") -> None:
        if (session := self._opened()) is not None and await self.facts.forget(session, wanted):
            self.previews.plan(afresh=True)

    def action_resume(self, edit: str = "") -> None:
        """List the conversations; `edit` begins with the title or the tags of the open one."""
        from jitchat.tui.dialogs.resume import ResumeScreen  # noqa: PLC0415  not on the first frame

        if not self.sends.waits():
            screen = ResumeScreen(self.backend.store, self.opening.conversation, edit)
            self.app.push_screen(screen, self._resumed)

    @reports_errors
    async def _open_elsewhere(self, source: Source) -> None:
        """Open another conversation at a turn; the draft here is kept, and that is said."""
        if self.sends.waits():
            return
        left, has_draft = self.opening.conversation, bool(self.surfaces.prompt.text.strip())
        store = self.backend.store
        conversation = await asyncio.to_thread(store.conversation, source.conversation)
        await self.open(conversation, source.first)
        self.surfaces.prompt.focus()
        if has_draft and not left.is_temporary:
            self.host.warn(f"Your draft is kept in “{one_line(left.title)}”: Ctrl+R leads back.")

    @reports_errors
    async def _resumed(self, chosen: Choice) -> None:
        from jitchat.tui.dialogs.resume import Deleted  # noqa: PLC0415  not on the first frame

        if isinstance(chosen, Deleted):
            await self.conversations.delete(chosen.conversation, erases=chosen.erases)
        elif chosen is not None:
            await self.open(chosen.conversation, chosen.turn)
            self.surfaces.prompt.focus()
        else:
            await self.conversations.refresh()

    @reports_errors
    async def action_rename(self, title: str = "") -> None:
        if title:
            await self.conversations.rename(title)
        else:
            self.action_resume("rename")

    @reports_errors
    async def action_tag(self, tags: str = "") -> None:
        if tags:
            await self.conversations.tag(tags)
        else:
            self.action_resume("tag")

    @reports_errors
    async def action_archive(self) -> None:
        await self.conversations.archive()

    @reports_errors
    async def action_restore(self) -> None:
        if not self.sends.waits():
            await self.conversations.restore()

    def action_delete(self, how: str = "") -> None:
        """Ask whether to delete the conversation on screen; `erase` leaves no word of it."""
        present, erases = self.opening.conversation, how == "erase"
        if how and not erases:
            self.host.say("/delete takes nothing behind it, or: erase.")
        elif not self.sends.waits():
            asked = f"{'Erase' if erases else 'Delete'} {named(present)}?"
            self.routing.ask(Question(asked, partial(self._delete, present, erases=erases)))

    @reports_errors
    async def _delete(self, present: Conversation, *, erases: bool) -> None:
        await self.conversations.delete(present, erases=erases)

    def action_find(self, wanted: str = "") -> None:
        self.find.open(wanted, self.focused)

    @on(FindLine.Changed)
    def _find_changed(self, message: FindLine.Changed) -> None:
        self.find.look_for(message.wanted)

    def action_find_match(self, step: int) -> None:
        self.find.move(step)

    def action_find_close(self) -> None:
        if (focused := self.find.close()) is not None:
            self.set_focus(focused)

    def action_copy_turn(self) -> None:
        turn = self.surfaces.transcript.to_copy
        if turn is None:
            self.host.say("There is nothing to copy yet.")
        else:
            self._copy(turn.content, f"#{turn.position}")

    def action_copy_code(self, number: str = "1") -> None:
        """Copy a block of code of the chosen turn, or of the last reply, by its number."""
        turn = self.surfaces.transcript.to_copy
        blocks = code_blocks(turn.content) if turn is not None else ()
        if turn is None or not (number.isdecimal() and 0 < int(number) <= len(blocks)):
            count = plural(len(blocks), "block") if blocks else "no block"
            self.host.say(f"There {'are' if len(blocks) > 1 else 'is'} {count} of code to copy.")
        else:
            self._copy(blocks[int(number) - 1].code, f"code block {number} of #{turn.position}")

    def _copy(self, text: str, what: str) -> None:
        plain = for_terminal(text)
        self.app.copy_to_clipboard(plain)
        self.host.say(f"Copied {what}: {plural(len(plain), 'character')}.")

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
        """Scroll what is asked about, where it is longer than its place, or the conversation."""
        if not self.surfaces.approval.scroll_pages(pages):
            self.surfaces.transcript.action_page(pages)

    def action_wrap_code(self) -> None:
        self.surfaces.transcript.wrap_code()

    def action_fetch_model(self) -> None:
        fetch = self.surfaces.model_fetch
        if fetch.running:
            fetch.stop()
        else:
            fetch.start(asked=True)

    def action_menu(self) -> None:
        """Offer the views by a letter each, and open the one that is taken."""
        from jitchat.tui.dialogs.menu import MenuScreen  # noqa: PLC0415  not on the first frame

        async def open_taken(method: str | None) -> None:
            if method is not None:
                await self.run_action(method)

        self.app.push_screen(MenuScreen(), open_taken)

    def action_help(self) -> None:
        from jitchat.tui.dialogs.help import HelpScreen  # noqa: PLC0415  not on the first frame

        self.app.push_screen(HelpScreen(self.backend.hint()))
