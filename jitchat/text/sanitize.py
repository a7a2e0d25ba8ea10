"""Sanitize untrusted text on input and output.

`repair` is applied once, at the boundary, before anything is stored: its result can be encoded as
UTF-8 and bound to SQLite. `for_terminal` is applied where text is drawn on a terminal, and nowhere
else: files, pipes, the clipboard and models get the text itself. `skeleton` is for finding a word
that may be disguised in a text.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
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
_STAND_INS = {
    **{code: visible or ord("·") for code, visible in _VISIBLE.items()},
    **dict.fromkeys(_LINE_BREAKS, ord("␤")),
}
_EMOJI = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_INDIC = "\u0900-\u0dff"
_IDLE_JOINER = re.compile(
    f"\u200d(?!(?<=[{_EMOJI}\ufe0f]\u200d)[{_EMOJI}]|(?<=[{_INDIC}]\u200d)[{_INDIC}])"
)
"""A joiner that joins nothing. Rich measures what follows it as zero cells; terminals draw that."""


def repair(text: str) -> str:
    """Join split surrogate pairs, replace lone ones by U+FFFD, and make NUL visible."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", chr(_CONTROL_PICTURES))


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters except tab and line feed."""


def without_controls(text: str) -> tuple[str, int]:
    """Return an entered text with line feeds as line breaks, and how many characters it lost."""
    return _CONTROLS.subn("", text.replace("\r\n", "\n").replace("\r", "\n"))


@dataclass(frozen=True, slots=True)
class TerminalText:
    """A text and what a terminal shows of it.

    This is no `str`, so that what is drawn cannot be stored, copied, sent or written to a file.
    """

    source: str
    cells: str
    """Without control characters except tab and line feed, so that it cannot control the terminal,
    and without invisible or direction-changing characters, so that it cannot hide anything.

    The two emoji selectors and joiners in emoji and Indic scripts are kept, which need them.
    """

    def __str__(self) -> str:
        raise TypeError("Text made for a terminal is not a string.")

    def source_between(self, start: int, end: int) -> str:
        """Return the part of the source that is drawn as `cells[start:end]`.

        Invisible characters at either end are part of it.
        """
        sizes = range(len(self.source) + 1)

        def drawn_length(size: int) -> int:
            return len(for_terminal(self.source[:size]).cells)

        first = bisect_left(sizes, start, key=drawn_length)
        last = bisect_right(sizes, end, key=drawn_length) - 1
        return self.source[first:last]


def for_terminal(text: str) -> TerminalText:
    """Make `text` safe to draw; ESC becomes a visible ␛.

    Works on any slice of a stream; an emoji that is cut at a joiner is drawn as two.
    """
    if text.isascii() and text.isprintable():
        return TerminalText(text, text)
    visible = text.replace("\r\n", "\n").translate(_VISIBLE)
    return TerminalText(text, _IDLE_JOINER.sub("", visible))


def stand_ins(line: str) -> str:
    """Replace each character that is unsafe to draw by one that is safe and visible.

    Columns stay the same, as an editor requires.
    """
    if line.isascii() and line.isprintable():
        return line
    return _IDLE_JOINER.sub("·", line.translate(_STAND_INS))


class _Skeleton(dict[int, str | None]):
    """Maps each character to its reduced form, computed when first needed."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        shows_nothing = unicodedata.category(character) in _SHOWS_NOTHING
        is_removed = _VISIBLE.get(code, code) is None
        if (shows_nothing or is_removed) and not character.isspace():
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
    """Apply `repair`, and replace each run of white space by one space."""
    return " ".join(repair(text).split())


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
