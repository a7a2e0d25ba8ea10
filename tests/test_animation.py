"""The animation of the README: made of pictures, and as it is kept."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from jitchat.tui.tour.script import heading, steps
from screenshots.animation import LONGEST, SVG, Frame, animated, held
from tests.support import ROOT

USED = f".//{{{SVG}}}use"


def picture(unique: int, *lines: str) -> str:
    """A terminal of ten columns, as Rich exports one."""
    name = f"terminal-{unique}"
    clips = "".join(
        f'<clipPath id="{name}-line-{n}"><rect x="0" y="{24 * n}" width="122" height="24"/>'
        "</clipPath>"
        for n in range(len(lines))
    )
    rows = "".join(
        f'<text class="{name}-r{2 if line.isupper() else 1}" x="0" y="{24 * n + 20}"'
        f' textLength="122" clip-path="url(#{name}-line-{n})">{line}</text>'
        for n, line in enumerate(lines)
    )
    behind = "".join(
        f'<rect fill="#121212" x="0" y="{24 * n}" width="122" height="24"/>'
        for n in range(len(lines))
    )
    return f"""<svg class="rich-terminal" viewBox="0 0 140 90" xmlns="{SVG}">
    <style>
    @font-face {{ font-family: "Fira Code"; }}
    .{name}-matrix {{ font-size: 20px; }}
    .{name}-title {{ font-size: 18px; }}
    .{name}-r1 {{ fill: #{"c5c8c6" if unique % 2 else "e0e0e0"} }}
    .{name}-r2 {{ fill: #ffffff;font-weight: bold }}
    </style>
    <defs><clipPath id="{name}-clip-terminal"><rect x="0" y="0" width="122" height="72"/></clipPath>
    {clips}</defs>
    <rect fill="#292929" x="1" y="1" width="138" height="88"/><text class="{name}-title">t</text>
    <g transform="translate(9, 41)" clip-path="url(#{name}-clip-terminal)">
    {behind}
    <g class="{name}-matrix">{rows}</g>
    </g>
</svg>"""


def test_each_frame_is_there_with_its_time_and_what_is_alike_is_there_once() -> None:
    made = animated(
        [
            Frame("one", picture(7, "TITLE", "hello"), 1.0),
            Frame("two", picture(9, "TITLE", "a &lt; b"), 3.0),
        ]
    )
    root = ET.fromstring(made)

    frames = [each for each in root.iter(f"{{{SVG}}}g") if each.get("class") == "frame"]
    assert [(each.get("id"), each.get("data-step")) for each in frames] == [
        ("f1", "one"),
        ("f2", "two"),
    ]
    assert "@keyframes m1 { 0.000% { visibility: visible } 25.000% { visibility: hidden } }" in made
    assert "#f1 { animation-name: m1; animation-duration: 4.00s }" in made
    assert "25.000% { visibility: visible } 100.000% { visibility: hidden } }" in made

    one, two = [[use.get("href") for use in frame.iterfind(USED)] for frame in frames]
    assert len(one) == len(two) == 4
    assert one[:3] == two[:3]
    assert one[3] != two[3]
    assert made.count("TITLE") == made.count("hello") == made.count("a &lt; b") == 1


def test_nothing_it_names_is_missing_and_no_name_is_there_twice() -> None:
    frames = [Frame(str(n), picture(n, "TITLE", f"line {n}"), 1.0) for n in (1, 2, 3)]
    root = ET.fromstring(animated(frames))

    names = [each.get("id") for each in root.iter() if each.get("id")]
    written = ET.tostring(root, encoding="unicode")
    assert len(names) == len({*names})
    assert {*re.findall(r'href="#(\w+)"', written)} <= {*names}
    assert {*re.findall(r"url\(#([\w-]+)\)", written)} <= {*names}
    styled = {*re.findall(r'class="(\w+)"', written)} - {"frame"}
    assert styled <= {*re.findall(r"\.([\w-]+) \{", written)}


def test_a_style_is_told_by_what_it_says_whatever_it_was_called() -> None:
    made = animated([Frame("one", picture(1, "same"), 1.0), Frame("two", picture(2, "same"), 1.0)])

    assert made.count("#c5c8c6") == made.count("#e0e0e0") == 1
    assert made.count(">same<") == 2  # of another colour, it is another line


@pytest.mark.parametrize(
    ("wanted", "got"), [([2.0, 3.0], [2.0, 3.0]), ([LONGEST, LONGEST], [LONGEST / 2, LONGEST / 2])]
)
def test_frames_are_held_as_wanted_unless_all_of_it_takes_too_long(
    wanted: list[float], got: list[float]
) -> None:
    assert held(wanted) == pytest.approx(got)


def test_the_one_that_is_kept_shows_every_step_and_is_small_and_short() -> None:
    kept = (ROOT / "screenshots" / "tour.svg").read_text(encoding="utf-8")
    root = ET.fromstring(kept)

    shown = [each.get("data-step") for each in root.iter(f"{{{SVG}}}g") if each.get("data-step")]
    assert list(dict.fromkeys(shown)) == [heading(place) for place in range(len(steps()) + 1)]
    assert len(kept.encode()) < 1_500_000
    (seconds,) = {float(each) for each in re.findall(r"animation-duration: ([\d.]+)s", kept)}
    assert 20 < seconds < 60
    assert "<script" not in kept
