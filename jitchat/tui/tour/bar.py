"""The bar of the tour: which step it is, what there is to see, and the keys."""

from dataclasses import dataclass
from enum import StrEnum

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from jitchat.tui.tour.script import STEPS, heading


class TourKey(StrEnum):
    """What a presenter can do."""

    NEXT = "next"
    BACK = "back"
    END = "end"

    @property
    def action(self) -> str:
        """The app's action for it."""
        return f"app.tour('{self}')"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the tour is, and what the bar says of it."""

    place: int
    """The step, from 1; 0 ahead of the first."""
    words: str
    is_on_way: bool = False
    """Whether the step is still on its way, so that the key waits."""

    @property
    def text(self) -> str:
        """`2 of 5 · recency — the same question …`."""
        return f"{heading(self.place)} — {self.words}"


class TourBar(Vertical, can_focus=True):
    """Stands at the bottom of each screen that the tour shows."""

    def __init__(self, progress: Progress, *, has_keys: bool = True) -> None:
        super().__init__(classes="tour-bar")
        self._progress, self._has_keys = progress, has_keys
        self._words, self._keys = Static(classes="tour-words"), Static(classes="tour-keys")

    def compose(self) -> ComposeResult:
        yield self._words
        if self._has_keys:
            yield self._keys

    def on_mount(self) -> None:
        self.show(self._progress)

    def show(self, progress: Progress) -> None:
        self._progress = progress
        self._words.update(
            Content.assemble((heading(progress.place), "bold"), f" — {progress.words}")
        )
        self._keys.update(_key_line(progress))


def _key_line(progress: Progress) -> Content:
    """Each key can be clicked, too."""
    parts: list[tuple[str, Style | str]] = [("… on its way   ", "")] if progress.is_on_way else []
    for key, spelt, does in _keys(progress):
        click = Style.from_meta({"@click": key.action})
        parts += [(spelt, click + Style(bold=True)), (f" {does}", click), ("   ", "")]
    return Content.assemble(*parts)


def _keys(progress: Progress) -> list[tuple[TourKey, str, str]]:
    ends = (TourKey.END, "Esc", "ends the tour")
    if progress.is_on_way:
        return [ends]
    last = progress.place == len(STEPS)
    forward = "ends it here" if last else "next" if progress.place else "begins"
    back = [(TourKey.BACK, "←", "back")] if progress.place > 1 else []
    return [(TourKey.NEXT, "Space, →, PgDn or Enter", forward), *back, ends]
