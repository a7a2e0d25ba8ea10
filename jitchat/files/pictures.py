"""What a picture is and how large, read from its first bytes; nothing of it is decoded.

PNG, JPEG, WebP and GIF: what all providers take whose models can see.
"""

import struct

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG's markers of segments that tell the size."""


def picture_size(data: bytes) -> tuple[str, int, int] | None:
    """Tell the media type, the width and the height in pixels; None for what is no picture."""
    try:
        for read in (_png, _gif, _webp, _jpeg):
            if found := read(data):
                return found
    except (struct.error, IndexError):
        pass
    return None


def _png(data: bytes) -> tuple[str, int, int] | None:
    if not data.startswith(b"\x89PNG\r\n\x1a\n") or data[12:16] != b"IHDR":
        return None
    return "image/png", *struct.unpack(">II", data[16:24])


def _gif(data: bytes) -> tuple[str, int, int] | None:
    if not data.startswith((b"GIF87a", b"GIF89a")):
        return None
    return "image/gif", *struct.unpack("<HH", data[6:10])


def _webp(data: bytes) -> tuple[str, int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    kind, body = data[12:16], data[20:30]
    if kind == b"VP8X":
        width, height = (int.from_bytes(body[at : at + 3], "little") + 1 for at in (4, 7))
    elif kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (each & 0x3FFF for each in struct.unpack("<HH", body[6:10]))
    return "image/webp", width, height


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    if not data.startswith(b"\xff\xd8"):
        return None
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _START_OF_FRAME:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return "image/jpeg", width, height
        at += 1 if marker == 0xFF else 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None
