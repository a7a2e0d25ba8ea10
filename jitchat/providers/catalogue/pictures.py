"""Counts a picture's tokens by the formulas that providers publish; otherwise an estimate.

`pictures.json` has a row per model family, of which the first match is used, with a rule and its
source. A row marked `about` is an estimate: its source is approximate, does not name the model, or
describes a server other than the one in use. The rules:

- `tiles`: scaled to fit 2,048 × 2,048, then to 768 on the shorter edge; a base plus a price per
  tile of 512 pixels (OpenAI).
- `patches`: of 32 pixels, scaled down to `edge` and to `most` of them; times `each` (OpenAI).
- `visual_tokens`: patches of 28 pixels, scaled down to `edge` and to `most` of them (Anthropic).
- `crops`: squares of two thirds of the shorter edge; a small picture is one (Google).
- `each`: the same number for every picture (Google).
- `grid`: patches of `size` pixels, each edge rounded, plus `around` (Qwen).
- `rows`: patches of `size` pixels, plus one token after each row (Mistral).
- `squares`: at most `most` squares of `size` pixels, plus `extra`; otherwise one (xAI, Llama).
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jitchat.providers.catalogue import table

_UNKNOWN = {"visual_tokens": {"most": 1_568, "edge": 1_568}, "about": True}
"""The rule for a model without a row."""
_PATCH, _VISUAL_TOKEN = 32, 28
"""Pixels of an edge."""
_MOST_CROPS = 64
"""Maximum crops of a long strip, for which nothing is published."""


def picture_tokens(model: str, width: int, height: int) -> tuple[int, bool]:
    """Return a picture's tokens, and whether they are by the provider's own formula."""
    name, width, height = model.lower(), max(1, width), max(1, height)
    row = next((each for each in _rows() if re.search(each["models"], name)), _UNKNOWN)
    rule = next(each for each in row if each in _RULES)
    return _RULES[rule](row[rule], width, height), not row.get("about", False)


@cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(table.read_json("pictures.json")["models"])


def _tiles(given: Mapping[str, int], width: float, height: float) -> int:
    scale = min(1.0, 2_048 / max(width, height))
    scale *= min(1.0, 768 / (scale * min(width, height)))
    return given["base"] + given["each"] * _cover(scale * width, scale * height, 512)


def _patches(given: Mapping[str, float], width: float, height: float) -> int:
    """Shrink to whole patches on the shorter edge if there would be too many."""
    edge, most = given.get("edge", math.inf), given.get("most", math.inf)
    scale = min(1.0, edge / max(width, height))
    width, height = scale * width, scale * height
    if _cover(width, height, _PATCH) > most:
        scale = math.sqrt(_PATCH**2 * most / (width * height))
        counts = (scale * width / _PATCH, scale * height / _PATCH)
        scale *= min((math.floor(each) / each for each in counts if each >= 1), default=1.0)
        width, height = scale * width, scale * height
    patches = _cover(_pixels(width), _pixels(height), _PATCH)
    return math.ceil(round(given["each"] * min(most, patches), 6))


def _visual_tokens(given: Mapping[str, int], width: int, height: int) -> int:
    """Find the largest size that fits by its longer edge, like Anthropic's own function."""
    longer, shorter = max(width, height), min(width, height)

    def sized(edge: int) -> tuple[int, int]:
        return edge, max(1, round(edge * shorter / longer))

    def is_too_large(edge: int) -> bool:
        size = sized(edge)
        padded = math.ceil(edge / _VISUAL_TOKEN) * _VISUAL_TOKEN
        return padded > given["edge"] or _cover(*size, _VISUAL_TOKEN) > given["most"]

    fitting = bisect_left(range(1, longer + 1), True, key=is_too_large)
    return _cover(*sized(max(1, fitting)), _VISUAL_TOKEN)


def _crops(each: int, width: int, height: int) -> int:
    unit = max(1, math.floor(min(width, height) / 1.5))
    crops = 1 if max(width, height) <= 384 else _cover(width, height, unit)
    return each * min(_MOST_CROPS, crops)


def _grid(given: Mapping[str, int], width: float, height: float) -> int:
    size, most = given["size"], given["most"]
    columns, rows = (max(1, round(edge / size)) for edge in (width, height))
    if columns * rows > most:
        scale = math.sqrt(most * size**2 / (width * height))
        columns, rows = (max(1, math.floor(scale * edge / size)) for edge in (width, height))
    return max(4, min(most, columns * rows)) + given["around"]


def _in_rows(given: Mapping[str, int], width: float, height: float) -> int:
    scale = min(1.0, given["edge"] / max(width, height))
    columns, rows = (max(1, math.ceil(scale * edge / given["size"])) for edge in (width, height))
    return (columns + 1) * rows


def _squares(given: Mapping[str, int], width: float, height: float) -> int:
    squares = min(given["most"], _cover(width, height, given["size"]))
    return given["each"] * (squares + given.get("extra", 1))


def _cover(width: float, height: float, size: int) -> int:
    """Return the number of squares that cover a picture."""
    return math.ceil(width / size) * math.ceil(height / size)


def _pixels(edge: float) -> int:
    return max(1, math.floor(edge + 1e-6))


_RULES: Mapping[str, Callable[[Any, int, int], int]] = {
    "tiles": _tiles,
    "patches": _patches,
    "visual_tokens": _visual_tokens,
    "crops": _crops,
    "each": lambda each, _width, _height: int(each),
    "grid": _grid,
    "rows": _in_rows,
    "squares": _squares,
}
