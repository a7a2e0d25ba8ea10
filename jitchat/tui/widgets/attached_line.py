"""The files that would be sent with the draft, each with its tokens."""

from collections.abc import Sequence

from textual.style import Style
from textual.widgets import Static

from jitchat.attachments import Attachment
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import Content
from jitchat.tui.figures import attached_files
from jitchat.tui.palette import MUTED
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
