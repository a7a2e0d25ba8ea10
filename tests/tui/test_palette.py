"""The palette: in every theme, segments can be read and told apart."""

from __future__ import annotations

from itertools import chain, combinations
from math import dist
from operator import mul

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from jitchat.lab.colours import MODE_HUES, contrast
from jitchat.tui.drawing import MARK, TEXT, kind_style, palette
from jitchat.tui.widgets.budget_bar import PATTERNS
from jitchat.values import Mode
from tests.tui.contrast import XTERM

PLAIN = {True: ("#e5e5e5", "#000000"), False: ("#000000", "#ffffff")}


def colours(theme: str) -> dict[str, str]:
    """By name; what a terminal decides is as xterm comes."""
    made = BUILTIN_THEMES[theme]
    variables = made.to_color_system().generate()
    found = variables | palette(made, variables)
    front, ground = PLAIN[made.dark]
    shades: dict[str, str] = {}
    for name, value in found.items():
        if name.startswith(("kind-", "mode-", "text-")) or name in ("rule", "surface", "cursor"):
            colour = Color.parse(value) if not value.startswith("auto") else None
            if colour is None:
                continue
            number = colour.ansi
            plain = ground if name in ("surface", "cursor") else front
            own = plain if number is None or number < 0 else XTERM[number]
            shades[name] = own if made.ansi else colour.hex6
    return shades


@pytest.mark.parametrize("theme", BUILTIN_THEMES)
def test_text_and_marks_stand_out_from_the_ground_and_from_the_row_of_the_cursor(
    theme: str,
) -> None:
    found = colours(theme)
    grounds = [found[name] for name in ("surface", "cursor")]
    for name, colour in found.items():
        if name in ("surface", "cursor", "text-disabled"):
            continue
        least = TEXT if name.startswith(("text-", "mode-")) else MARK
        assert min(contrast(colour, each) for each in grounds) >= least - 0.05, name


AHEAD = ("system", "tools", "standing", "pinned", "recent")
BESIDE = (
    *((*AHEAD, distilled) for distilled in ("document", "observations")),
    ("recent", "files", "facts", "documents", "index", "retrieved", "draft"),
    ("draft", "tool calls", "tool results", "requested", "free", "reserve"),
)
"""What can stand beside each other in the bar: no window has a document and observations."""


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
def test_no_two_segments_have_one_colour_or_one_pattern(theme: str) -> None:
    found = colours(theme)
    assert len(set(PATTERNS.values())) == len(PATTERNS)
    assert set(chain.from_iterable(BESIDE)) == set(PATTERNS)
    # Of a terminal's sixteen, too few can be read: those that can be neighbours differ.
    for names in BESIDE if theme.startswith("ansi") else (tuple(PATTERNS),):
        for one, other in combinations(names, 2):
            apart = [Color.parse(found[kind_style(name)[1:]]).rgb for name in (one, other)]
            assert dist(*apart) > 20, (one, other)


def test_every_mode_has_a_colour_and_the_first_ones_are_all_different() -> None:
    for theme in ("textual-dark", "textual-light", "ansi-dark", "ansi-light"):
        found = colours(theme)
        shades = [found[f"mode-{mode}"] for mode in Mode]
        assert len(set(shades)) == len(shades)
    assert len(set(MODE_HUES)) == len(MODE_HUES)


VISIONS = {
    "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritan": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""What is left of linear red, green and blue: Machado, Oliveira and Fernandes 2009, severity 1."""


def seen(hue: str, vision: str) -> list[float]:
    light = [part**2.2 for part in Color.parse(hue).normalized]
    mixed = (sum(map(mul, row, light)) for row in VISIONS[vision])
    return [min(1.0, max(0.0, part)) ** (1 / 2.2) for part in mixed]


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_of_modes_differ_without_one_kind_of_cone(vision: str) -> None:
    pairs = combinations([seen(hue, vision) for hue in MODE_HUES], 2)
    assert min(dist(one, other) for one, other in pairs) > 0.12
