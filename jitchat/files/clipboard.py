"""Reads a picture from the clipboard with Pillow, an optional dependency.

The picture is saved in a folder of jitchat's and mentioned in the message by its name alone, so
that a draft keeps it for days. Once the message is stored, the file is removed.
"""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from jitchat.attachments import Attachment
from jitchat.errors import FileRefused
from jitchat.files.load import MOST_OF_PICTURE
from jitchat.files.named import PASTED, is_pasted, mention_of, pasted_folder
from jitchat.paths import make_private, replace_file

_KEPT_SECONDS = 30 * 24 * 3600
"""How long a picture is kept if no message includes it."""
_ATTACH = "Attach it as a file: /attach PATH."


def take_pictures(now: datetime) -> str:
    """Save the clipboard's picture, and return its mention for a message. Call in a thread.

    Raises:
        FileRefused: There is no picture, or it cannot be read.

    """
    found = _grab()
    if found is None:
        raise FileRefused("There is no picture in the clipboard.", "Copy one, or use /attach PATH.")
    if isinstance(found, list):
        return " ".join(map(mention_of, found))
    data, end = _encoded(found)
    folder = pasted_folder()
    try:
        make_private(folder)
        _remove_old(folder)
        path = _free(folder, f"clipboard-{now:%Y%m%d-%H%M%S}", end)
        replace_file(path, data)
    except OSError as error:
        what = f"The picture cannot be saved in {folder}: {error.strerror or error}."
        raise FileRefused(what, _ATTACH) from error
    return mention_of(path.name)


def remove_taken(files: Iterable[Attachment]) -> None:
    """Remove the files of pictures that are now in the store."""
    for path in (Path(file.path) for file in files):
        if is_pasted(path):
            with suppress(OSError):
                path.unlink()


def _grab() -> Any | list[str] | None:  # noqa: ANN401  Pillow's image
    """Read the clipboard; returns a list of paths if files were copied, as on Windows."""
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        what = "There is no display, so there is no clipboard with pictures."
        raise FileRefused(what, "Copy the picture to this machine, and use /attach PATH.")
    try:
        from PIL import ImageGrab  # noqa: PLC0415  an extra

        return ImageGrab.grabclipboard()
    except ImportError as error:
        what = f"Reading pictures from the clipboard requires the package {error.name}."
        raise FileRefused(what, "Run: pip install 'jitchat[pictures]'") from error
    except NotImplementedError as error:
        what = "Reading pictures from the clipboard requires wl-paste or xclip."
        advice = "Install wl-clipboard (Wayland) or xclip (X11), or use /attach PATH."
        raise FileRefused(what, advice) from error
    except Exception as error:  # any error of the library or its programs
        raise FileRefused(f"The clipboard cannot be read: {error}.", _ATTACH) from error


def _encoded(picture: Any) -> tuple[bytes, str]:  # noqa: ANN401  Pillow's image
    """Encode a picture as PNG, or as JPEG if the PNG would be too large to send."""
    try:
        has_alpha = "A" in picture.getbands() or "transparency" in picture.info
        whole = picture.convert("RGBA" if has_alpha else "RGB")
        data = _written(whole, "PNG")
        if len(data) <= MOST_OF_PICTURE:
            return data, ".png"
        return _written(whole.convert("RGB"), "JPEG", quality=90), ".jpg"
    except Exception as error:  # any error of the library
        what = f"The picture in the clipboard is damaged ({error})."
        raise FileRefused(what, "Copy it again.") from error


def _written(picture: Any, kind: str, **options: Any) -> bytes:  # noqa: ANN401  Pillow's
    written = BytesIO()
    picture.save(written, kind, **options)
    return written.getvalue()


def _free(folder: Path, name: str, end: str) -> Path:
    numbers = ("", *(f"-{number}" for number in range(2, 100)))
    paths = (folder / f"{name}{number}{end}" for number in numbers)
    return next((path for path in paths if not path.exists()), folder / f"{name}{end}")


def _remove_old(folder: Path) -> None:
    for path in folder.iterdir():
        if PASTED.fullmatch(path.name) and path.stat().st_mtime < time.time() - _KEPT_SECONDS:
            path.unlink()
