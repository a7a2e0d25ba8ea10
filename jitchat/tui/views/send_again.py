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
from jitchat.tui.views.view import SendAgain
from jitchat.values import Mode, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.cost import window_cost
from jitchat.window.steering import Once

_KEYS = {"f": Mode.FULL, "y": Mode.RECENCY, "j": Mode.JIT}
_MODES = list(_KEYS.values())
_EXPLAINED = (
    "The message is answered once more, from where it stands, beside the reply that it has."
    " Nothing is overwritten. Ctrl+L in the chat picks another model."
)


class ModeChoice(Static):
    """One line a mode; the chosen one has a dot."""

    mode: reactive[Mode] = reactive(Mode.JIT)

    def render(self) -> Content:
        return Content(
            "\n".join(
                f"{'●' if mode is self.mode else '○'} {key.upper()} {mode.value}"
                for key, mode in _KEYS.items()
            )
        )

    def on_click(self, event: events.Click) -> None:
        if event.y < len(_MODES):
            self.mode = _MODES[event.y]

    def step(self, by: int) -> None:
        self.mode = _MODES[(_MODES.index(self.mode) + by) % len(_MODES)]


class BudgetInput(Input):
    """A line for a number, which leaves letters to the keys of the screen."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Take digits, and what moves and deletes."""
        return key not in _KEYS and super().check_consume_key(key, character)


class SendAgainScreen(ModalScreen[SendAgain | None]):
    CSS_PATH = "sent_windows.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="send_again_close"),
        Binding("enter", "send", "Send", priority=True, id="send_again_send"),
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        *(
            Binding(key, f"mode('{mode}')", mode.value, show=False, priority=True)
            for key, mode in _KEYS.items()
        ),
    ]

    def __init__(self, session: Session, replayed: Replayed) -> None:
        super().__init__(classes="dialog")
        self._session, self._message = session, replayed.said
        provider = session.provider
        is_named = provider.model != provider.name
        who = f"{provider.name} {provider.model}" if is_named else provider.name
        self._who = f"{who} answers"
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
            box.border_subtitle = "F full · Y recency · J jit · Enter send · Esc close"
            yield Static(Content(_EXPLAINED), classes="again-note")
            yield self._choice
            yield self._budget
            yield Static(Content(one_line(f"{self._who}.")), id="again-who", classes="again-note")
            yield Static(id="again-refusal")

    def on_mount(self) -> None:
        """So that a budget can be typed at once."""
        self._budget.focus()
        self.watch(self._choice, "mode", self._estimate)

    def action_mode(self, mode: str) -> None:
        self._choice.mode = Mode(mode)

    @on(Input.Changed)
    def _estimate(self) -> None:
        self._show_estimate()

    @work(exclusive=True)
    async def _show_estimate(self) -> None:
        """Say what is sent and what that costs."""
        size, _ = self._chosen_size()
        estimate = await asyncio.to_thread(self._planned, self._choice.mode, size)
        self.query_one("#again-who", Static).update(Content(one_line(f"{self._who}{estimate}.")))

    def _planned(self, mode: Mode, size: Budget | None) -> str:
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
        self._choice.step(by)

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Leave with what was chosen; say so where the budget cannot be."""
        size, refusal = self._chosen_size()
        if refusal:
            self.query_one("#again-refusal", Static).update(Content(refusal))
            return
        self.dismiss(SendAgain(self._message, self._choice.mode, again(self._message, size)))


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
