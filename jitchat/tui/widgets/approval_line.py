"""The question whether something may be done: above the prompt, answered by one key or a click.

It never takes the focus: what is being typed stays where it is, and no letter answers it.
"""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from jitchat.tools.approvals import Answer, Question
from jitchat.tui.actions import spelled
from jitchat.tui.palette import MUTED

_WORDS = {Answer.DECLINE: "no"}
_UNFOLD = "do('reasoning')"
"""The action that folds and unfolds whatever can be; while a tool is asked about, the question."""


class ApprovalLine(Vertical):
    def __init__(self) -> None:
        super().__init__(id="approval")
        self._asked = Static(id="approval-asked")
        self._answers = Static(id="approval-answers")
        self._arguments = Static()
        self._scroll = VerticalScroll(
            self._arguments, id="approval-arguments", can_focus=False, can_focus_children=False
        )
        self.display = False

    def compose(self) -> ComposeResult:
        yield from (self._asked, self._answers, self._scroll)

    def ask(self, question: Question) -> None:
        self._asked.update(asked(question))
        self._answers.update(answers(question.choices, self._keys(), _UNFOLD))
        parts = [question.arguments, question.annotations, question.description]
        self._arguments.update(Content("\n".join(filter(None, parts))))
        self._scroll.scroll_home(animate=False)
        self.display = True

    def ask_about(self, what: str, question: str, choices: Sequence[Answer]) -> None:
        """Ask something else than whether a tool may run."""
        self._asked.update(Content.assemble((what, "bold $text-warning"), " ", question))
        self._answers.update(answers(choices, self._keys()))
        self._arguments.update("")
        self.display = True

    def close(self) -> None:
        self.display = False
        self.remove_class("-unfolded")

    def toggle(self) -> None:
        """Give all that is asked about more of the screen, or less again."""
        self.toggle_class("-unfolded")

    def scroll_pages(self, pages: int) -> bool:
        """Scroll what is asked about, where not all of it is in view; False where all of it is."""
        if not self.display or not self._scroll.max_scroll_y:
            return False
        height = self._scroll.scrollable_content_region.height
        self._scroll.scroll_relative(y=pages * max(1, height - 1), animate=False)
        return True

    def _keys(self) -> Mapping[str, str]:
        """Look up the keys by action, for a user may have changed them."""
        active = self.screen.active_bindings.values()
        return {each.binding.action: spelled(each.binding.key) for each in active}


def asked(question: Question) -> Content:
    """Write what is asked."""
    named = (f"{question.server}: {question.tool}", "bold $text-warning")
    return Content.assemble("Allow ", named, "?")


def answers(choices: Sequence[Answer], keys: Mapping[str, str], unfold: str = "") -> Content:
    """Write what answers it, and by which action what is asked about unfolds, if it does."""
    actions = [(f"approve('{each.name.lower()}')", _words(each)) for each in choices]
    parts: list[Content | tuple[str, str | Style]] = []
    for action, does in (*actions, *([(unfold, "unfold")] if unfold else [])):
        click = Style.from_meta({"@click": f"screen.{action}"})
        parts += [(keys.get(action, ""), "bold"), (" ", ""), (does, click), ("  ", MUTED)]
    return Content.assemble(*parts)


def _words(answer: Answer) -> str:
    return _WORDS.get(answer, answer.value)
