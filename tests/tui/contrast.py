"""How well what is on screen can be read: the contrast of every cell, in several themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import Color
from rich.style import Style
from textual._context import visible_screen_stack
from textual.geometry import Size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.pilot import Pilot

THEMES = ("textual-light", "ansi-dark", "ansi-light")
"""Beside the one that is in use."""
TEXT, MARK = 4.5, 3.0
XTERM = (
    *("#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"),
    *("#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"),
)
"""Its sixteen colours, as it comes."""
DIM = 0.5
"""The share of its colour that a terminal leaves to faint text, at least."""
_EIGHTHS = "▁▂▃▄▅▆▇"
"""Shared by two stretches of a bar, which stand out from the ground and not from each other."""

Shade = tuple[float, float, float]


async def check(pilot: Pilot[None], themes: Sequence[str] = THEMES) -> None:
    """Fail where anything on screen is too faint in any of the themes; stay in the one in use."""
    app = pilot.app
    faint: dict[str, list[str]] = {}
    for theme in (*themes, app.theme):
        app.theme = theme
        await pilot.pause()
        if found := sorted(set(_faint(pilot))):
            faint[theme] = found[:12]
    assert not faint, "\n".join(
        f"{theme}: {told}" for theme, each in faint.items() for told in each
    )


def _faint(pilot: Pilot[None]) -> Iterator[str]:
    """Say of each kind of cell that is too faint how faint it is, and whose it is."""
    screen, is_dark = pilot.app.screen, pilot.app.current_theme.dark
    visible_screen_stack.set(pilot.app._background_screens)
    for y, strip in enumerate(screen._compositor.render_strips(Size(*screen.size))):
        x = 0
        for segment in strip:
            style = segment.style or Style()
            front, ground = _colours(style, is_dark)
            ratio = _ratio(front, ground)
            here, x = x, x + segment.cell_length
            drawn = [each for each in segment.text if _is_drawn(each)]
            least = TEXT if any(map(_is_text, drawn)) else MARK
            if drawn and ratio < least - 0.05:
                widget, _ = screen.get_widget_at(here, y)
                if widget is screen:
                    continue  # what is behind a dialog is not to be read
                told = f"{segment.text.strip()[:30]!r} {_hex(front)} on {_hex(ground)}"
                yield f"{ratio:.1f} {widget.css_identifier} {told}"


def _is_drawn(character: str) -> bool:
    return not character.isspace() and character not in _EIGHTHS and character != "\u2800"


def _is_text(character: str) -> bool:
    """Not bars, rules, dots and other signs."""
    return not ("\u2190" <= character <= "\u28ff" or character in "·•…")


def _colours(style: Style, is_dark: bool) -> tuple[Shade, Shade]:
    plain = ("#e5e5e5", "#000000") if is_dark else ("#000000", "#ffffff")
    front, ground = _shade(style.color, plain[0]), _shade(style.bgcolor, plain[1])
    if style.dim:
        mixed = (DIM * one + (1 - DIM) * other for one, other in zip(front, ground, strict=True))
        front = next(mixed), next(mixed), next(mixed)
    return (ground, front) if style.reverse else (front, ground)


def _shade(colour: Color | None, plain: str) -> Shade:
    if colour is None or colour.is_default:
        return _shade(Color.parse(plain), plain)
    if colour.triplet is not None:
        return tuple(colour.triplet)  # type: ignore[return-value]
    assert colour.number is not None
    return _shade(Color.parse(XTERM[colour.number]), plain)


def _ratio(one: Shade, other: Shade) -> float:
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


def _light(shade: Shade) -> float:
    red, green, blue = (
        part / 3294.6 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in shade
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _hex(shade: Shade) -> str:
    return "#" + "".join(f"{round(part):02x}" for part in shade)
