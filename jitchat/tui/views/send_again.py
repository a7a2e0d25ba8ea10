"""Asking how a message is to be sent once more: in which mode, within which budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jitchat.memory.cold.path import parent_of
from jitchat.text.safe import one_line
from jitchat.tui.views.subject import SendAgain
from jitchat.turn import Mode, Status, Turn
from jitchat.window.steering import Once

if TYPE_CHECKING:
    from jitchat.replay import Replayed
    from jitchat.session import Session
    from jitchat.window.budget import Budget

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
        """Draw them."""
        return Content(
            "\n".join(
                f"{'●' if mode is self.mode else '○'} {key.upper()} {mode.value}"
                for key, mode in _KEYS.items()
            )
        )

    def on_click(self, event: events.Click) -> None:
        """Choose the line under the mouse."""
        if event.y < len(_MODES):
            self.mode = _MODES[event.y]

    def step(self, by: int) -> None:
        """Choose the next one, or the one before."""
        self.mode = _MODES[(_MODES.index(self.mode) + by) % len(_MODES)]


class BudgetInput(Input):
    """A line for a number, which leaves letters to the keys of the screen."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Take digits, and what moves and deletes."""
        return key not in _KEYS and super().check_consume_key(key, character)


class SendAgainScreen(ModalScreen[SendAgain | None]):
    """Choose a mode and a budget; Enter sends."""

    CSS_PATH = "sends.tcss"
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
        self._session, self._said = session, replayed.said
        self._choice = ModeChoice()
        self._choice.mode = replayed.send.mode
        self._budget = BudgetInput(
            placeholder=f"Budget in tokens; {session.options.budget.budget:,} if empty",
            type="integer",
            compact=True,
            id="again-budget",
        )

    def compose(self) -> ComposeResult:
        """The modes, the budget, and who answers."""
        provider = self._session.provider
        with Vertical(classes="box") as box:
            box.border_title = f"Send #{self._said.position} again"
            box.border_subtitle = "F full · Y recency · J jit · Enter send · Esc close"
            yield Static(Content(_EXPLAINED), classes="again-note")
            yield self._choice
            yield self._budget
            is_named = provider.model != provider.name
            who = f"{provider.name} {provider.model}" if is_named else provider.name
            yield Static(Content(one_line(f"{who} answers.")), classes="again-note")
            yield Static(id="again-refusal")

    def on_mount(self) -> None:
        """So that a budget can be typed at once."""
        self._budget.focus()

    def action_mode(self, mode: str) -> None:
        """Choose a mode."""
        self._choice.mode = Mode(mode)

    def action_step(self, by: int) -> None:
        """Choose the mode below, or above."""
        self._choice.step(by)

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Leave with what was chosen; say so where the budget cannot be."""
        budget = self._session.options.budget
        most = max(budget.limit, self._session.model_limit) - budget.reserve
        size, refusal = budget_of(self._budget.value, budget, most)
        if refusal:
            self.query_one("#again-refusal", Static).update(Content(refusal))
            return
        self.dismiss(SendAgain(self._said, self._choice.mode, again(self._said, size)))


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


def again(said: Turn, budget: Budget | None) -> Once:
    """Say where the new reply stands: beside the old one, or, without one, where it would be."""
    if said.status is not Status.UNANSWERED:
        return Once(again=said, budget=budget)
    return Once(after=parent_of(said), budget=budget)
