"""Who answers in the conversation: another model is picked, and what servers tell is taken in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from jitchat.errors import JitchatError, KeyRefused
from jitchat.events import SendFailed
from jitchat.text.sanitize import one_line
from jitchat.tui.messages import (
    LimitTold,
    ModelChanged,
    ModelNamed,
    ModelRefused,
    ModelsFound,
    SendEnded,
    SessionReady,
    SessionRefused,
    SessionReported,
)
from jitchat.tui.model_rows import READER, meant_by, offer
from jitchat.tui.notices import READ_SECONDS, notify_error, reports_errors
from jitchat.tui.screens.opened import OpenedScreen
from jitchat.tui.widgets.prompt import PLACEHOLDER, Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.values import Conversation

if TYPE_CHECKING:
    from jitchat.providers.catalogue.models import ProviderChoice
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

READER_PLACEHOLDER = "Ask about what was said. reader quotes it; it is no language model"
ANOTHER_KEY = "Ctrl+L, then F4, takes another key."


class AnsweredScreen(OpenedScreen):
    """A conversation, and the model that answers in it."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._offer = Static(id="offer")
        self._is_offered = True
        """Whether the line on it is there still: it goes with the first thing that is typed."""
        self._coming: Session | None = None
        """Who answers once the reply that is on its way is over."""
        self._around: Sequence[ProviderChoice] = ()
        """What was found that could answer, for the list to begin with."""

    def compose(self) -> ComposeResult:
        """Ahead of the prompt, a line on what could answer in place of the reader."""
        self._offer.display = self.backend.settings.provider.name == READER
        for widget in super().compose():
            if isinstance(widget, Prompt):
                yield self._offer
            yield widget

    async def leave(self) -> None:
        """A model that was to come is for the conversation that is left."""
        coming, self._coming = self._coming, None
        if coming is not None:
            await coming.aclose()
        await super().leave()

    @on(SessionReady)
    def _know_the_model(self, message: SessionReady) -> None:
        if message.opening == self.opening:
            self._show_who(message.session)

    @on(SessionRefused)
    def _no_model_named(self, message: SessionRefused) -> None:
        """A provider without a model: which are there is the next question."""
        if message.opening == self.opening and not self.backend.settings.in_use().model:
            self.action_models(self.backend.settings.provider.name)

    def _show_who(self, session: Session) -> None:
        """As it is with the reader, or with a model."""
        is_reader = session.provider.name == READER
        self.query_one(Prompt).placeholder = READER_PLACEHOLDER if is_reader else PLACEHOLDER
        self._offer.display = is_reader and self._is_offered
        if is_reader:
            self._look_for_models()
        else:
            self._ask_limit(session)

    @on(Prompt.Changed)
    def _typed(self, message: Prompt.Changed) -> None:
        """Who types knows what to do here: the line is theirs."""
        if self._is_offered and message.text_area.text:
            self._is_offered = self._offer.display = False

    @work(exclusive=True, group="limit")
    async def _ask_limit(self, session: Session) -> None:
        budget = await self.backend.ask_limit(session)
        if budget is not None:
            self.post_message(LimitTold(session, budget))

    @on(LimitTold)
    def _limit_told(self, message: LimitTold) -> None:
        """A window that is on its way was planned already; the next one is for this limit."""
        if message.session is self.session:
            message.session.take_budget(message.budget)
            self.plan_now()

    @work(exclusive=True, group="around")
    async def _look_for_models(self) -> None:
        """Find what a newcomer could use: a server on this machine, a key that is there."""
        try:
            self.post_message(ModelsFound(list((await self._known()).values())))
        except JitchatError:
            return  # told when the list is opened

    @on(ModelsFound)
    def _models_found(self, message: ModelsFound) -> None:
        self._around = message.choices
        self._offer.update(Content(offer(message.choices)))

    def action_models(self, wanted: str = "") -> None:
        """Pick who answers; at once where `wanted` names one model."""
        if wanted:
            self._find_named(wanted)
        else:
            self._open_list("")

    @work(exclusive=True, group="named")
    async def _find_named(self, wanted: str) -> None:
        try:
            picked = meant_by(wanted, await self._known())
        except JitchatError:
            picked = None  # the list tells of it
        self.post_message(ModelNamed(wanted, picked))

    async def _known(self) -> dict[str, ProviderChoice]:
        """Look at what is kept, and at this machine."""
        choices = await asyncio.to_thread(self.backend.choices)
        known = {each.name: each for each in choices}
        return known | {each.name: each for each in await self.backend.find_local()}

    @on(ModelNamed)
    def _model_named(self, message: ModelNamed) -> None:
        if message.picked is None:
            self._open_list(message.wanted)
        else:
            self._picked(message.picked)

    def _open_list(self, wanted: str) -> None:
        from jitchat.tui.dialogs.models import ModelsScreen  # noqa: PLC0415  not on the first frame

        provider = self.session.provider if self.session is not None else None
        in_use = (provider.name, provider.model) if provider is not None else ("", "")
        screen = ModelsScreen(self.backend, in_use, wanted, self._around)
        self.app.push_screen(screen, self._picked)

    def _picked(self, picked: tuple[str, str] | None) -> None:
        if picked is not None:
            self.query_one(TopLine).show_status(f"{picked[0]} {picked[1]}…")
            self._choose(self.session, picked, self.opening)

    @work(thread=True, exclusive=True, group="choose")
    def _choose(self, session: Session | None, picked: tuple[str, str], opening: int) -> None:
        try:
            changed, note = self.backend.choose_model(session, *picked)
        except JitchatError as error:
            self.post_message(ModelRefused(error))
            return
        if not get_current_worker().is_cancelled:
            self.post_message(ModelChanged(opening, picked, changed, note))

    @on(ModelRefused)
    def _model_refused(self, message: ModelRefused) -> None:
        """Who answered before still does."""
        self.show_status()
        notify_error(self, message.error)

    @on(ModelChanged)
    @reports_errors
    async def _model_changed(self, message: ModelChanged) -> None:
        """From the next message on; a reply that is on its way is still the other model's."""
        if message.note:
            self.notify(message.note, timeout=READ_SECONDS, severity="warning", markup=False)
        if message.session is None:
            await self.open(self.conversation)
        elif message.opening != self.opening:
            await message.session.aclose()
            self._choose(self.session, message.picked, self.opening)
        elif self.busy:
            await self._wait_for_reply(message.session)
        else:
            await self._take_over(message.session)

    async def _wait_for_reply(self, session: Session) -> None:
        before, self._coming = self._coming, session
        if before is not None:
            await before.aclose()
        self.show_status()
        model = one_line(session.provider.model)
        self.notify(f"After this reply, {model} answers.", markup=False)

    async def _take_over(self, session: Session) -> None:
        left, self.session = self.session, session
        self.show_status()
        self.plan_now()
        self._show_who(session)
        self.workers.cancel_group(self, "lines")  # they are written through the one that leaves
        if left is not None:
            await left.aclose()
        if session.summariser is not None:
            self.index_missing()

    @on(SessionReported)
    def _key_refused(self, message: SessionReported) -> None:
        """What can be done about it here."""
        if isinstance(message.event, SendFailed) and isinstance(message.event.error, KeyRefused):
            self.notify(ANOTHER_KEY, timeout=READ_SECONDS, markup=False)

    @on(SendEnded)
    @reports_errors
    async def _reply_over(self) -> None:
        if self._coming is not None and not self.busy:
            coming, self._coming = self._coming, None
            await self._take_over(coming)
