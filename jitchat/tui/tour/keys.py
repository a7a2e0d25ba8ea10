"""The keys of the tour. Presentation clickers send PgDn and PgUp, or arrows, and a few more."""

from enum import StrEnum

from textual.binding import Binding, BindingType
from textual.message import Message


class TourKey(StrEnum):
    """What a presenter can do."""

    NEXT = "next"
    BACK = "back"
    END = "end"

    @property
    def action(self) -> str:
        """The app's action for it."""
        return f"app.tour('{self}')"


class TourKeyPressed(Message):
    """The presenter wants this."""

    def __init__(self, key: TourKey) -> None:
        super().__init__()
        self.key = key


_KEYS = (
    (TourKey.NEXT, "space,right,pagedown,enter"),
    (TourKey.BACK, "left,pageup"),
    (TourKey.END, "escape"),
)


STARTS_A_SHOW = frozenset({"f5", "shift+f5"})
"""What clickers send to begin a presentation, and what is another thing here."""


def bindings() -> list[BindingType]:
    """They come ahead of what the keys do elsewhere, as long as the tour goes on."""
    return [
        Binding(keys, f"tour('{key}')", id=f"tour_{key}", priority=True, show=False)
        for key, keys in _KEYS
    ]
