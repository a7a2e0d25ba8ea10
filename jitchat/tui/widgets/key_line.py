"""What can be done on a screen: its keys in one line, each of them to be clicked, too.

Textual's own footer is a widget a key; to mount those takes longer than all else of a view.
"""

from __future__ import annotations

from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static


class KeyLine(Static):
    """Follows the bindings of its screen, and of what has the focus there."""

    def __init__(self) -> None:
        super().__init__(classes="key-line")

    def on_mount(self) -> None:
        """Draw it, and whenever other keys count."""
        self.screen.bindings_updated_signal.subscribe(self, self._draw)
        self._draw(self.screen)

    def _draw(self, screen: Screen[object]) -> None:
        told: dict[str, tuple[str, str]] = {}
        for node, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and enabled:
                owner = "screen" if node is screen else "focused"
                key = self.app.get_key_display(binding)
                told.setdefault(f"{owner}.{binding.action}", (key, binding.description))
        parts: list[tuple[str, Style | str]] = []
        for action, (key, description) in told.items():
            click = Style.from_meta({"@click": action})
            parts += [(key, click + Style(bold=True)), (f" {description}", click), ("  ", "")]
        self.update(Content.assemble(*parts))
