"""The app's colours, derived from the current theme so that everything on screen is readable.

Text has a contrast of at least 4.5 on every background it appears on, including the cursor's row;
bars, rules and other marks have at least 3. The hues of the segments are Okabe and Ito's, which
can be distinguished with any kind of colour vision; each segment also has its own pattern.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import cycle

from textual.color import BLACK, WHITE, Color
from textual.theme import Theme

from jitchat.lab.colours import MODE_COLOURS, contrast
from jitchat.values import Mode

TEXT, MARK = 4.5, 3.0
"""Minimum contrast as defined by WCAG 2.2: (lighter + 0.05) / (darker + 0.05)."""
MUTED = "$text-muted"
"""Style of secondary text; never `dim`, which terminals render differently."""

_DARK_HUES = {
    "system": "#56b4e9",
    "tools": "#8da9ff",
    "standing": "#ff9d9d",
    "document": "#4fd1c5",
    "observations": "#b6d94c",
    "pinned": "#f0e442",
    "recent": "#2fae7c",
    "files": "#d9b38c",
    "facts": "#9be7ff",
    "documents": "#ffb3e6",
    "index": "#d987b5",
    "retrieved": "#e69f00",
    "tool-calls": "#b9c8ff",
    "tool-results": "#e8743b",
    "requested": "#c8a2ff",
    "reserve": "#a0846c",
    "free": "#808080",
}
_LIGHT_HUES = {
    "system": "#0072b2",
    "tools": "#3d4fb8",
    "standing": "#c8102e",
    "document": "#00707a",
    "observations": "#557a00",
    "pinned": "#7a6f00",
    "recent": "#007a50",
    "files": "#8a5a2b",
    "facts": "#3f6ea8",
    "documents": "#a3338f",
    "index": "#b0307f",
    "retrieved": "#c04a00",
    "tool-calls": "#6a5acd",
    "tool-results": "#a33c1f",
    "requested": "#7a3fb5",
    "reserve": "#7d6b5d",
    "free": "#6a6a6a",
}
_STATES = ("primary", "secondary", "success", "warning", "error", "accent")
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
_ANSI_DARK = {
    "primary": "bright_cyan",
    "secondary": "cyan",
    "success": "green",
    "warning": "yellow",
    "error": "bright_red",
    "accent": "bright_magenta",
    "kind-system": "bright_cyan",
    "kind-tools": "bright_blue",
    "kind-standing": "bright_white",
    "kind-document": "bright_yellow",
    "kind-observations": "magenta",
    "kind-files": "bright_green",
    "kind-facts": "red",
    "kind-documents": "bright_blue",
    "kind-tool-calls": "bright_green",
    "kind-tool-results": "bright_yellow",
    "kind-requested": "magenta",
    "kind-pinned": "bright_red",
    "kind-recent": "green",
    "kind-index": "bright_magenta",
    "kind-retrieved": "yellow",
    "kind-reserve": "cyan",
}
_ANSI_LIGHT = {
    "primary": "blue",
    "secondary": "bright_blue",
    "success": "blue",
    "warning": "magenta",
    "error": "red",
    "accent": "magenta",
    "kind-system": "blue",
    "kind-tools": "magenta",
    "kind-standing": "bright_magenta",
    "kind-document": "red",
    "kind-observations": "red",
    "kind-files": "blue",
    "kind-facts": "bright_magenta",
    "kind-documents": "bright_red",
    "kind-tool-calls": "blue",
    "kind-tool-results": "red",
    "kind-requested": "magenta",
    "kind-pinned": "bright_red",
    "kind-recent": "bright_blue",
    "kind-index": "magenta",
    "kind-retrieved": "red",
    "kind-reserve": "bright_magenta",
}
_ANSI_DARK_MODES = ("bright_red", "default", "bright_cyan", "yellow", "bright_magenta", "green")
_ANSI_LIGHT_MODES = ("red", "default", "blue", "magenta", "bright_blue")
"""The terminal's sixteen colours: those readable on its black, and those readable on its white.

Only four of the sixteen hues have a contrast of 4.5 on white; the next are bright red with 4.0 and
bright magenta with 3.1. Some kinds therefore share a hue with kinds that are never next to them in
the bar, and are distinguished by their pattern. Modes get hues by position, as in `MODE_HUES`.
"""


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
    for name, hue in (_DARK_HUES if is_dark else _LIGHT_HUES).items():
        on_plain = _readable(Color.parse(hue), plain[:2], TEXT, is_dark)
        made[f"kind-{name}"] = _readable(on_plain, grounds, MARK, is_dark)
    made["kind-draft"] = foreground
    for mode, hue in MODE_COLOURS.items():
        made[f"mode-{mode.value}"] = _readable(Color.parse(hue), grounds, TEXT, is_dark)
    for level in range(1, 7):
        made[f"markdown-h{level}-color"] = made["text-primary"] if level < 4 else foreground
    return {name: colour.hex for name, colour in made.items()} | dict.fromkeys(_STYLES, "bold")


def _of_terminal(*, is_dark: bool) -> dict[str, str]:
    """Return variables that use the terminal's own colours.

    The cursor's row is reversed, because the background colour is unknown.
    """
    colours, hues = (_ANSI_DARK, _ANSI_DARK_MODES) if is_dark else (_ANSI_LIGHT, _ANSI_LIGHT_MODES)
    modes = {f"mode-{mode}": hue for mode, hue in zip(Mode, cycle(hues), strict=False)}
    own = {name: f"ansi_{colour}" for name, colour in (colours | modes).items()}
    texts = {f"text-{name}": own[name] for name in _STATES}
    plain = {"text-muted", "text-disabled", "rule", "kind-draft", "error-muted", "link-color"}
    plain |= {"block-cursor-foreground", "block-cursor-blurred-foreground", *_CURSOR}
    return {
        **dict.fromkeys(plain, "ansi_default"),
        **own,
        **texts,
        **_REVERSED,
        **{f"markdown-h{level}-color": own["primary"] for level in range(1, 7)},
        "kind-free": "ansi_bright_black",
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
