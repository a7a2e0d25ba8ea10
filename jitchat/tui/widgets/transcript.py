"""The conversation: a cursor on its turns, and the reply that grows at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding
from textual.message import Message

from jitchat.tui.actions import pane_bindings
from jitchat.tui.turn_details import NOTHING, Detail, TurnDetails, is_cut
from jitchat.tui.widgets.reply import ReplyBody
from jitchat.tui.widgets.turn_list import TurnList
from jitchat.tui.widgets.turn_view import TurnView
from jitchat.values import Role, Status, Turn
from jitchat.window.steering import Steering
from jitchat.window.window import Kind


class Transcript(TurnList):
    """One of the turns is chosen while the list has the focus."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
        Binding("enter", "open", "text", False, "⏎", id="transcript_open"),
        *pane_bindings(),
    ]

    @dataclass
    class Opened(Message):
        turn: Turn
        detail: Detail

    def __init__(self) -> None:
        super().__init__("transcript")
        self.details: TurnDetails | None = None
        """Of the conversation that is on screen; None before there is one."""
        self._kinds: Mapping[int, Kind] = {}
        self._steering = Steering()
        self._grown: list[str] = []
        """The pieces of the reply that is growing."""
        self._cursor: int | None = None
        """The position of the turn that was chosen last; None for the last one."""

    @property
    def chosen(self) -> Turn | None:
        """The turn under the cursor; None while the focus is elsewhere."""
        place = self._place_of_cursor() if self.has_focus else None
        return None if place is None else self._turns[place]

    @property
    def _chosen_view(self) -> TurnView | None:
        return self._view_of(self.chosen.position) if self.chosen is not None else None

    def offers(self, binding: Binding) -> bool:
        view = self._chosen_view
        if view is None:
            return False
        is_reply = view.turn.role is Role.ASSISTANT
        applies = {
            "turn_edit": view.turn.role is Role.USER,
            "turn_go_on": is_reply and is_cut(view.turn, view.detail),
            "turn_reasoning": view.reasoning is not None,
            "turn_mattered": is_reply,
            "turn_miss": is_reply,
            "turn_version_after": bool(view.detail.versions),
        }
        return applies.get(binding.id or "", True)

    def question_of(self, binding: Binding) -> str:
        return binding.tooltip.format(turn=self.chosen.position if self.chosen else "")

    async def put(self, turn: Turn) -> None:
        """Show a turn as it now is: a new one at the end, or one that is here already.

        What grows is the reply that is stored.
        """
        place = self._place(turn.position, turn.role)
        if place is None and turn.role is Role.ASSISTANT and self._growing_turn() is not None:
            place = len(self._turns) - 1
        if place is not None:
            detail = (await self._details_of([turn])).get(turn.position, NOTHING)
            view = self._view_of(self._turns[place].position)
            self._turns[place] = turn
            if view is not None:
                await view.finish(turn, detail)
            return
        async with self._mounting:
            if self._end < len(self._turns):
                await self._show(self._turns)
            views = await self.views_of([turn])
            await self.query("#empty").remove()
            self._turns.append(turn)
            self._end = len(self._turns)
            self._choose(None)
            await self.mount_all(views)
            self.anchor()

    async def replace_stored(self, turn: Turn) -> bool:
        """Take a reply that could not be stored for what it is in the store; False: it is not here.

        The reply that is growing is another one.
        """
        place = self._place(turn.position, turn.role)
        if place is None or self._turns[place].status is Status.STREAMING:
            return False
        view = self._view_of(turn.position)
        if view is not None:
            await view.warn("")
        await self.put(turn)
        return True

    def detail_of(self, turn: Turn) -> Detail:
        view = self._view_of(turn.position)
        return view.detail if view is not None else NOTHING

    async def stream(self, piece: str, position: int, *, typing: bool = False) -> None:
        """Append to the reply that will be the turn at `position`, if nobody comes between."""
        view = await self._begun_view(position)
        self._grown.append(piece)
        if view is not None and view.reply is not None:
            if view.reasoning is not None:
                view.reasoning.end()
            view.reply.add(piece, typing=typing)

    async def think(self, piece: str, position: int) -> None:
        if (view := await self._begun_view(position)) is not None:
            await view.think(piece)

    async def take_for_reasoning(self) -> None:
        """Take all of the reply so far for reasoning."""
        text = "".join(self._grown)
        self._grown.clear()
        view = self._growing_view()
        if view is not None and view.reply is not None:
            await view.reply.finish("")
            await view.think(text)

    async def end_stream(self) -> None:
        """No more comes of a reply that was not stored: what came of it stays in view."""
        if (growing := self._growing_turn()) is not None:
            text = "".join(self._grown)
            await self.put(replace(growing, content=text, status=Status.INTERRUPTED))

    async def warn(self, sentence: str) -> None:
        """Say below the last turn what is the matter with it."""
        if views := self._mounted():
            await views[-1].warn(sentence)

    async def draw_behind_key(self) -> None:
        """Draw the reply that is growing, if one is, now that a key was drawn."""
        view = self._growing_view()
        if view is not None and view.reply is not None:
            await view.reply.draw_behind_key()

    def mark(self, kinds: Mapping[int, Kind]) -> None:
        """Show which turns the window has, and as what."""
        self._kinds = kinds
        with self.app.batch_update():
            for view in self.query(TurnView):
                view.mark(kinds.get(view.turn.position))

    def hold(self, steering: Steering) -> None:
        if steering != self._steering:
            self._steering = steering
            with self.app.batch_update():
                for view in self.query(TurnView):
                    view.hold(steering.of(view.turn.position))

    async def views_of(self, turns: Sequence[Turn]) -> list[TurnView]:
        details = await self._details_of(turns)
        views = []
        for turn in turns:
            is_growing = turn.status is Status.STREAMING
            shown = replace(turn, content="".join(self._grown)) if is_growing else turn
            kind, detail = self._kinds.get(turn.position), details.get(turn.position, NOTHING)
            views.append(TurnView(shown, kind, detail))
            views[-1].hold(self._steering.of(turn.position))
        return views

    async def _details_of(self, turns: Sequence[Turn]) -> Mapping[int, Detail]:
        return await self.details.of(turns) if self.details is not None else {}

    def point_at(self, position: int) -> None:
        self._choose(position)

    def toggle_reasoning(self) -> bool:
        """Fold or unfold the reasoning of the chosen reply, or of the last one that has any.

        Tells whether there is any.
        """
        chosen = self._chosen_view
        for view in [chosen] if chosen is not None else reversed(self._mounted()):
            if view.reasoning is not None:
                view.reasoning.toggle()
                if view.reasoning.unfolded:
                    self.release_anchor()
                    self.call_after_refresh(self.scroll_to_widget, view, top=True, animate=False)
                return True
        return False

    def wrap_code(self) -> None:
        """Wrap lines of code that are longer than the screen is wide, or cut them again."""
        self.toggle_class("-code-wrapped")
        for reply in self._replies():
            reply.measure_again()

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._fold_away()
        self.call_after_refresh(self._fold_away)  # a jump goes further than was near

    def _fold_away(self) -> None:
        for reply in self._replies():
            reply.fold_away()

    def _replies(self) -> list[ReplyBody]:
        return [view.reply for view in self._mounted() if view.reply is not None]

    def on_focus(self) -> None:
        """Show the cursor, where the user looks."""
        self._choose(self._nearest_in_view(-1))

    async def action_move(self, step: int) -> None:
        """Move to the next turn or the one before, from where the user looks."""
        place = self._place_of_cursor()
        if place is None:
            return
        nearest, view = self._nearest_in_view(step), self._view_of(self._turns[place].position)
        if nearest is not None and (view is None or not self._is_in_view(view)):
            self._choose(nearest)
        elif 0 <= place + step < len(self._turns):
            position = self._turns[place + step].position
            view = self._view_of(position)
            if view is None:
                await self.show(self._turns, position)
            else:  # of a turn that is larger than the screen, to where it is entered
                top = step > 0 and view.outer_size.height > self.size.height
                self.scroll_to_widget(view, top=top, animate=False, immediate=True)
            self._choose(position)
        elif step > 0:
            self.scroll_end(animate=False)

    async def action_first(self) -> None:
        if self._turns:
            await self.show(self._turns, self._turns[0].position)
            self._choose(self._turns[0].position)

    async def action_last(self) -> None:
        await self.show(self._turns)
        self._choose(None)
        self.scroll_end(animate=False)

    def action_open(self) -> None:
        if (view := self._chosen_view) is not None:
            self.post_message(self.Opened(view.turn, view.detail))

    def _choose(self, position: int | None) -> None:
        """Move the cursor: to a position, or to the end."""
        self._cursor = position
        if position is None and self._turns:
            position = self._turns[-1].position
        for view in self._mounted():
            view.choose(chosen=view.turn.position == position)
        if self.has_focus:
            self.screen.refresh_bindings()

    def _place(self, position: int | None, role: Role | None = None) -> int | None:
        """The index of the turn at a position, said by `role`; the latest are looked at first."""
        for place in reversed(range(len(self._turns))):
            turn = self._turns[place]
            if turn.position == position and role in (None, turn.role):
                return place
        return None

    def _place_of_cursor(self) -> int | None:
        """The index of the turn under the cursor; the last one where that is gone."""
        place = self._place(self._cursor)
        return len(self._turns) - 1 if place is None and self._turns else place

    def _is_in_view(self, view: TurnView) -> bool:
        """Whether it is on screen once what was scrolled is drawn: keys can come faster."""
        lines = view.virtual_region
        return lines.y < self.scroll_y + self.size.height and lines.bottom > self.scroll_y

    def _nearest_in_view(self, step: int) -> int | None:
        """The position of the first turn on screen that one comes to by such a step."""
        seen = [view.turn.position for view in self._mounted() if self._is_in_view(view)]
        return seen[0 if step > 0 else -1] if seen else None

    def _growing_turn(self) -> Turn | None:
        last = self._turns[-1] if self._turns else None
        return last if last is not None and last.status is Status.STREAMING else None

    def _growing_view(self) -> TurnView | None:
        growing = self._growing_turn()
        return self._view_of(growing.position) if growing is not None else None

    async def _begun_view(self, position: int) -> TurnView | None:
        """The view of the reply that grows, which begins now if none does."""
        if self._growing_turn() is None:
            self._grown.clear()
            await self.put(Turn(position, Role.ASSISTANT, "", None, None, Status.STREAMING))
        return self._growing_view()
