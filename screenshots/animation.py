"""Combines SVGs exported by Textual into one animated SVG, by CSS alone, so that <img> plays it.

Everything that the pictures share is stored once: the frame around the terminal, the styles, the
clip paths and identical lines of the screen, wherever they are shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

SVG = "http://www.w3.org/2000/svg"
LONGEST = 58.0
"""Maximum seconds for all frames; if they take longer, all are shortened by the same factor."""
_RULE = re.compile(r"\.(terminal-\d+)-(\w+)\s*\{([^}]*)\}")
_FONTS = re.compile(r"@font-face\s*\{[^}]*\}")
_LINE = re.compile(r"line-(\d+)\)$")
_MOVES = """
.frame { visibility: hidden; animation: 0s step-end infinite }
@media (prefers-reduced-motion: reduce) { .frame { animation: none !important } }
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture and the seconds it is held."""

    title: str
    svg: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The parts of a picture, without the prefix of its names."""

    title: str
    root: ET.Element
    body: ET.Element
    """The element with the lines of the screen."""
    styles: dict[str, str]
    """The declarations of each class."""


class _Shared:
    """Assigns names to texts, the same name to equal texts."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.names: dict[str, str] = {}

    def name(self, text: str) -> str:
        return self.names.setdefault(text, f"{self.prefix}{len(self.names) + 1}")


def animated(frames: Sequence[Frame]) -> str:
    """Return an SVG that shows the frames in an endless loop. All must have the same size."""
    ET.register_namespace("", SVG)
    drawn = [_parsed(frame) for frame in frames]
    looks, lines = _Shared("c"), _Shared("l")
    shown = [_lines(each, looks, lines) for each in drawn]
    seconds = held([frame.seconds for frame in frames])
    first = drawn[0]
    root = ET.Element(f"{{{SVG}}}svg", {"viewBox": first.root.attrib["viewBox"]})
    ET.SubElement(root, f"{{{SVG}}}style").text = _style(first, looks, seconds)
    root.append(_defs(first, lines))
    for part in _around(first):
        root.append(part)
    screen = ET.SubElement(root, f"{{{SVG}}}g", dict(first.body.attrib))
    for number, (frame, names) in enumerate(zip(drawn, shown, strict=True), start=1):
        known = {"id": f"f{number}", "class": "frame", "data-step": frame.title}
        group = ET.SubElement(screen, f"{{{SVG}}}g", known)
        for name in names:
            ET.SubElement(group, f"{{{SVG}}}use", {"href": f"#{name}"})
    return ET.tostring(root, encoding="unicode")


def held(seconds: Sequence[float]) -> list[float]:
    """Return the seconds for each frame, shortened if the total exceeds `LONGEST`."""
    share = min(1.0, LONGEST / sum(seconds))
    return [each * share for each in seconds]


def _parsed(frame: Frame) -> _Drawn:
    """Parse a picture, removing the prefix from its names."""
    prefix = re.search(r"terminal-\d+", frame.svg)
    assert prefix is not None
    root = ET.fromstring(frame.svg.replace(f"{prefix[0]}-", ""))  # noqa: S314  our own
    styles = {name: " ".join(body.split()) for _, name, body in _RULE.findall(frame.svg)}
    bodies = [each for each in root if each.get("clip-path") == "url(#clip-terminal)"]
    return _Drawn(frame.title, root, bodies[0], styles)


def _lines(drawn: _Drawn, looks: _Shared, lines: _Shared) -> list[str]:
    """Return the names of a picture's lines: the backgrounds, then the texts."""
    rows: dict[tuple[str, str], ET.Element] = {}
    for part in drawn.body.iter():
        tag = part.tag.removeprefix(f"{{{SVG}}}")
        if tag in ("rect", "text"):
            row = rows.setdefault((tag, _row(tag, part)), ET.Element(f"{{{SVG}}}g"))
            row.append(_restyled(part, drawn, looks))
    return [
        lines.name(_written(row)) for _, row in sorted(rows.items(), key=lambda item: item[0][0])
    ]


def _row(tag: str, part: ET.Element) -> str:
    if tag == "rect":
        return part.attrib["y"]
    found = _LINE.search(part.attrib["clip-path"])
    assert found is not None
    return found[1]


def _restyled(part: ET.Element, drawn: _Drawn, looks: _Shared) -> ET.Element:
    kept = ET.Element(part.tag, dict(part.attrib))
    kept.text = part.text
    if (own := part.get("class")) is not None:
        kept.set("class", looks.name(drawn.styles[own]))
    return kept


def _style(first: _Drawn, looks: _Shared, seconds: Sequence[float]) -> str:
    fonts = _FONTS.findall(first.root.findtext(f"{{{SVG}}}style") or "")
    rules = [f".{name} {{ {first.styles[name]} }}" for name in ("matrix", "title")]
    rules += [f".{name} {{ {body} }}" for body, name in looks.names.items()]
    return "\n".join([*fonts, *rules, _MOVES, *_moves(seconds)])


def _moves(seconds: Sequence[float]) -> list[str]:
    """Return rules that show each frame in turn, or the first one if animation is disabled."""
    total, elapsed, rules = sum(seconds), 0.0, ["#f1 { visibility: visible }"]
    for number, each in enumerate(seconds, start=1):
        start, end = (f"{moment / total * 100:.3f}%" for moment in (elapsed, elapsed + each))
        steps = f"{start} {{ visibility: visible }} {end} {{ visibility: hidden }}"
        before = "0% { visibility: hidden } " if number > 1 else ""
        rules += [
            f"@keyframes m{number} {{ {before}{steps} }}",
            f"#f{number} {{ animation-name: m{number}; animation-duration: {total:.2f}s }}",
        ]
        elapsed += each
    return rules


def _defs(first: _Drawn, lines: _Shared) -> ET.Element:
    """Return the clip paths and every line once."""
    defs = first.root.find(f"{{{SVG}}}defs")
    made = ET.Element(f"{{{SVG}}}defs")
    made.extend(defs if defs is not None else ())
    for written, name in lines.names.items():
        line = ET.fromstring(written)  # noqa: S314  our own
        line.set("id", name)
        if line[0].tag == f"{{{SVG}}}text":
            line.set("class", "matrix")
        made.append(line)
    return made


def _around(first: _Drawn) -> list[ET.Element]:
    """Return the elements around the screen."""
    skipped = ("style", "defs")
    return [
        part
        for part in first.root
        if part is not first.body and part.tag.removeprefix(f"{{{SVG}}}") not in skipped
    ]


def _written(row: ET.Element) -> str:
    return re.sub(r">\s+<", "><", ET.tostring(row, encoding="unicode"))
