"""The last line: what the next request costs, and the keys that matter now."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from jitchat.text.safe import one_line

IDLE = (("⏎", "send"), ("⇧⇥", "mode"), ("F2", "inspect"), ("^P", "all"), ("F1", "help"))
BUSY = (("Esc", "stop"), ("⇧⇥", "mode"), ("F2", "inspect"), ("F1", "help"))


class HintLine(Horizontal):
    """Cost on the left, keys on the right."""

    def __init__(self) -> None:
        super().__init__(id="hint-line")
        self._cost = Static(id="cost")
        self._keys = Static(id="keys")

    def compose(self) -> ComposeResult:
        """Two texts."""
        yield self._cost
        yield self._keys

    def on_mount(self) -> None:
        """Idle at first."""
        self.show_keys(busy=False)

    def show_cost(self, sentence: str) -> None:
        """What the next request costs, or what is going on."""
        self._cost.update(Content(one_line(sentence)), layout=False)

    def show_keys(self, *, busy: bool) -> None:
        """The keys for this state."""
        parts: list[tuple[str, str]] = []
        for key, word in BUSY if busy else IDLE:
            parts += [(f" {key} ", "bold"), (word, "dim")]
        self._keys.update(Content.assemble(*parts))
