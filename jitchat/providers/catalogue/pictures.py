"""What a picture counts as, by the formula that its provider publishes; an estimate elsewhere.

In `pictures.json`, by a pattern of the model's name, the first that fits: `tiles` of 512 pixels,
the base and each; `patches` of 32 pixels, and what each counts; `pixels` a token; `squares` of 768
pixels, what each counts; `each` picture the same.
"""

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jitchat.providers.catalogue import table

_ESTIMATE = {"pixels": 750}
_LONGEST, _MOST = 1_568, 1_600
"""Pixels of an edge and tokens; Anthropic scales down what has more."""


def picture_tokens(model: str, width: int, height: int) -> tuple[int, bool]:
    """Count a picture of so many pixels; and whether that is the provider's own formula."""
    name, width, height = model.lower(), max(1, width), max(1, height)
    known = next((row for row in _rows() if re.search(row["models"], name)), _ESTIMATE)
    rule = next(each for each in known if each != "models")
    return _RULES[rule](known[rule], width, height), known is not _ESTIMATE


@cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(table.read_json("pictures.json"))


def _tiles(given: tuple[int, int], width: float, height: float) -> int:
    """Scale into 2,048 × 2,048, then the shorter edge to 768; neither up."""
    scale = min(1.0, 2_048 / max(width, height))
    scale *= min(1.0, 768 / (scale * min(width, height)))
    base, each = given
    return base + each * math.ceil(scale * width / 512) * math.ceil(scale * height / 512)


def _patches(each: float, width: float, height: float) -> int:
    """Scale to 1,536 patches at the most, so that whole ones fill the shorter edge."""
    if math.ceil(width / 32) * math.ceil(height / 32) > 1_536:
        scale = math.sqrt(32**2 * 1_536 / (width * height))
        fill = (math.floor(scale * edge / 32) / (scale * edge / 32) for edge in (width, height))
        scale *= min(each for each in fill if each) if scale * min(width, height) >= 32 else 1.0
        width, height = scale * width, scale * height
    return math.ceil(each * min(1_536, math.ceil(width / 32) * math.ceil(height / 32)))


def _pixels(a_token: int, width: float, height: float) -> int:
    scale = min(1.0, _LONGEST / max(width, height))
    return min(_MOST, math.ceil(scale * width * scale * height / a_token))


def _squares(each: int, width: float, height: float) -> int:
    is_small = max(width, height) <= 384
    return each * (1 if is_small else math.ceil(width / 768) * math.ceil(height / 768))


_RULES: Mapping[str, Callable[[Any, float, float], int]] = {
    "tiles": _tiles,
    "patches": _patches,
    "pixels": _pixels,
    "squares": _squares,
    "each": lambda each, _width, _height: int(each),
}
