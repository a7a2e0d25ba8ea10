"""Asking how a message is to be sent once more: in which mode, within which budget."""

from dataclasses import dataclass

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.replay import Replayed
from jitchat.session import Session
from jitchat.store.path import parent_of
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import used_figure
from jitchat.tui.views.view import SendAgain
from jitchat.values import Mode, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.savings import window_cost
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

    @dataclass
    class Estimated(Message):
        """The window was planned: who answers, and what that costs."""

        told: str

    def __init__(self, session: Session, replayed: Replayed) -> None:
        super().__init__(classes="dialog")
        self._session, self._said = session, replayed.said
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
        """The modes, the budget, and who answers."""
        with Vertical(classes="box") as box:
            box.border_title = f"Send #{self._said.position} again"
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
        """Choose a mode."""
        self._choice.mode = Mode(mode)

    @on(Input.Changed)
    def _estimate(self) -> None:
        """Say anew what is sent and what that costs."""
        self._plan(self._choice.mode, self._chosen_size()[0])

    @work(thread=True, exclusive=True, group="estimate")
    def _plan(self, mode: Mode, size: Budget | None) -> None:
        session, once = self._session, again(self._said, size)
        prices = session.options.prices
        try:
            window = session.preview(self._said.content, mode, once)
        except WindowOverflow as overflow:
            told = f"; it does not fit: {overflow.overshoot:,} tokens over the budget"
        except JitchatError as error:
            told = f"; what that costs is not known: {error}"
        else:
            cost = window_cost(window, prices.of_input if prices is not None else _unknown)
            answer = "" if cost == "free" else ", without the answer"
            told = f"; it is sent {used_figure(window)} tokens: {cost}{answer}"
        if not get_current_worker().is_cancelled:
            self.post_message(self.Estimated(f"{self._who}{told}."))

    @on(Estimated)
    def _estimated(self, message: Estimated) -> None:
        self.query_one("#again-who", Static).update(Content(one_line(message.told)))

    def _chosen_size(self) -> tuple[Budget | None, str]:
        budget = self._session.options.budget
        most = max(budget.limit, self._session.model_limit) - budget.reserve
        return budget_of(self._budget.value, budget, most)

    def action_step(self, by: int) -> None:
        """Choose the mode below, or above."""
        self._choice.step(by)

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Leave with what was chosen; say so where the budget cannot be."""
        size, refusal = self._chosen_size()
        if refusal:
            self.query_one("#again-refusal", Static).update(Content(refusal))
            return
        self.dismiss(SendAgain(self._said, self._choice.mode, again(self._said, size)))


def _unknown(tokens: int) -> float | None:  # noqa: ARG001  the shape of a price
    return None


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
