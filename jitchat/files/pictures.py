"""Detects a picture's type, size and completeness without decoding it.

PNG, JPEG, WebP and GIF are accepted by all providers with vision models. Each is a sequence of
blocks that state their length, so that truncation is found without decoding pixels.
"""

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of segments with the size."""
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_BARE = frozenset((0x01, *range(0xD0, 0xD9)))
"""JPEG markers without a length."""
_SCAN_END = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
"""In scan data, 0xFF 0x00 is an escaped 0xFF, and restart markers are part of the data."""
_GIF_IMAGE, _GIF_EXTENSION, _GIF_TRAILER = 0x2C, 0x21, 0x3B


def picture_type(data: bytes) -> str:
    """Return the media type by the first bytes; empty if it is not a picture.

    A text can begin like a GIF, but every picture contains a zero byte.
    """
    kind = _kind(data)
    return kind.media_type if kind is not None and b"\0" in data else ""


def picture_size(data: bytes) -> tuple[str, int, int] | None:
    """Return the media type, and width and height in pixels; None if it is not a picture."""
    try:
        kind = _kind(data)
        return None if kind is None else (kind.media_type, *kind.size(data))
    except (struct.error, IndexError):
        return None


def is_whole(data: bytes) -> bool:
    """Whether a picture has a size and its end; a truncated one lacks the end."""
    seen, kind = picture_size(data), _kind(data)
    try:
        return seen is not None and kind is not None and all(seen) and kind.has_end(data)
    except (struct.error, IndexError):
        return False


def _png_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _png_has_end(data: bytes) -> bool:
    at = 8
    while data[at + 4 : at + 8] != b"IEND":
        at += 12 + int(struct.unpack(">I", data[at : at + 4])[0])
    return at + 12 <= len(data)


def _gif_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _gif_has_end(data: bytes) -> bool:
    """Whether the blocks continue to the trailer; an image block suffices if it is missing."""
    at, has_image = 13 + _gif_colours(data[10]), False
    while at < len(data) and data[at] != _GIF_TRAILER:
        if data[at] == _GIF_IMAGE:
            at, has_image = at + 11 + _gif_colours(data[at + 9]), True
        elif data[at] == _GIF_EXTENSION:
            at += 2
        else:
            return False
        while size := data[at]:
            at += 1 + size
        at += 1
    return has_image


def _gif_colours(flags: int) -> int:
    """Return the size of a colour table in bytes."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _webp_size(data: bytes) -> tuple[int, int]:
    kind, body = data[12:16], data[20:30]
    if kind == b"VP8X":
        width, height = (int.from_bytes(body[at : at + 3], "little") + 1 for at in (4, 7))
    elif kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (each & 0x3FFF for each in struct.unpack("<HH", body[6:10]))
    return width, height


def _webp_has_end(data: bytes) -> bool:
    return len(data) >= 8 + int(struct.unpack("<I", data[4:8])[0])


def _jpeg_size(data: bytes) -> tuple[int, int]:
    for marker, at in _segments(data):
        if marker in _START_OF_FRAME:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
    raise IndexError("it ends before its size")


def _jpeg_has_end(data: bytes) -> bool:
    return any(marker == _END_OF_IMAGE for marker, _ in _segments(data))


def _segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield each marker with its offset. Raises IndexError or struct.error if truncated."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        yield marker, at
        at += 2
        if marker not in _BARE:
            at += int(struct.unpack(">H", data[at : at + 2])[0])
        if marker == _START_OF_SCAN:
            if (end := _SCAN_END.search(data, at)) is None:
                return
            at = end.start()


@dataclass(frozen=True, slots=True)
class _Kind:
    media_type: str
    begins: re.Pattern[bytes]
    size: Callable[[bytes], tuple[int, int]]
    has_end: Callable[[bytes], bool]


_KINDS = (
    _Kind("image/png", re.compile(rb"\x89PNG\r\n\x1a\n"), _png_size, _png_has_end),
    _Kind("image/gif", re.compile(rb"GIF8[79]a"), _gif_size, _gif_has_end),
    _Kind("image/webp", re.compile(rb"(?s)RIFF....WEBP"), _webp_size, _webp_has_end),
    _Kind("image/jpeg", re.compile(rb"\xff\xd8\xff"), _jpeg_size, _jpeg_has_end),
)


def _kind(data: bytes) -> _Kind | None:
    return next((kind for kind in _KINDS if kind.begins.match(data)), None)
