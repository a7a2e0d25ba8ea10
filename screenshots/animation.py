"""One animated SVG of several that Textual exported: CSS alone, so that it moves in an <img>, too.

What the pictures share is there once: the frame around the terminal, the styles, the clip paths
and every line of the screen that looks the same, wherever it is shown.
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
"""Seconds for all frames; longer ones are held for less, each by the same share."""
_RULE = re.compile(r"\.(terminal-\d+)-(\w+)\s*\{([^}]*)\}")
_FONTS = re.compile(r"@font-face\s*\{[^}]*\}")
_LINE = re.compile(r"line-(\d+)\)$")
_MOVES = """
.frame { visibility: hidden; animation: 0s step-end infinite }
@media (prefers-reduced-motion: reduce) { .frame { animation: none !important } }
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture and how long it is held."""

    title: str
    svg: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A picture in its parts, without anything that is its own alone."""

    title: str
    root: ET.Element
    body: ET.Element
    """What holds the lines of the screen."""
    styles: dict[str, str]
    """By the name of its class: what it says."""


class _Shared:
    """Things that get a name each, the same one for the same thing."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.names: dict[str, str] = {}

    def name(self, thing: str) -> str:
        return self.names.setdefault(thing, f"{self.prefix}{len(self.names) + 1}")


def animated(frames: Sequence[Frame]) -> str:
    """Show one frame after the other, for ever. All of them are of the same size."""
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
    """How long each frame stays: as wanted, or all of them shorter."""
    share = min(1.0, LONGEST / sum(seconds))
    return [each * share for each in seconds]


def _parsed(frame: Frame) -> _Drawn:
    """Read a picture; its names lose what makes them its own."""
    prefix = re.search(r"terminal-\d+", frame.svg)
    assert prefix is not None
    root = ET.fromstring(frame.svg.replace(f"{prefix[0]}-", ""))  # noqa: S314  our own
    styles = {name: " ".join(said.split()) for _, name, said in _RULE.findall(frame.svg)}
    bodies = [each for each in root if each.get("clip-path") == "url(#clip-terminal)"]
    return _Drawn(frame.title, root, bodies[0], styles)


def _lines(drawn: _Drawn, looks: _Shared, lines: _Shared) -> list[str]:
    """Name the lines of a picture: what is behind the text, then the text."""
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
    rules += [f".{name} {{ {said} }}" for said, name in looks.names.items()]
    return "\n".join([*fonts, *rules, _MOVES, *_moves(seconds)])


def _moves(seconds: Sequence[float]) -> list[str]:
    """Rules by which each frame is seen in its turn; the first one where nothing moves."""
    total, begun, rules = sum(seconds), 0.0, ["#f1 { visibility: visible }"]
    for number, each in enumerate(seconds, start=1):
        start, end = (f"{moment / total * 100:.3f}%" for moment in (begun, begun + each))
        steps = f"{start} {{ visibility: visible }} {end} {{ visibility: hidden }}"
        ahead = "0% { visibility: hidden } " if number > 1 else ""
        rules += [
            f"@keyframes m{number} {{ {ahead}{steps} }}",
            f"#f{number} {{ animation-name: m{number}; animation-duration: {total:.2f}s }}",
        ]
        begun += each
    return rules


def _defs(first: _Drawn, lines: _Shared) -> ET.Element:
    """The clip paths, and every line once."""
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
    """What stands around the screen."""
    skipped = ("style", "defs")
    return [
        part
        for part in first.root
        if part is not first.body and part.tag.removeprefix(f"{{{SVG}}}") not in skipped
    ]


def _written(row: ET.Element) -> str:
    return re.sub(r">\s+<", "><", ET.tostring(row, encoding="unicode"))
