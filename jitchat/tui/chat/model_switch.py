"""Who answers in the conversation: what could, what is picked, and when it takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message

from jitchat.errors import JitchatError, StoreError
from jitchat.store.models import ChosenModel
from jitchat.text.sanitize import one_line
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.tools import Tools
from jitchat.tui.model_rows import READER, meant_by, offer
from jitchat.tui.widgets.prompt import PLACEHOLDER

if TYPE_CHECKING:
    from jitchat.providers.catalogue.models import ProviderChoice
    from jitchat.session import Session

READER_PLACEHOLDER = "Ask about what was said. reader quotes it; it is no language model"


@dataclass(eq=False)
class ModelSwitch(Controller):
    """Has another model answer in the same conversation."""

    @dataclass
    class Changed(Message):
        """Another model answers from now on, or with other instructions."""

        opening: int
        picked: tuple[str, str] | None
        """Provider and model; None where the instructions are others."""
        session: Session | None
        """None where the conversation had none and is to be opened."""
        note: str = ""
        """What the user should know."""
        told: str = ""
        """What is so from now on, as a clause; empty: the model answers."""

    opening: Opening
    previews: Previews
    indexing: Indexing
    sends: Sends
    tools: Tools

    offers: bool = True
    """Whether the user is told what could answer in place of the reader: until they type, and
    no more once a model was picked."""
    is_quiet: bool = False
    """Whether nobody is looked for in place of the reader, as during the tour."""
    _next: Session | None = None
    """Who answers once the reply that is on its way is over."""
    _choices: Sequence[ProviderChoice] = ()
    """What was found that could answer, for the list to begin with."""

    def __post_init__(self) -> None:
        with suppress(StoreError):  # told where it matters
            self.offers = ChosenModel(self.backend.store.database).get() is None
        is_reader = self.backend.settings.provider.name == READER
        self.surfaces.offer.display = is_reader and self.offers

    async def leave(self) -> None:
        """Drop a model that was to answer in the conversation that is left."""
        session, self._next = self._next, None
        if session is not None:
            await session.aclose()

    def show_answerer(self, session: Session) -> None:
        """Show whether the reader answers, or a model."""
        is_reader = session.provider.name == READER
        self.surfaces.prompt.placeholder = READER_PLACEHOLDER if is_reader else PLACEHOLDER
        self.surfaces.offer.display = is_reader and self.offers and not self.is_quiet
        if not is_reader:
            self.host.run(self._ask_limit(session), "limit", exclusive=True)
        elif not self.is_quiet:
            self.host.run(self._look_around(), "around", exclusive=True)

    def end_offers(self) -> None:
        """Who types knows what to do here."""
        if self.offers and self.surfaces.prompt.text:
            self.offers = self.surfaces.offer.display = False

    def pick(self, wanted: str = "") -> None:
        """Pick who answers; at once where `wanted` names one model."""
        if not wanted:
            self.open_list()
            return

        async def find() -> None:
            try:
                picked = meant_by(wanted, await self._known())
            except JitchatError:
                picked = None  # the list tells of it
            if picked is not None:
                self.choose(picked)
            else:
                self.open_list(wanted)

        self.host.run(find(), "named", exclusive=True)

    def open_list(self, wanted: str = "") -> None:
        from jitchat.tui.dialogs.models import ModelsScreen  # noqa: PLC0415  not on the first frame

        session = self.opening.session
        in_use = (session.provider.name, session.provider.model) if session else ("", "")
        screen = ModelsScreen(self.backend, in_use, wanted, self._choices)
        self.host.push(screen, self.choose)

    def choose(self, picked: tuple[str, str] | None) -> None:
        """Have a model answer, by its provider's name and its own; None changes nothing."""
        if picked is None:
            return
        self.surfaces.top.show_status(f"{picked[0]} {picked[1]}…")
        session, number = self.opening.session, self.opening.number

        async def choose() -> None:
            try:
                changed, note = await asyncio.to_thread(self.backend.choose_model, session, *picked)
            except JitchatError as error:
                self.indexing.show_status()
                self.host.tell(error)
            else:
                self.offers = False
                self.host.post(self.Changed(number, picked, changed, note))

        self.host.run(choose(), "choose", exclusive=True)

    def remake(self, make: Callable[[], tuple[Session | None, str]], told: str) -> None:
        """Go on in a session that is made anew, with a note; `told` is what is so then."""
        number = self.opening.number

        async def remake() -> None:
            made, note = await asyncio.to_thread(make)
            self.host.post(self.Changed(number, None, made, note, told))

        self.host.run(remake(), "choose", exclusive=True)

    async def change(self, message: Changed, session: Session) -> None:
        """Have it answer from the next message on; a reply that is on its way is the other's."""
        if message.opening != self.opening.number:
            await session.aclose()
            self.choose(message.picked)
        elif self.sends.busy:
            await self.leave()
            self._next = session
            self.indexing.show_status()
            told = message.told or f"{one_line(session.provider.model)} answers"
            self.host.say(f"After this reply, {told}.")
        else:
            await self._take_over(session, afresh=message.picked is None)

    async def take_over_if_waiting(self) -> None:
        """Have the model answer that was picked while a reply was on its way."""
        if self._next is not None and not self.sends.busy:
            session, self._next = self._next, None
            await self._take_over(session)

    async def _take_over(self, session: Session, *, afresh: bool = False) -> None:
        left, self.opening.session = self.opening.session, session
        self.tools.offer(session)
        self.opening.show_place()
        self.indexing.show_status()
        self.previews.plan(afresh=afresh)
        self.show_answerer(session)
        self.host.cancel("lines")  # its requests are to a model that is about to be closed
        if left is not None:
            await left.aclose()
        if session.summariser is not None:
            self.indexing.catch_up()

    async def _ask_limit(self, session: Session) -> None:
        """Plan with a limit that the server tells; what is on its way was planned already."""
        budget = await self.backend.ask_limit(session)
        if budget is not None and session is self.opening.session:
            session.take_budget(budget)
            self.previews.plan()

    async def _look_around(self) -> None:
        """Find what a newcomer could use: a server on this machine, a key that is there."""
        try:
            self._choices = list((await self._known()).values())
        except JitchatError:
            return  # told when the list is opened
        self.surfaces.offer.update(Content(offer(self._choices, self.keys)))

    async def _known(self) -> dict[str, ProviderChoice]:
        """Find by name what can answer: what is stored, and what runs on this machine."""
        choices = await asyncio.to_thread(self.backend.choices)
        known = {choice.name: choice for choice in choices}
        return known | {choice.name: choice for choice in await self.backend.find_local()}
