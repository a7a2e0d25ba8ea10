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

from textual.widget import Widget

from jitchat.attachments import Picture

_WIDTH, _HEIGHT = 40, 12
"""Maximum size of a picture in cells."""
_PIXELS = (_WIDTH * 16, _HEIGHT * 32)
"""Maximum size in pixels; no screen has more in so many cells."""
_MOST = 50_000_000
"""Maximum number of pixels of a picture that is decoded."""
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, MemoryError, struct.error)
"""What Pillow raises for a damaged file."""
_importing = threading.Lock()


def thumbnail(picture: Picture) -> Any | None:  # noqa: ANN401  Pillow's image
    """Decode a picture and scale it down; None if it cannot be drawn. Slow: call it in a thread."""
    if picture.width * picture.height > _MOST or _library() is None:
        return None
    from PIL import Image  # noqa: PLC0415  comes with the extra

    try:
        with Image.open(BytesIO(picture.data)) as opened:
            opened.thumbnail(_PIXELS)
            return opened.convert("RGB")
    except _DAMAGED:
        return None


def picture_widget(small: Any) -> Widget:  # noqa: ANN401  the result of `thumbnail`
    name = "TGPImage" if "KITTY_WINDOW_ID" in os.environ else "HalfcellImage"
    widget: Widget = getattr(_library(), name)(small, classes="turn-picture")
    return widget


def _library() -> Any | None:  # noqa: ANN401  an optional module
    with _importing:
        terminal, sys.__stdout__ = sys.__stdout__, StringIO()  # type: ignore[misc,assignment]
        try:
            return import_module("textual_image.widget")
        except ImportError:
            return None
        finally:
            sys.__stdout__ = terminal  # type: ignore[misc]
