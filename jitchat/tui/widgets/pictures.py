"""Pictures in the transcript, drawn by the optional textual-image; without it, only their names.

On import, that library queries the terminal for its capabilities, and would take typed keys for the
answer. So it is imported with its output discarded, and the environment decides: Kitty's graphics
protocol in Kitty, half blocks everywhere else.
"""

import os
import struct
import sys
import threading
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any
from warnings import catch_warnings

from rich.console import Console
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.style import Style

from jitchat.attachments import Picture
from jitchat.tui.render.wrap import Line, Piece

_WIDTH, _HEIGHT = 40, 12
"""Maximum size of a picture in cells."""
_PIXELS = (_WIDTH * 16, _HEIGHT * 32)
"""Maximum size in pixels; no screen has more in so many cells."""
_MOST = 50_000_000
"""Maximum number of pixels of a picture that is decoded."""
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, MemoryError, struct.error)
"""What Pillow raises for a damaged file."""
_LIBRARY = "textual_image.renderable"
_importing = threading.Lock()


def thumbnail(picture: Picture) -> Any | None:  # noqa: ANN401  Pillow's image
    """Decode a picture and scale it down; None if it cannot be drawn. Slow: call it in a thread."""
    if picture.width * picture.height > _MOST or _imported(_LIBRARY) is None:
        return None
    from PIL import Image  # noqa: PLC0415  comes with the extra

    try:
        with Image.open(BytesIO(picture.data)) as opened:
            opened.thumbnail(_PIXELS)
            return opened.convert("RGB")
    except _DAMAGED:
        return None


def picture_lines(small: Any) -> list[Line]:  # noqa: ANN401  the result of `thumbnail`
    """Draw a picture in lines; the first time, Kitty is sent the picture that they show."""
    name = "tgp" if "KITTY_WINDOW_ID" in os.environ else "halfcell"
    picture = _imported(f"textual_image.renderable.{name}").Image(small, "auto", _HEIGHT)
    options = Console().options.update(width=_WIDTH, height=_HEIGHT)
    with catch_warnings(category=DeprecationWarning, action="ignore"):  # of Pillow
        drawn = list(Segment.split_lines(picture.__rich_console__(Console(), options)))
    return [
        [Piece(text, Style.from_rich_style(style or RichStyle())) for text, style, _ in line]
        for line in drawn
    ]


def _imported(module: str) -> Any:  # noqa: ANN401  an optional module
    with _importing:
        terminal, sys.__stdout__ = sys.__stdout__, StringIO()  # type: ignore[misc,assignment]
        try:
            return import_module(module)
        except ImportError:
            return None
        finally:
            sys.__stdout__ = terminal  # type: ignore[misc]
