"""The conversation's model and instructions.

The instructions are its own system prompt, a persona, or those of the settings. A model that is
chosen is switched to once no reply is in progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError, StoreError
from jitchat.settings.personas import missing, require_persona
from jitchat.store.models import ChosenModel
from jitchat.store.pins import ScreenState
from jitchat.text.sanitize import one_line
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.tools import Tools
from jitchat.tui.drawing import Content
from jitchat.tui.model_rows import READER, embedder_offer, meant_by, model_offer
from jitchat.tui.widgets.prompt import PLACEHOLDER
from jitchat.values import AUTO, Instructions, WindowSize
from jitchat.window.parts import SYSTEM_PROMPT

if TYPE_CHECKING:
    from jitchat.providers.catalogue.models import ProviderChoice
    from jitchat.session import Session
    from jitchat.settings import Settings
    from jitchat.tui.dialogs.system import SystemText

_ASKED_EMBEDDER = "asked-embedder"
"""Name of the state that holds whether a larger embedding model was offered."""
READER_PLACEHOLDER = "Ask about what was said. The reader quotes; it is not a language model"


@dataclass(eq=False)
class ModelSwitch(Controller):
    """Changes the model that answers in the conversation."""

    opening: Opening
    previews: Previews
    indexing: Indexing
    sends: Sends
    tools: Tools
    open: Callable[..., Awaitable[None]]
    """Opens a conversation again."""

    offers: bool = True
    """Whether anything is suggested: until the user types."""
    is_quiet: bool = False
    """Whether no models are searched for and suggested, as during the tour."""
    _next: Session | None = None
    """The session that takes over after the reply in progress."""
    _choices: Sequence[ProviderChoice] = ()
    """The providers found so far, which the list shows first."""
    _has_chosen: bool = False
    """Whether the user has ever chosen a model."""

    def __post_init__(self) -> None:
        with suppress(StoreError):  # reported by features that need the store
            self._has_chosen = ChosenModel(self.backend.store.database).get() is not None
        is_reader = self.backend.settings.provider.name == READER
        self.surfaces.offer.display = is_reader and not self._has_chosen

    async def leave(self) -> None:
        """Close the session that was waiting to take over in the conversation that is left."""
        session, self._next = self._next, None
        if session is not None:
            await session.aclose()

    def show_answerer(self, session: Session) -> None:
        """Show whether the reader or a model answers."""
        is_reader = session.provider.name == READER
        self.surfaces.prompt.placeholder = READER_PLACEHOLDER if is_reader else PLACEHOLDER
        if not is_reader:
            self.host.run(partial(self._ask_limit, session), "limit", exclusive=True)
        self.surfaces.offer.display = self._needs_model(session) and self._may_offer
        if self._may_offer:
            self.host.run(partial(self._suggest, session), "suggest", exclusive=True)

    def _needs_model(self, session: Session) -> bool:
        return session.provider.name == READER and not self._has_chosen

    @property
    def _may_offer(self) -> bool:
        return self.offers and not self.is_quiet

    def fetch_embedder(self) -> None:
        """Offer to download a larger embedding model, and use it once it is here."""
        self.host.run(self._fetch_embedder, "fetch", exclusive=True)

    async def _fetch_embedder(self) -> None:
        from jitchat.tui.dialogs.fetch import FetchScreen  # noqa: PLC0415  not on the first frame

        larger = await asyncio.to_thread(self.backend.better_weights)
        if larger is None:
            self.host.say("There is no larger embedding model to download: see the top line.")
            return
        is_here = await self.host.wait_for(FetchScreen(self.backend, larger))
        if self.opening.session is not None and self._may_offer:
            await self._suggest(self.opening.session)  # the question was answered
        if is_here:
            self.indexing.change_embedder()

    def end_offers(self) -> None:
        """End the suggestions once the user has typed something."""
        if self.offers and self.surfaces.prompt.text:
            self.offers = self.surfaces.offer.display = False

    def pick(self, wanted: str = "") -> None:
        """Choose a model; without asking if `wanted` names exactly one."""
        if not wanted:
            self.open_list()
            return

        async def find() -> None:
            try:
                picked = meant_by(wanted, await self._known())
            except JitchatError:
                picked = None  # the list reports the error
            if picked is not None:
                self.choose(picked)
            else:
                self.open_list(wanted)

        self.host.run(find, "named", exclusive=True)

    def open_list(self, wanted: str = "") -> None:
        from jitchat.tui.dialogs.models import ModelsScreen  # noqa: PLC0415  not on the first frame

        session = self.opening.session
        in_use = (session.provider.name, session.provider.model) if session else ("", "")
        screen = ModelsScreen(self.backend, in_use, wanted, self._choices)
        self.host.push(screen, self.choose)

    def choose(self, picked: tuple[str, str] | None) -> None:
        """Switch to a model, given as provider and model; None changes nothing."""
        if picked is None:
            return
        self.surfaces.top.show_status(f"{picked[0]} {picked[1]}…")
        self.remake(
            partial(self.backend.choose_model, self.opening.session, *picked), picked=picked
        )

    def remake(
        self,
        make: Callable[[], tuple[Session | None, str]],
        change: str = "",
        picked: tuple[str, str] | None = None,
    ) -> None:
        """Replace the session by the one that `make` returns with a notice.

        `change` is what changes, as a clause, if it is not the model, which is `picked`.
        """
        number = self.opening.number

        async def remake() -> None:
            try:
                made, note = await asyncio.to_thread(make)
            except JitchatError as error:
                self.indexing.show_status()
                self.host.show_error(error)
            else:
                self._has_chosen |= picked is not None
                self.host.later(self._change, number, picked, made, note, change)

        self.host.run(remake, "choose", exclusive=True)

    async def _change(
        self,
        number: int,
        picked: tuple[str, str] | None,
        session: Session | None,
        note: str,
        change: str,
    ) -> None:
        """Use the new session from the next message on; a reply in progress keeps the old one.

        `number` is of the opening for which it was made; `picked` names the model, or is None if
        only the instructions changed. Without a session, the conversation is opened again.
        """
        if note:
            self.host.warn(note)
        if session is None:
            await self.open(self.opening.conversation)
        elif number != self.opening.number:
            await session.aclose()
            self.choose(picked)
        elif self.sends.busy:
            await self.leave()
            self._next = session
            self.indexing.show_status()
            change = change or f"{one_line(session.provider.model)} answers"
            self.host.say(f"After this reply, {change}.")
        else:
            await self._take_over(session, afresh=picked is None)

    async def take_over_if_waiting(self) -> None:
        """Switch to the model that was chosen while a reply was in progress."""
        if self._next is not None and not self.sends.busy:
            session, self._next = self._next, None
            await self._take_over(session)

    async def _take_over(self, session: Session, *, afresh: bool = False) -> None:
        left, self.opening.session = self.opening.session, session
        self.tools.offer(session)
        await self.opening.show_place()
        self.indexing.show_status()
        self.previews.plan(afresh=afresh)
        self.show_answerer(session)
        self.host.cancel("lines")  # these requests use a model that is about to be closed
        if left is not None:
            await left.aclose()
        if session.summariser is not None:
            self.indexing.catch_up()

    async def _ask_limit(self, session: Session) -> None:
        """Plan with the limit that the server reports; a request in progress is not affected."""
        budget = await self.backend.ask_limit(session)
        if budget is not None and session is self.opening.session:
            session.take_budget(budget)
            self.previews.plan()

    async def _suggest(self, session: Session) -> None:
        """Suggest a model to a new user, and a larger embedding model once.

        Asks neither a server nor the keyring.
        """
        lines = []
        if self._needs_model(session):
            self._choices = await asyncio.to_thread(self.backend.choices, asks_keyring=False)
            lines.append(model_offer(self._choices, self.keys))
        lines.append(await asyncio.to_thread(self._embedder_question))
        text = "\n".join(line for line in lines if line)
        self.surfaces.offer.update(Content(text))
        self.surfaces.offer.display = self.offers and bool(text)

    def _embedder_question(self) -> str:
        """Slow: return the question about a larger embedder; empty if it was ever asked."""
        state = ScreenState(self.backend.store.database)
        try:
            if state.get(_ASKED_EMBEDDER):
                return ""
            larger = self.backend.better_weights()
            if larger is None:
                return ""
            state.put(_ASKED_EMBEDDER, "yes")
        except StoreError:  # it could not be remembered
            return ""
        return embedder_offer(larger.download_size, self.keys)

    async def _known(self) -> dict[str, ProviderChoice]:
        """Return the providers by name, including servers that run on this machine."""
        choices = await asyncio.to_thread(self.backend.choices)
        known = {choice.name: choice for choice in choices}
        return known | {choice.name: choice for choice in await self.backend.find_local()}


NONE = "none"
"""Typed to use no persona."""


@dataclass(eq=False)
class Personas(Controller):
    """Changes instructions and size of a conversation; a reply in progress is not affected.

    This also works if the conversation cannot be opened, because its persona may be the reason.
    """

    opening: Opening
    models: ModelSwitch

    async def warn_if_missing(self) -> None:
        """Warn if the persona of the opened conversation no longer exists."""
        here = self.opening.conversation.id
        own = await asyncio.to_thread(self.backend.own_instructions, here)
        if sentence := missing(self.backend.settings, own):
            self.host.warn(sentence)

    async def use_text(self, text: str = "") -> None:
        """Set the conversation's own system prompt; without a text, show the current one."""
        if text:
            self._say(text)
            return
        from jitchat.tui.dialogs.system import SystemScreen  # noqa: PLC0415  not on the first frame

        settings = await self._settings()
        text, origin = settings.chat.system, settings.origin("chat.system")
        source = origin if text else "built in"
        self.host.push(SystemScreen(text or SYSTEM_PROMPT, source), self._edited)

    def _edited(self, edited: SystemText | None) -> None:
        if edited is not None and edited.persona:
            self.host.run(partial(self._save, edited), "persona", exclusive=True)
        elif edited is not None:
            self._say(edited.text)

    def _say(self, text: str) -> None:
        """Set the conversation's own system prompt; an empty text removes it."""
        has = "has its own system prompt" if text.strip() else "has no system prompt of its own"
        self._use(f"this conversation {has}", lambda own: replace(own, system=text))

    async def pick(self, name: str = "") -> None:
        """Use a persona in the conversation; without a name, let the user choose one.

        Raises:
            SettingsError: There is no persona with this name.

        """
        if name:
            self._use_persona(name)
            return
        from jitchat.tui.dialogs.choice import personas_screen  # noqa: PLC0415  likewise

        def chosen(name: str | None) -> None:
            if name is not None:
                self._use_persona(name)

        settings = await self._settings()
        self.host.push(personas_screen(settings.personas, settings.chat.persona), chosen)

    def _use_persona(self, name: str) -> None:
        """Use a persona in the conversation; its system prompt replaces the conversation's own."""
        known = self.backend.settings.personas
        name = "" if name == NONE and NONE not in known else name
        if name:
            require_persona(name, known, "/persona")
        brings_text = bool(name) and bool(known[name].system.strip())

        def change(own: Instructions) -> Instructions:
            return replace(own, system=None if brings_text else own.system, persona=name)

        self._use(f"the persona {name} is used" if name else "no persona is used", change)

    def use_size(self, typed: str = "") -> None:
        """Set the size of the conversation's windows, in tokens or `auto`."""
        digits = typed.replace(",", "").replace("_", "")
        if typed != AUTO and not (digits.isdecimal() and 0 < int(digits) < 10**9):
            self.host.say(f"/size takes a number of tokens, such as 8000, or {AUTO}.")
            return
        size: WindowSize = AUTO if typed == AUTO else int(digits)
        most = "the usual size" if size == AUTO else f"at most {size:,} tokens"
        if not self.models.sends.busy:
            self.host.say(f"From now on, windows have {most} here, once not everything fits.")
        self._use(f"windows have {most}", lambda own: replace(own, size=size))

    def _use(self, clause: str, change: Callable[[Instructions], Instructions]) -> None:
        backend, opening = self.backend, self.opening
        conversation, session = opening.conversation.id, opening.session

        def make() -> tuple[Session | None, str]:
            own = change(backend.own_instructions(conversation))
            return backend.use_instructions(conversation, session, own)

        self.models.remake(make, clause)

    async def _save(self, edited: SystemText) -> None:
        opening, name = self.opening, edited.persona
        save = partial(self.backend.save_persona, opening.conversation.id, opening.session)
        await asyncio.to_thread(save, name, edited.text)
        self.host.say(f"Saved as the persona {name}, which is now used here.")
        self._use_persona(name)

    async def _settings(self) -> Settings:
        return await asyncio.to_thread(self.backend.settings_for, self.opening.conversation.id)
