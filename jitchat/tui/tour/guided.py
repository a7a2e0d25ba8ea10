"""The chat while a tour goes on: where it stands, what its bars say, and what its keys do."""

from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from jitchat.session import Session
from jitchat.tui.backend import Backend
from jitchat.tui.model_rows import READER
from jitchat.tui.screens.answered import READER_PLACEHOLDER
from jitchat.tui.screens.chat import ChatScreen
from jitchat.tui.tour.bar import Told, TourBar
from jitchat.tui.tour.keys import STARTS_A_SHOW, TourKey, TourKeyPressed
from jitchat.tui.tour.reading import reading_seconds
from jitchat.tui.tour.steps import STEPS
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Conversation

ON_TOUR = "-touring"
"""The class of a screen with a bar."""


class GuidedScreen(ChatScreen):
    """A chat that is led from step to step."""

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        """With a `pace` the tour plays by itself, and leaves the app at its end."""
        super().__init__(backend, conversation)
        self.told = Told(0, "opening the conversation…", is_on_way=True)
        self.is_over = False
        self._pace = pace
        self._reads: Timer | None = None
        self._dressed: list[Screen[Any]] = []
        """The screens that a step opened, and that have a bar."""

    def compose(self) -> ComposeResult:
        """Below all else, the bar. Nothing is offered meanwhile."""
        yield from super().compose()
        self._offer.display = False
        self.add_class(ON_TOUR)
        yield self._bar()

    async def do(self, place: int) -> None:
        """Do the step at a place, from 1; `arrive` is called once there is something to see."""
        raise NotImplementedError

    def takes(self, key: TourKey) -> bool:
        """Whether a key of the tour counts where the user is now.

        It does not in what the user opened, nor, but for the one that ends it, while they write.
        """
        prompt = self.query_one(Prompt)
        is_writing = prompt.has_focus and bool(prompt.text.strip())
        return self.leads and (key is TourKey.END or not is_writing)

    def drops(self, event: events.Key) -> bool:
        """Whether a key is to do nothing: one that was hit by mistake, or that a clicker sent."""
        if not self.leads:
            return False
        is_typed = event.is_printable and event.key != "space"
        return event.key in STARTS_A_SHOW or (is_typed and not self.query_one(Prompt).has_focus)

    @property
    def leads(self) -> bool:
        """Whether the tour goes on, and what is on top is a part of it."""
        top = self.app.screen
        return not self.is_over and (top is self or self.is_dressed(top))

    def set_off(self, place: int) -> None:
        """Say that a step is on its way."""
        self._stop_reading()
        self._tell(Told(place, "…", is_on_way=True))

    def follow(self, words: str) -> None:
        """Say what there is to see by now."""
        self._stop_reading()
        self._tell(Told(self.told.place, words))

    def arrive(self, words: str) -> None:
        """Say what there is to see; a recording goes on once that is read."""
        self.follow(words)
        if self._pace is not None:
            self._reads = self.set_timer(reading_seconds(self.told.text, self._pace), self._read)

    def fail(self, words: str) -> None:
        """Say why a step brought nothing: the key does it again; a recording ends."""
        self._stop_reading()
        self._tell(Told(max(0, self.told.place - 1), words))
        if self._pace is not None:
            self.app.exit(return_code=1, message=words)

    def focus_bar(self) -> None:
        """Take the focus off the prompt."""
        self.query_one(TourBar).focus()

    def is_dressed(self, screen: Screen[Any]) -> bool:
        """Whether a screen is one that a step opened, with a bar."""
        return screen in self._dressed

    def dress(self, screen: Screen[Any]) -> None:
        """Put the bar on a screen that a step opened, unless it is closed again by then."""

        def mount() -> None:
            if self.is_dressed(screen):
                screen.mount(self._bar())

        self._dressed.append(screen)
        screen.add_class(ON_TOUR)
        screen.call_after_refresh(mount)

    async def clear(self) -> None:
        """Close what a step opened."""
        self._dressed.clear()
        while self.app.screen is not self:
            await self.app.pop_screen()

    def end(self) -> None:
        """Leave a chat like any other; what the last step opened stays open."""
        if self.is_over:
            return
        self.is_over = True
        self._stop_reading()
        for screen in self.app.screen_stack:
            screen.remove_class(ON_TOUR)
            screen.query(TourBar).remove()
        if self.session is not None:
            self._show_who(self.session)
        self.query_one(Prompt).focus()

    async def open(self, conversation: Conversation, at: int | None = None) -> None:
        """As ever; but nothing is typed for now."""
        await super().open(conversation, at)
        if not self.is_over:
            self.focus_bar()

    async def leave(self) -> None:
        """The tour is about the conversation that is left."""
        if self.told.place:
            self.end()
        await super().leave()

    @on(Prompt.Submitted)
    def _written(self) -> None:
        """What the user wrote is on its way: their keys are the tour's again."""
        if not self.is_over:
            self.focus_bar()

    @on(TourKeyPressed)
    async def _key_pressed(self, message: TourKeyPressed) -> None:
        if message.key is TourKey.END:
            await self.clear()
            self.end()
        elif not self.told.is_on_way and not self.busy and not self.is_over:
            await self._go(message.key)

    async def _go(self, key: TourKey) -> None:
        place = self.told.place
        if key is TourKey.BACK and place > 1:
            await self.do(place - 1)
        elif key is TourKey.NEXT and place < len(STEPS):
            await self.do(place + 1)
        elif key is TourKey.NEXT:
            self.end()

    async def _read(self) -> None:
        """What is said was read: on."""
        if self.told.place < len(STEPS):
            await self.do(self.told.place + 1)
        else:
            self.app.exit(return_code=0)

    def _show_who(self, session: Session) -> None:
        """As ever; but nobody is looked for in place of the reader while the tour goes on."""
        if self.is_over or session.provider.name != READER:
            super()._show_who(session)
        else:
            self.query_one(Prompt).placeholder = READER_PLACEHOLDER

    def _bar(self) -> TourBar:
        return TourBar(self.told, has_keys=self._pace is None)

    def _tell(self, told: Told) -> None:
        self.told = told
        for screen in self.app.screen_stack:
            for bar in screen.query(TourBar):
                bar.show(told)

    def _stop_reading(self) -> None:
        if self._reads is not None:
            self._reads.stop()
            self._reads = None
