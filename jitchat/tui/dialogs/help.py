"""The help page: keys and words."""

import textwrap

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Static

from jitchat.tui.dialogs.dialog import Dialog
from jitchat.tui.drawing import Content
from jitchat.tui.key_help import help_sections
from jitchat.tui.key_names import KeyNames
from jitchat.values import Mode

WORDS = (
    ("window", "what one request contains: system, pinned, recent, index, retrieved, draft"),
    *((mode.value, mode.meaning) for mode in Mode),
    ("limit, reserve", "the model's context size; tokens kept free for the reply"),
    ("budget", "limit − reserve; segments + free + reserve = limit, always"),
    ("parts", "of a score: lexical, dense, context, neighbour, stretch of talk, date, cue"),
    ("~", "estimated; without it, counted by the model's own tokenizer. ✓: the provider's figure"),
)
_COLUMN = 23
"""Column of the meanings."""


class HelpScreen(Dialog[None]):
    HOLDS_NOTICES = True
    """Notices would cover the text; they are shown after the dialog is closed."""
    BINDINGS = [Binding("escape,q,f1", "dismiss", "Close", id="help_close")]  # noqa: RUF012

    def __init__(self, hint: str, keys: KeyNames) -> None:
        """`hint` says how to add a model; empty if no hint is needed."""
        super().__init__()
        self._hint, self._known_keys = hint, keys

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="box") as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc close"
            yield _Page(self._hint, self._known_keys)


class _Page(Static):
    """The text of the page; a meaning of several lines stays in its column."""

    def __init__(self, hint: str, keys: KeyNames) -> None:
        super().__init__(_page(hint, keys, 0))
        self._hint, self._known_keys = hint, keys

    def on_resize(self) -> None:
        self.update(_page(self._hint, self._known_keys, self.content_size.width))


def _page(hint: str, keys: KeyNames, width: int) -> Content:
    room = max(20, width - _COLUMN)
    parts: list[tuple[str, str]] = []
    for title, rows in (*help_sections(keys), ("Words", list(WORDS))):
        parts.append((f"{title}\n", "bold $text-primary"))
        for name, meaning in rows:
            text = f"\n{'':<{_COLUMN}}".join(textwrap.wrap(meaning, room))
            parts += [(f"  {name:<{_COLUMN - 3}} ", "bold"), (f"{text}\n", "")]
        parts.append(("\n", ""))
    if hint:
        models = "\n".join(f"  {line}" for line in hint.splitlines())
        parts += [("Models\n", "bold $text-primary"), (models, "")]
    return Content.assemble(*parts)
