"""Pictures in the transcript, by textual-image, which is an extra; without it, a line stands there.

That library asks the terminal what it can draw as it is imported, and would take keys that are
typed meanwhile for the answer. So it is imported where its question reaches nobody, and the
environment tells: Kitty's own protocol there, half blocks everywhere else.
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
"""Cells that a picture has at the most."""
_PIXELS = (_WIDTH * 16, _HEIGHT * 32)
"""What is drawn of it at the most: more than a cell has on any screen is lost."""
_MOST = 50_000_000
"""Pixels. What has more is not decoded."""
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, MemoryError, struct.error)
"""What Pillow makes of a damaged file."""
_importing = threading.Lock()


def thumbnail(picture: Picture) -> Any | None:  # noqa: ANN401  Pillow's image
    """Decode a picture, made small; None where it cannot be drawn. Takes a thread's time."""
    if picture.width * picture.height > _MOST or _library() is None:
        return None
    from PIL import Image  # noqa: PLC0415  comes with the extra

    try:
        with Image.open(BytesIO(picture.data)) as opened:
            opened.thumbnail(_PIXELS)
            return opened.convert("RGB")
    except _DAMAGED:
        return None


def picture_widget(small: Any) -> Widget:  # noqa: ANN401  as `thumbnail` makes it
    made = "TGPImage" if "KITTY_WINDOW_ID" in os.environ else "HalfcellImage"
    drawn: Widget = getattr(_library(), made)(small, classes="turn-picture")
    return drawn


def _library() -> Any | None:  # noqa: ANN401  a module that may not be there
    with _importing:
        terminal, sys.__stdout__ = sys.__stdout__, StringIO()  # type: ignore[misc,assignment]
        try:
            return import_module("textual_image.widget")
        except ImportError:
            return None
        finally:
            sys.__stdout__ = terminal  # type: ignore[misc]
