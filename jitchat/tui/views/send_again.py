"""Asking how a message is to be sent once more: in which mode, within which budget."""

import asyncio

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.replay import Replayed
from jitchat.session import Session
from jitchat.store.path import parent_of
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import used_figure
from jitchat.tui.views.view import Note, SendAgain, mode_keys
from jitchat.values import Mode, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.cost import window_cost
from jitchat.window.steering import Once

_KEYS = mode_keys({Mode.RECENCY: "y"})
"""By its mode. R is the key that opened this."""
_MODES = list(Mode)
_EXPLAINED = (
    "The message is answered once more, from where it stands, beside the reply that it has."
    " Nothing is overwritten. Ctrl+L in the chat picks another model."
)


class ModeChoice(Static):
    """One line a mode; the chosen one has a dot."""

    mode: reactive[Mode] = reactive(Mode.JIT)

    def render(self) -> Content:
        signs = {mode: "●" if mode is self.mode else "○" for mode in Mode}
        lines = (f"{signs[mode]} {key.upper()} {mode}" for mode, key in _KEYS.items())
        return Content("\n".join(lines))

    def on_click(self, event: events.Click) -> None:
        if event.y < len(_MODES):
            self.mode = _MODES[event.y]


class BudgetInput(Input):
    """A line for a number, which leaves letters to the keys of the screen."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return key not in _KEYS.values() and super().check_consume_key(key, character)


class SendAgainScreen(ModalScreen[SendAgain | None]):
    CSS_PATH = "sent_windows.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="send_again_close"),
        Binding("enter", "send", "Send", priority=True, id="send_again_send"),
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        *(
            Binding(key, f"mode('{mode}')", mode, show=False, priority=True)
            for mode, key in _KEYS.items()
        ),
    ]

    def __init__(self, session: Session, replayed: Replayed) -> None:
        super().__init__(classes="dialog")
        self._session, self._message = session, replayed.said
        provider = session.provider
        is_named = provider.model != provider.name
        who = f"{provider.name} {provider.model}" if is_named else provider.name
        self._who = f"{who} answers"
        self._estimate = Note("again-who", "again-note", one_line(f"{self._who}."))
        self._refusal = Note("again-refusal")
        self._choice = ModeChoice()
        self._choice.mode = replayed.send.mode
        self._budget = BudgetInput(
            placeholder=f"Budget in tokens; {session.options.budget.budget:,} if empty",
            type="integer",
            compact=True,
            id="again-budget",
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = f"Send #{self._message.position} again"
            keys = " · ".join(f"{key.upper()} {mode}" for mode, key in _KEYS.items())
            box.border_subtitle = f"{keys} · Enter send · Esc close"
            yield Note(None, "again-note", _EXPLAINED)
            yield self._choice
            yield self._budget
            yield self._estimate
            yield self._refusal

    def on_mount(self) -> None:
        self._budget.focus()
        self.watch(self._choice, "mode", self._estimate_cost)

    def action_mode(self, mode: str) -> None:
        self._choice.mode = Mode(mode)

    @on(Input.Changed)
    def _estimate_cost(self) -> None:
        self._show_cost()

    @work(exclusive=True)
    async def _show_cost(self) -> None:
        size, _ = self._chosen_size()
        sentence = await asyncio.to_thread(self._cost_sentence, self._choice.mode, size)
        self._estimate.update(one_line(f"{self._who}{sentence}."))

    def _cost_sentence(self, mode: Mode, size: Budget | None) -> str:
        prices = self._session.options.prices
        try:
            window = self._session.preview(self._message.content, mode, again(self._message, size))
        except WindowOverflow as overflow:
            return f"; it does not fit: {overflow.overshoot:,} tokens over the budget"
        except JitchatError as error:
            return f"; what that costs is not known: {error}"
        cost = window_cost(window, prices.of_input if prices is not None else lambda _: None)
        answer = "" if cost == "free" else ", without the answer"
        return f"; it is sent {used_figure(window)} tokens: {cost}{answer}"

    def _chosen_size(self) -> tuple[Budget | None, str]:
        budget = self._session.options.budget
        most = max(budget.limit, self._session.model_limit) - budget.reserve
        return budget_of(self._budget.value, budget, most)

    def action_step(self, by: int) -> None:
        at = _MODES.index(self._choice.mode)
        self._choice.mode = _MODES[(at + by) % len(_MODES)]

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Leave with what was chosen; say so where the budget cannot be."""
        size, refusal = self._chosen_size()
        if refusal:
            self._refusal.update(refusal)
        else:
            once = again(self._message, size)
            self.dismiss(SendAgain(self._message, self._choice.mode, once))


def budget_of(typed: str, budget: Budget, most: int) -> tuple[Budget | None, str]:
    """Read a number of tokens: the budget, None for the session's own, and why it cannot be.

    `most` is what the model takes beside the reserve, also while the user has less in use.
    """
    if not typed.strip():
        return None, ""
    try:
        wanted = int(typed)
    except ValueError:
        wanted = 0
    if 0 < wanted <= most:
        return budget.of_size(wanted), ""
    return None, f"The budget must be a number of tokens from 1 to {most:,}."


def again(message: Turn, budget: Budget | None) -> Once:
    """Say where the new reply stands: beside the old one, or, without one, where it would be."""
    if message.status is not Status.UNANSWERED:
        return Once(again=message, budget=budget)
    return Once(after=parent_of(message), budget=budget)
