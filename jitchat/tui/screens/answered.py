"""Who answers in the conversation: another model is picked, and what servers tell is taken in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work

from jitchat.errors import JitchatError
from jitchat.tui.backend import Backend
from jitchat.tui.messages import (
    LimitTold,
    ModelChanged,
    ModelsFound,
    SendEnded,
    SessionReady,
)
from jitchat.tui.screens.opened import OpenedScreen
from jitchat.tui.telling import tell, telling
from jitchat.tui.widgets.prompt import Prompt
from jitchat.turn import Conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.providers.catalogue.choices import ProviderChoice
    from jitchat.session import Session


class AnsweredScreen(OpenedScreen):
    """A conversation, and the model that answers in it."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._coming: Session | None = None
        """Who answers once the reply that is on its way is over."""

    @on(SessionReady)
    def _know_the_model(self, message: SessionReady) -> None:
        if message.opening != self.opening:
            return
        if message.session.provider.name == "reader":
            self._look_for_models()
        else:
            self._ask_limit(message.session)

    @work(exclusive=True, group="limit")
    async def _ask_limit(self, session: Session) -> None:
        budget = await self.backend.ask_limit(session)
        if budget is not None:
            self.post_message(LimitTold(session, budget))

    @on(LimitTold)
    def _limit_told(self, message: LimitTold) -> None:
        if message.session is self.session and not self.busy:
            message.session.take_budget(message.budget)
            self.plan_now()

    @work(exclusive=True, group="around")
    async def _look_for_models(self) -> None:
        """Find what a newcomer could use: a server on this machine, a key in the environment."""
        running = await self.backend.find_local()
        self._list_ready([each.title for each in running if each.state == "running here"])

    @work(thread=True, exclusive=True, group="ready")
    def _list_ready(self, running: Sequence[str]) -> None:
        try:
            choices = self.backend.choices()
        except JitchatError:
            choices = []  # told when the list is opened
        if sentence := _offer(running, choices):
            self.post_message(ModelsFound(sentence))

    @on(ModelsFound)
    def _models_found(self, message: ModelsFound) -> None:
        if self.session is not None and self.session.provider.name == "reader":
            self.query_one(Prompt).placeholder = message.sentence

    def action_models(self, wanted: str = "") -> None:
        """Pick who answers."""
        from jitchat.tui.screens.models import ModelsScreen  # noqa: PLC0415  not on the first frame

        provider = self.session.provider if self.session is not None else None
        in_use = (provider.name, provider.model) if provider is not None else ("", "")
        self.app.push_screen(ModelsScreen(self.backend, in_use, wanted), self._picked)

    def _picked(self, picked: tuple[str, str] | None) -> None:
        if picked is not None and self.session is not None:
            self._choose(self.session, picked, self.opening)

    @work(thread=True, exclusive=True, group="choose")
    def _choose(self, session: Session, picked: tuple[str, str], opening: int) -> None:
        try:
            changed = self.backend.choose_model(session, *picked)
        except JitchatError as error:
            self.app.call_from_thread(tell, self, error)
            return
        self.post_message(ModelChanged(opening, changed))

    @on(ModelChanged)
    @telling
    async def _model_changed(self, message: ModelChanged) -> None:
        """From the next message on; a reply that is on its way is still the other model's."""
        if message.opening != self.opening:
            await message.session.aclose()
            return
        if self.busy:
            self._coming = message.session
            return
        left, self.session = self.session, message.session
        self.show_status()
        self.plan_now(afresh=True)
        self._ask_limit(message.session)
        if left is not None:
            await left.aclose()

    @on(SendEnded)
    def _reply_over(self) -> None:
        coming, self._coming = self._coming, None
        if coming is not None:
            self.post_message(ModelChanged(self.opening, coming))


def _offer(running: Sequence[str], choices: Sequence[ProviderChoice]) -> str:
    """Say in one line what is there and how to use it; empty where nothing is."""
    keyed = [each.title for each in choices if each.state == "ready" and each.name != "reader"]
    here = [f"{title} runs here" for title in running]
    found = [*here, *(f"{title} has a key" for title in keyed if title not in running)]
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return f"Ctrl+L picks a model: {', '.join(found[:2])}{more}" if found else ""
