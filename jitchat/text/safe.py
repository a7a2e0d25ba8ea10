"""Foreign text on its way in and on its way out.

`repaired` is applied once, at the edge, before anything is stored: what it returns can be
encoded as UTF-8 and bound to SQLite. `visible` is applied at every exit to a terminal: what
it returns holds no control character but tab and line feed, so it cannot steer a terminal,
and no invisible or direction-changing character, so it cannot hide anything.
"""

from __future__ import annotations

_REPLACEMENT = 0xFFFD
_CONTROL_PICTURES = 0x2400
_INVISIBLE = (0xFEFF, 0x200B, 0x2060, 0x180E, *range(0xE0000, 0xE0080))
_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))


def _visible_table() -> dict[int, int | None]:
    table: dict[int, int | None] = {
        code: _CONTROL_PICTURES + code for code in range(32) if chr(code) not in "\t\n"
    }
    table |= dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT)
    table |= dict.fromkeys(_DIRECTION, _REPLACEMENT)
    table |= dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT)
    table |= dict.fromkeys((0x85, 0x2028, 0x2029), ord("\n"))
    table |= dict.fromkeys(_INVISIBLE, None)
    table[0x7F] = 0x2421
    return table


_VISIBLE = _visible_table()


def repaired(text: str) -> str:
    """Join split surrogate pairs, replace lone ones by U+FFFD, and make NUL visible."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", chr(_CONTROL_PICTURES))


def visible(text: str) -> str:
    """`text` as it may be shown; ESC becomes a visible ␛. Works on any slice of a stream."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def one_line(text: str) -> str:
    """`visible`, with every run of white space as one blank."""
    return " ".join(visible(text).split())


def shortened(text: str, width: int) -> str:
    """`one_line`, cut at a word so that it has at most `width` characters, with an ellipsis."""
    line = one_line(text)
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank and len(head) > width // 2 else cut).rstrip(" ,;:") + "…"
