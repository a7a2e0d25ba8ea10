"""What can be done on a screen: its keys in one line, each of them to be clicked, too.

Textual's own footer is a widget a key; to mount those takes longer than all else of a view.
"""

from __future__ import annotations

from collections.abc import Mapping

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

    def on_resize(self) -> None:
        """A short line leaves out blanks."""
        self._draw(self.screen)

    def _draw(self, screen: Screen[object]) -> None:
        keys = self._keys(screen)
        line = _line(keys, " ", "   ")
        if line.cell_length > self.content_size.width:
            line = _line(keys, ":", " ")
        self.update(line)

    def _keys(self, screen: Screen[object]) -> dict[str, tuple[str, str]]:
        """By action: its first key, and what it does."""
        told: dict[str, tuple[str, str]] = {}
        for node, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and enabled:
                owner = "screen" if node is screen else "focused"
                key = self.app.get_key_display(binding)
                told.setdefault(f"{owner}.{binding.action}", (key, binding.description))
        return told


def _line(keys: Mapping[str, tuple[str, str]], within: str, between: str) -> Content:
    parts: list[tuple[str, Style | str]] = []
    for action, (key, description) in keys.items():
        click = Style.from_meta({"@click": action})
        parts += [(key, click + Style(bold=True)), (f"{within}{description}", click)]
        parts.append((between, ""))
    return Content.assemble(*parts)
