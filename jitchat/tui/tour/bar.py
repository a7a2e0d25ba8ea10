"""The bar of the tour: which step it is, what there is to see, and the keys."""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from jitchat.tui.tour.keys import TourKey
from jitchat.tui.tour.steps import STEPS, heading


@dataclass(frozen=True, slots=True)
class Told:
    """What the bar says."""

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

    def __init__(self, told: Told, *, has_keys: bool = True) -> None:
        super().__init__(classes="tour-bar")
        self._told, self._has_keys = told, has_keys
        self._words, self._keys = Static(classes="tour-words"), Static(classes="tour-keys")

    def compose(self) -> ComposeResult:
        """Words, and keys below them where a presenter leads."""
        yield self._words
        if self._has_keys:
            yield self._keys

    def on_mount(self) -> None:
        """Say it."""
        self.show(self._told)

    def show(self, told: Told) -> None:
        """Say something else."""
        self._told = told
        self._words.update(Content.assemble((heading(told.place), "bold"), f" — {told.words}"))
        self._keys.update(_key_line(told))


def _key_line(told: Told) -> Content:
    """Each key can be clicked, too."""
    parts: list[tuple[str, Style | str]] = [("… on its way   ", "")] if told.is_on_way else []
    for key, spelt, does in _keys(told):
        click = Style.from_meta({"@click": key.action})
        parts += [(spelt, click + Style(bold=True)), (f" {does}", click), ("   ", "")]
    return Content.assemble(*parts)


def _keys(told: Told) -> list[tuple[TourKey, str, str]]:
    ends = (TourKey.END, "Esc", "ends the tour")
    if told.is_on_way:
        return [ends]
    last = told.place == len(STEPS)
    forward = "ends it here" if last else "next" if told.place else "begins"
    back = [(TourKey.BACK, "←", "back")] if told.place > 1 else []
    return [(TourKey.NEXT, "Space, →, PgDn or Enter", forward), *back, ends]
