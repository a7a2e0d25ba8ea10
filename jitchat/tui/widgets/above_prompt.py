"""Lines above the prompt: the files of the draft, and a request for permission to answer by a key.

The request never takes the focus: typing continues in the prompt, and no letter answers it.
"""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.style import Style
from textual.widgets import Static

from jitchat.attachments import Attachment
from jitchat.text.sanitize import one_line
from jitchat.tools.approvals import Answer, Question
from jitchat.tui.actions import BY_ID
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import attached_files
from jitchat.tui.key_names import KeyNames
from jitchat.tui.widgets.foreign_text import ForeignText
from jitchat.tui.widgets.hint_line import Key, clickable
from jitchat.window.window import ContextWindow

_MOST = 20
"""Maximum files that are named; the ledger lists all of them."""
_HINT = "   × or Backspace at the start removes"


class AttachedLine(Static):
    """Files of an earlier message have a × that takes them away; the draft names the others."""

    def show(self, earlier: Sequence[Attachment], window: ContextWindow | None) -> None:
        """Show files of an earlier message, and those in the draft's window, if there is one."""
        figures = attached_files(window) if window is not None else {}
        removable = [file.name for file in earlier]
        names = list(dict.fromkeys((*removable, *figures)))
        parts: list[Content | tuple[str, str]] = []
        for name in names[:_MOST]:
            parts.append(Content(f"{', ' if parts else 'attaches '}{one_line(name)}"))
            parts.append((f" {figures.get(name, '')}".rstrip(), MUTED))
            if name in removable:
                click = Style.from_meta({"@click": f"screen.do('detach', {name!r})"})
                parts.append(Content.styled(" ×", click))
        if len(names) > _MOST:
            parts.append(Content(f" and {len(names) - _MOST} more"))
        parts.append((_HINT if removable else "", MUTED))
        self.display = bool(names)
        self.update(Content.assemble(*parts))


_ANSWERS = {
    Answer.ONCE: ("allow_once", "once"),
    Answer.CONVERSATION: ("allow_conversation", Answer.CONVERSATION.value),
    Answer.ALWAYS: ("allow_always", Answer.ALWAYS.value),
    Answer.DECLINE: ("decline_tool", "no"),
}
"""For each answer, the action that gives it and its label."""
_UNFOLD = {"reasoning": "unfold"}
"""The fold action and its label; while a tool is asked about, it folds the question."""


class ApprovalLine(Vertical):
    def __init__(self, keys: KeyNames | None = None) -> None:
        super().__init__(id="approval")
        self._key_names = keys or KeyNames()
        self.offered: Mapping[str, str] = {}
        """The labels of the answers by action id; empty while nothing is asked."""
        self._asked = Static(id="approval-asked")
        self._answers = Static(id="approval-answers")
        self._details = ForeignText()
        self._scroll = VerticalScroll(
            self._details, id="approval-arguments", can_focus=False, can_focus_children=False
        )
        self.display = False

    def compose(self) -> ComposeResult:
        yield from (self._asked, self._answers, self._scroll)

    def ask(self, question: Question) -> None:
        self._asked.update(asked(question))
        self._offer(question.choices, _UNFOLD)
        self._details.update(question.details)
        self._scroll.scroll_home(animate=False)
        self.display = True

    def ask_about(self, what: str, question: str, choices: Sequence[Answer]) -> None:
        """Ask a question about something other than a tool call."""
        self._asked.update(Content.assemble((what, "bold $text-warning"), " ", question))
        self._offer(choices, {})
        self._details.update(())
        self.display = True

    def _offer(self, choices: Sequence[Answer], more: Mapping[str, str]) -> None:
        self.offered = {**dict(_ANSWERS[each] for each in choices), **more}
        self._answers.update(answers(self.offered, self._key_names))

    def close(self) -> None:
        self.display, self.offered = False, {}
        self.remove_class("-unfolded")

    def toggle(self) -> None:
        """Expand or shrink the details of the question."""
        self.toggle_class("-unfolded")

    def scroll_pages(self, pages: int) -> bool:
        """Scroll the details of the question; return False if all of them are in view."""
        if not self.display or not self._scroll.max_scroll_y:
            return False
        height = self._scroll.scrollable_content_region.height
        self._scroll.scroll_relative(y=pages * max(1, height - 1), animate=False)
        return True


def asked(question: Question) -> Content:
    """Write the question, without any text that a server could choose freely."""
    named = (f"{question.server}: {question.tool}", "bold $text-warning")
    changed = " It has changed since you always allowed it." if question.has_changed else ""
    return Content.assemble("Allow ", named, f"?{changed}")


def answers(offered: Mapping[str, str], keys: KeyNames) -> Content:
    """Write the answers, given by action id, with keys that every terminal sends."""
    menu = keys["menu"]
    spelled = {identity: keys.anywhere(identity) for identity in offered}
    direct: list[Key] = []
    by_menu: list[Key] = []
    for identity, label in offered.items():
        click = f"screen.{BY_ID[identity].run}"
        if spelled[identity].startswith(f"{menu} "):
            by_menu.append((BY_ID[identity].letter, label, click))
        else:
            direct.append((spelled[identity], label, click))
    then = ((menu, "bold"), (", then  ", MUTED)) if by_menu else ()
    first, rest = (clickable(keys, word=" {}", after="  ") for keys in (direct, by_menu))
    return Content.assemble(first, *then, rest)
