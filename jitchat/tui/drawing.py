"""The border between text and the cells of the screen, and the colours of the app.

`Content` makes visible what a terminal would obey, reorder or hide in a text. `SafeCells` guards
all widgets, whatever they draw: it removes what is left. It keeps the width of each line, whose
layout is complete by then.

The colours are derived from the current theme so that everything on screen is readable: text has a
contrast of at least 4.5 on every background it appears on, including the cursor's row; bars, rules
and other marks have at least 3. The hues of the segments are Okabe and Ito's, which can be
distinguished with any kind of colour vision; each segment also has its own pattern.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import cycle
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual import content
from textual.color import BLACK, WHITE, Color
from textual.filter import LineFilter
from textual.theme import Theme

from jitchat.lab.colours import MODE_COLOURS, contrast
from jitchat.text.sanitize import CHANGED, for_terminal, stand_ins
from jitchat.tui.figures import SIGNS
from jitchat.values import Mode

TEXT, MARK = 4.5, 3.0
"""Minimum contrast as defined by WCAG 2.2: (lighter + 0.05) / (darker + 0.05)."""
MUTED = "$text-muted"
"""Style of secondary text; never `dim`, which terminals render differently."""


_STATES = {
    "primary": ("bright_cyan", "blue"),
    "secondary": ("cyan", "bright_blue"),
    "success": ("green", "blue"),
    "warning": ("yellow", "magenta"),
    "error": ("bright_red", "red"),
    "accent": ("bright_magenta", "magenta"),
}
"""The terminal's colours of states, on its dark and its light background.

Of the terminal's sixteen colours, those are used that are readable on its black or on its white.
Only four of the sixteen hues have a contrast of 4.5 on white; the next are bright red with 4.0 and
bright magenta with 3.1. Some kinds therefore share a hue with kinds that are never next to them in
the bar, and are distinguished by their pattern.
"""
_MODES = (
    ("bright_red", "default", "bright_cyan", "yellow", "bright_magenta", "green"),
    ("red", "default", "blue", "magenta", "bright_blue"),
)
"""The terminal's colours of modes, likewise, by position as in `MODE_HUES`."""
_GROUNDS = ("background", "surface", "panel")
_CURSOR_SHARES = (0.45, 0.3, 0.2, 0.15, 0.1)
"""Shares of the primary colour in the cursor's background; the first one on which text has a
contrast of `_CLEAR` is used."""
_CLEAR = 7.0
_CURSOR = ("cursor", "block-cursor-background", "block-cursor-blurred-background")
_STYLES = ("cursor-style", "block-cursor-text-style", "block-cursor-blurred-text-style")
_REVERSED = dict.fromkeys(_STYLES, "bold reverse")
_STEPS = 7
"""Bisection steps in the search for the smallest change of a colour; 1/128 is not visible."""


def slug(name: str) -> str:
    """Return the name of a kind in the form that style sheets and classes allow."""
    return name.replace(" ", "-")


def kind_style(name: str) -> str:
    """Return the style of a kind of segment, or of `free` or `reserve`."""
    return f"$kind-{slug(name)}"


def palette(theme: Theme, variables: Mapping[str, str], *, coloured: bool = True) -> dict[str, str]:
    """Return the style sheet variables; without colours, the cursor's row is reversed."""
    if theme.ansi:
        return _of_terminal(is_dark=theme.dark)
    own = _of_theme(
        tuple((name, variables[name]) for name in (*_STATES, *_GROUNDS, "foreground")), theme.dark
    )
    return own if coloured else own | dict.fromkeys(_CURSOR, variables["surface"]) | _REVERSED


