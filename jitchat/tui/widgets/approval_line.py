"""The question whether something may be done: above the prompt, answered by one key or a click.

It never takes the focus: what is being typed stays where it is, and no letter answers it.
"""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from jitchat.tools.approvals import Answer, Question
from jitchat.tui.palette import MUTED

KEYS = {
    Answer.ONCE: "Alt+J",
    Answer.CONVERSATION: "Alt+L",
    Answer.ALWAYS: "Alt+Q",
    Answer.DECLINE: "Alt+N",
}
_WORDS = {Answer.DECLINE: "no"}


class ApprovalLine(Vertical):
    def __init__(self) -> None:
        super().__init__(id="approval")
        self._asked, self._arguments = Static(id="approval-asked"), Static()
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._asked
        with VerticalScroll(id="approval-arguments", can_focus=False):
            yield self._arguments

    def ask(self, question: Question) -> None:
        self._asked.update(asked(question))
        parts = [question.arguments, question.annotations, question.description]
        self._arguments.update(Content("\n".join(filter(None, parts))))
        self.display = True

    def ask_about(self, what: str, question: str, choices: Sequence[Answer]) -> None:
        """Ask something else than whether a tool may run."""
        self._asked.update(_written(what, f" {question}  ", choices))
        self._arguments.update("")
        self.display = True

    def close(self) -> None:
        self.display = False


def asked(question: Question) -> Content:
    """Write what is asked, and what answers it."""
    return _written(f"{question.server}: {question.tool}", " may run?  ", question.choices)


def _written(what: str, question: str, choices: Sequence[Answer]) -> Content:
    parts: list[Content | tuple[str, str | Style]] = [
        (what, "bold $text-warning"),
        (question, ""),
    ]
    for answer in choices:
        click = Style.from_meta({"@click": f"screen.approve('{answer.name.lower()}')"})
        parts += [(KEYS[answer], "bold"), (" ", ""), (_WORDS.get(answer, answer.value), click)]
        parts.append(("  ", MUTED))
    return Content.assemble(*parts)
