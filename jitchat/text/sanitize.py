"""Sanitize untrusted text on input and output.

`repair` is applied once, at the boundary, before anything is stored: its result can be encoded as
UTF-8 and bound to SQLite. `for_terminal` is applied wherever text is written to a terminal: its
result has no control characters except tab and line feed, so it cannot control the terminal, and no
invisible or direction-changing characters, so it cannot hide anything. Joiners and the two emoji
selectors are kept, because Indic scripts and emoji sequences need them. `skeleton` is for finding a
word that may be disguised in a text.
"""

import unicodedata
from itertools import chain

_REPLACEMENT = 0xFFFD
_CONTROL_PICTURES = 0x2400
_LINE_BREAKS = (0x85, 0x2028, 0x2029)
_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_INVISIBLE = (
    (0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x200B, 0x3164, 0xFEFF, 0xFFA0),
    range(0x180B, 0x1810),
    range(0x2060, 0x2066),
    range(0x206A, 0x2070),
    range(0xFE00, 0xFE0E),
    range(0xFFF9, 0xFFFC),
    range(0x1BCA0, 0x1BCA4),
    range(0x1D173, 0x1D17B),
    range(0xE0000, 0xE1000),
)
"""Soft hyphens, fillers, selectors, format characters and tags."""


_VISIBLE: dict[int, int | None] = {
    **{code: _CONTROL_PICTURES + code for code in range(32) if chr(code) not in "\t\n"},
    **dict.fromkeys((*range(0x80, 0xA0), *_DIRECTION, *range(0xD800, 0xE000)), _REPLACEMENT),
    **dict.fromkeys(_LINE_BREAKS, ord("\n")),
    **dict.fromkeys(chain(*_INVISIBLE)),
    0x7F: 0x2421,
}
CHANGED = _VISIBLE.keys()
"""The code points that `for_terminal` replaces or removes."""


def repair(text: str) -> str:
    """Join split surrogate pairs, replace lone ones by U+FFFD, and make NUL visible."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", chr(_CONTROL_PICTURES))


def for_terminal(text: str) -> str:
    """Make `text` safe to show; ESC becomes a visible ␛. Works on any slice of a stream."""
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").translate(_VISIBLE)


class _Skeleton(dict[int, str | None]):
    """Maps each character to its reduced form, computed when first needed."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        shows_nothing = unicodedata.category(character) in _SHOWS_NOTHING
        if (shows_nothing or not for_terminal(character)) and not character.isspace():
            self[code] = None
        else:
            self[code] = unicodedata.normalize("NFKC", character)
        return self[code]


_SHOWS_NOTHING = ("Cc", "Cf", "Mn", "Me")
_SKELETON = _Skeleton()


def skeleton(text: str) -> str:
    """Reduce `text` to its plain letters: NFKC, without marks and invisible characters.

    Works character by character, because normalising a whole text is slow if marks are out of
    order.
    """
    return text.translate(_SKELETON)


def both_ends(text: str, size: int, between: str = " ") -> str:
    """Shorten a long text to `size` characters at the beginning and at the end."""
    return text if len(text) <= 2 * size else f"{text[:size]}{between}{text[-size:]}"


def escape_in_json(json_text: str) -> str:
    """Write the characters that are unsafe on a terminal as JSON escapes, in a JSON text."""
    if json_text.isascii() and json_text.isprintable():
        return json_text
    return json_text.translate(
        {code: _escaped(chr(code)) for code in CHANGED & set(map(ord, json_text))}
    )


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def one_line(text: str) -> str:
    """Apply `for_terminal`, and replace each run of white space by one space."""
    return " ".join(for_terminal(text).split())


def shorten(text: str, width: int) -> str:
    """Apply `one_line`, and cut at a word to at most `width` characters, with an ellipsis."""
    line = one_line(text[: 4 * width])
    if len(line) <= width < len(text) // 4:
        line = one_line(text)
    if len(line) <= width:
        return line
    head, blank, _ = line[:width].rpartition(" ")
    cut = head if blank and len(head) > width // 2 else line[: max(0, width - 1)]
    return cut.rstrip(" ,;:") + "…"