@lru_cache(maxsize=8)
def _of_theme(theme_colours: tuple[tuple[str, str], ...], is_dark: bool) -> dict[str, str]:
    colours = {name: Color.parse(value) for name, value in theme_colours}
    plain = [colours[name].with_alpha(1.0) for name in _GROUNDS]
    foreground = _readable(colours["foreground"], plain, _CLEAR, is_dark)
    mixed = [plain[1].blend(colours["primary"], share, 1.0) for share in _CURSOR_SHARES]
    clear = (each for each in mixed if _contrast(foreground, [each]) >= _CLEAR)
    cursor = next(clear, mixed[-1])
    grounds = [*plain, cursor]
    muted = _readable(foreground.blend(plain[0], 0.45), grounds, TEXT, is_dark)
    rule = _readable(colours["panel"].with_alpha(1.0), grounds, MARK, is_dark)
    made = {
        "foreground": foreground,
        "text": foreground,
        "text-muted": muted,
        "text-disabled": rule,
        "rule": rule,
        **dict.fromkeys(_CURSOR, cursor),
        "block-cursor-foreground": foreground,
        "block-cursor-blurred-foreground": foreground,
        "link-color": foreground,
    }
    for name in _STATES:
        made[name] = _readable(colours[name], grounds, MARK, is_dark)
        made[f"text-{name}"] = _readable(colours[name], grounds, TEXT, is_dark)
    ground = 0 if is_dark else 1
    for name, signs in SIGNS.items():
        on_plain = _readable(Color.parse(signs.hues[ground]), plain[:2], TEXT, is_dark)
        made[f"kind-{slug(name)}"] = _readable(on_plain, grounds, MARK, is_dark)
    made["kind-draft"] = foreground
    for mode, of_mode in MODE_COLOURS.items():
        made[f"mode-{mode.value}"] = _readable(Color.parse(of_mode), grounds, TEXT, is_dark)
    for level in range(1, 7):
        made[f"markdown-h{level}-color"] = made["text-primary"] if level < 4 else foreground
    return {name: colour.hex for name, colour in made.items()} | dict.fromkeys(_STYLES, "bold")


def _of_terminal(*, is_dark: bool) -> dict[str, str]:
    """Return variables that use the terminal's own colours.

    The cursor's row is reversed, because the background colour is unknown.
    """
    own: dict[str, str] = {}
    ground = 0 if is_dark else 1
    for name, colours in _STATES.items():
        own[name] = f"ansi_{colours[ground]}"
    for name, signs in SIGNS.items():
        own[f"kind-{slug(name)}"] = f"ansi_{signs.of_terminal[ground]}"
    for mode, hue in zip(Mode, cycle(_MODES[ground]), strict=False):
        own[f"mode-{mode}"] = f"ansi_{hue}"
    texts = {f"text-{name}": own[name] for name in _STATES}
    plain = {"text-muted", "text-disabled", "rule", "error-muted", "link-color"}
    plain |= {"block-cursor-foreground", "block-cursor-blurred-foreground", *_CURSOR}
    return {
        **dict.fromkeys(plain, "ansi_default"),
        **own,
        **texts,
        **_REVERSED,
        **{f"markdown-h{level}-color": own["primary"] for level in range(1, 7)},
    }


def _readable(colour: Color, grounds: Sequence[Color], least: float, is_dark: bool) -> Color:
    """Lighten or darken a colour just enough for the given contrast on every background."""
    if _contrast(colour, grounds) >= least:
        return colour
    end = WHITE if is_dark else BLACK
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _contrast(colour.blend(end, middle), grounds) >= least:
            high = middle
        else:
            low = middle
    return colour.blend(end, high)


def _contrast(colour: Color, grounds: Sequence[Color]) -> float:
    return min(contrast(colour.hex, each.hex) for each in grounds)


class SafeContent(content.Content):
    def __init__(self, text: str = "", spans: Any = None, *others: Any, **options: Any) -> None:  # noqa: ANN401  Textual's own
        # spans count characters, of which none may go
        safe = stand_ins(text) if spans else for_terminal(text).cells
        super().__init__(safe, spans, *others, **options)


if TYPE_CHECKING:  # what is made of a content, such as a part of it, is Textual's own
    from textual.content import Content as Content  # noqa: PLC0414  exported
else:
    Content = SafeContent


_OF_EQUAL_WIDTH = dict.fromkeys((*CHANGED, *b"\t\n"), "")
_OF_EQUAL_WIDTH |= {0xAD: "\ufffd", 0x115F: "\ufffd\ufffd"}
"""What is drawn for the characters that are unsafe, most of which have no width."""


class SafeCells(LineFilter):
    """Replaces the characters that a terminal would obey, reorder or hide."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's own shape
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else segment._replace(text=segment.text.translate(_OF_EQUAL_WIDTH))
            for segment in segments
        ]
