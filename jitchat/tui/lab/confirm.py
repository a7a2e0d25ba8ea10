"""The question before something is sent, or deleted."""

from collections.abc import Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from jitchat.lab.costs import estimated, sentence
from jitchat.lab.run_file import Run
from jitchat.lab.service import Answerer
from jitchat.text.figures import counted
from jitchat.text.sanitize import one_line
from jitchat.tui.lab.setup import PlannedRun, answerer_line
from jitchat.tui.widgets.hint_line import KeyLine

_STOPS = "Esc stops a run at any time; what was answered is kept, and the run can be resumed."
_GONE = "Its conversations, windows and answers are deleted. This cannot be undone."


class ConfirmScreen(ModalScreen[bool]):
    """Says what is going to happen; Enter does it, Esc does not."""

    CSS_PATH = ["../screens/dialog.tcss", "lab.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "answer(True, 'send')", "Send", id="rot_send"),
        Binding("escape,n", "answer(False, 'send')", "Do not send", id="rot_send_not"),
        Binding("enter", "answer(True, 'delete')", "Delete", id="rot_delete"),
        Binding("escape,n", "answer(False, 'delete')", "Keep it", id="rot_delete_not"),
    ]

    def __init__(
        self, title: str, paragraphs: Sequence[str], verb: Literal["send", "delete"] = "send"
    ) -> None:
        """`verb` says which of the keys there are; an empty paragraph is left out."""
        super().__init__(classes="dialog")
        self._title, self._verb = title, verb
        self.paragraphs = [one_line(text) for text in paragraphs if text]

    def compose(self) -> ComposeResult:
        first, *rest = self.paragraphs
        with Vertical(classes="box confirm") as box:
            box.border_title = Content(self._title)
            yield Static(Content.assemble((first, "bold"), *(f"\n\n{text}" for text in rest)))
            yield KeyLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "answer" or parameters[1] == self._verb

    def action_answer(self, is_wanted: bool, verb: str) -> None:  # noqa: ARG002  see check_action
        self.dismiss(is_wanted)


def confirm_send(plan: PlannedRun, answerer: Answerer) -> ConfirmScreen:
    """Ask ahead of a new run, with all that it sends."""
    budget = sentence(estimated(plan.experiment, answerer))
    who = answerer_line(answerer)
    return ConfirmScreen(
        "Send this?", (who, plan.own_sentence, budget, plan.judge_sentence, _STOPS)
    )


def confirm_resume(run: Run, to_ask: int, answerer: Answerer, title: str = "") -> ConfirmScreen:
    """Ask ahead of the rest of a run; `title` is of the user's conversation, if it is known."""
    own = PlannedRun(run.experiment, answerer, title=title).own_sentence
    left = f"{counted(to_ask, 'cell')} of {run.experiment.size:,} have no answer yet."
    whole = f"The whole run: {sentence(estimated(run.experiment, answerer))}"
    judge = f"{run.judge} judges, whose cost is not counted here." if run.judge else ""
    return ConfirmScreen(
        "Send the rest?", (answerer_line(answerer), own, left, whole, judge, _STOPS)
    )


def confirm_delete(run: Run) -> ConfirmScreen:
    return ConfirmScreen("Delete this run?", (run.title, _GONE), "delete")
