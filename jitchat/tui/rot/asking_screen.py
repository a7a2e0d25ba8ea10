"""The questions before something is sent, or deleted."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from jitchat.rot.desk import Answerer
from jitchat.rot.estimate import estimated, sentence
from jitchat.rot.run import Run
from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.tui.rot.setup_rows import Sending, judge_told, own_told, who_told
from jitchat.tui.widgets.key_line import KeyLine

_STOPS = "Esc stops a run at any time; what came is kept, and it can be gone on with."
_GONE = "Its conversations, windows and answers are deleted. This cannot be taken back."


class AskingScreen(ModalScreen[bool]):
    """Tells what is going to happen; Enter does it, Esc does not."""

    CSS_PATH = ["../screens/dialog.tcss", "lab.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(self, title: str, told: tuple[str, ...]) -> None:
        super().__init__(classes="dialog")
        self._title, self._told = title, told

    def compose(self) -> ComposeResult:
        """A box with the question."""
        first, *rest = map(one_line, self._told)
        with Vertical(classes="box asking") as box:
            box.border_title = Content(self._title)
            yield Static(Content.assemble((first, "bold"), *(f"\n\n{each}" for each in rest)))
            yield KeyLine()

    def action_yes(self) -> None:
        """Do it."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Leave all as it is."""
        self.dismiss(False)


class SendScreen(AskingScreen):
    """Whether questions are to be sent to a model."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "yes", "Send", id="rot_send"),
        Binding("escape,n", "no", "Do not send", id="rot_send_not"),
    ]


class ForgetScreen(AskingScreen):
    """Whether a run is to be deleted."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "yes", "Delete", id="rot_delete"),
        Binding("escape,n", "no", "Keep it", id="rot_delete_not"),
    ]


def ask_to_send(sending: Sending, answerer: Answerer) -> SendScreen:
    """Ask ahead of a new run, with all that it sends."""
    budget = sentence(estimated(sending.experiment, answerer))
    told = (who_told(answerer), own_told(sending), budget, judge_told(sending), _STOPS)
    return SendScreen("Send this?", tuple(filter(None, told)))


def ask_to_go_on(run: Run, to_ask: int, answerer: Answerer, title: str = "") -> SendScreen:
    """Ask ahead of the rest of a run; `title` is of the user's conversation, if it is known."""
    own = own_told(Sending(run.experiment, answerer, title=title))
    left = f"{counted(to_ask, 'cell')} of {run.experiment.size:,} have no answer yet."
    whole = f"The whole run: {sentence(estimated(run.experiment, answerer))}"
    judged = f"{run.judge} judges, whose cost is not counted here." if run.judge else ""
    told = (who_told(answerer), own, left, whole, judged, _STOPS)
    return SendScreen("Send the rest?", tuple(filter(None, told)))


def ask_to_forget(run: Run) -> ForgetScreen:
    """Ask ahead of deleting a run."""
    return ForgetScreen("Delete this run?", (run.title, _GONE))
