r"""Formulas in Markdown: where they are, and how they read in plain characters.

`$…$` is a formula by pandoc's rule: the first character after the opening dollar and the last one
before the closing one are not white space, and no digit follows the closing one. `$$…$$`, `\(…\)`
and `\[…\]` are formulas, too. None contains a blank line or code. Commands are shown as the
characters in `symbols.toml`; a command that is not listed there stays as typed.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from jitchat.text.expressions import packaged

_CHARACTER = r"(?!\n[ \t>]*\n)[^`]"
_COMMAND_OR_CHARACTER = rf"(?:\\[^`\n()\[\]]|\\(?=\n|\Z)|(?!\\){_CHARACTER})"
"""No delimiter: in `\\\\[2pt]` the bracket is not one."""
_SPANS = re.compile(
    rf"""
    ^[ \t>]*(?:(?:[-+*]|\d{{1,9}}[.)])[ \t]+)?
        (?P<fence>`{{3,}}|~{{3,}})[\s\S]*?(?:\n[ \t>]*(?P=fence)|\Z)
    |(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t>]*\n)[\s\S])*?(?<!`)(?P=ticks)(?!`)
    |(?P<formula>
        \$\$(?!\s*\$\$)(?:(?!\$\$){_CHARACTER})+\$\$
        |\$(?![\s$])(?:\\[^\n]|(?![\\$]){_CHARACTER})+(?<!\s)\$(?!\d)
        |\\\((?!\s*\\\)){_COMMAND_OR_CHARACTER}+\\\)
        |\\\[(?:{_COMMAND_OR_CHARACTER}|\\[()])+\\\]
    )
    |^[ \t>]*(?P<open>(?:\$\$|\\\[)(?:(?!\$\$){_COMMAND_OR_CHARACTER}|\\[()])*)\Z
    |\\[^\n]
    """,
    re.MULTILINE | re.VERBOSE,
)
_IS_MATHEMATICAL = re.compile(r"[\\^_=<>+]")
_LINE_OF_DOLLARS = re.compile(r"^[ \t>]*\$\$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_NAME = re.compile(r"\\([A-Za-z]+|[^A-Za-z])")
_STRUCTURE = re.compile(
    r"\\(?P<name>[A-Za-z]+)\{(?P<first>[^{}]*)\}(?:\{(?P<second>[^{}]*)\})?"
    r"|(?P<script>[\^_])(?:\{(?P<group>[^{}]+)\}|(?P<single>[^\s{}\\]))"
)
_IS_SHORT = re.compile(r"[\w.,]+")
_BRACES = str.maketrans("\ue001\ue002", "{}")
"""Braces that are shown, while others enclose arguments."""
_DEEPEST = 8
"""Levels of arguments within arguments that are read."""


class Formula(NamedTuple):
    start: int
    end: int
    """Offsets of the formula with its delimiters."""
    is_open: bool
    """Whether the text ends before the closing delimiter."""


def formulas_in(text: str, start: int = 0) -> Iterator[Formula]:
    r"""Yield the formulas from `start` on.

    One that begins a line with `$$` or `\[`, and has no end yet, extends to the end of the text.
    """
    for match in _SPANS.finditer(text, start) if "$" in text or "\\" in text else ():
        name = "formula" if match["formula"] else "open"
        # `\[1\]` is an escaped bracket
        is_bracket = match[name] and match[name].startswith("\\[")
        if match[name] and not (is_bracket and not _IS_MATHEMATICAL.search(match[name][2:-2])):
            yield Formula(*match.span(name), is_open=name == "open")


def open_delimiter(text: str) -> str:
    """Return the delimiter that closes what a text leaves open; empty for none.

    Blank lines count for nothing here: in many viewers they do not end a formula.
    """
    rest = _SPANS.sub(lambda match: match["open"] or "", text)
    if len(_LINE_OF_DOLLARS.findall(rest)) % 2:
        return "$$"
    return "\\]" if "\\[" in rest else ""


@cache
def _table() -> dict[str, Any]:
    table = dict(packaged(__package__, "symbols.toml"))
    words = table["symbols"].split()
    table["symbols"] = dict(zip(words[::2], words[1::2], strict=True)) | table["signs"]
    for script in ("^", "_"):
        table[script] = str.maketrans(table[script]["from"], table[script]["to"])
    return table


def shown(formula: str) -> str:
    """Write the inside of a formula with the characters that its commands stand for."""
    symbols = _table()["symbols"]
    written = _NAME.sub(lambda command: symbols.get(command[1], command[0]), formula)
    text = _BLANK_LINES.sub("\n", written)
    for _ in range(_DEEPEST):
        before, text = text, _STRUCTURE.sub(_structure, text)
        if text == before:
            break
    return text.translate(_BRACES)


def _structure(match: re.Match[str]) -> str:
    table, name, first = _table(), match["name"], match["first"]
    if match["script"]:
        argument, characters = match["group"] or match["single"], table[match["script"]]
        is_complete = all(ord(character) in characters for character in argument)
        return argument.translate(characters) if is_complete else match[0]
    second = match["second"]
    if name in table["fractions"] and second is not None:
        return f"{_enclosed(first)}/{_enclosed(second)}"
    after = "" if second is None else f"{{{second}}}"
    if name in table["prefixes"]:
        return f"{table['prefixes'][name]}{_enclosed(first)}{after}"
    if name in table["accents"] and len(first) == 1:
        return f"{first}{table['accents'][name]}{after}"
    if name == "mathbb":
        first = table["double"].get(first, first)
    return f"{first}{after}" if name in table["plain"] else match[0]


def _enclosed(argument: str) -> str:
    return argument if _IS_SHORT.fullmatch(argument) else f"({argument})"
