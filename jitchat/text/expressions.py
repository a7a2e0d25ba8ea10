"""Regular expressions made of long lists of phrases: text in `data`, compiled on first use.

In these files, `<name>` is replaced by the part with that name; a line break and the spaces after
it are ignored. A file with `unicode` is compiled by `regex`, which knows the properties of Unicode.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

_PART = re.compile(r"(?<!\?P)<([a-z_]+)>")
_LINE_BREAK = re.compile(r"\n *+")


@cache
def packaged(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file next to the code of a package."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))


def data(name: str) -> dict[str, Any]:
    return packaged(__package__, f"data/{name}.toml")


@cache
def lines_of(name: str) -> list[str]:
    """Read the lines of a text file in `data`, without comments."""
    lines = (files(__package__) / "data" / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def word_list(name: str) -> frozenset[str]:
    """Read the words of a text file in `data`."""
    return frozenset(word for line in lines_of(name) for word in line.split())


@cache
def expressions(name: str) -> dict[str, re.Pattern[str]]:
    """Compile the expressions of a file in `data`, by name."""
    parts = data(name).get("parts", {})

    def whole(text: str) -> str:
        return _PART.sub(lambda part: whole(parts[part[1]]), _LINE_BREAK.sub("", text))

    sources = data(name)["expressions"].items()
    if data(name).get("unicode"):
        import regex  # noqa: PLC0415  13 ms, and most expressions do without

        return {key: regex.compile(whole(text), regex.VERSION1) for key, text in sources}
    return {key: re.compile(whole(text)) for key, text in sources}


def says(name: str, expression: str, text: str) -> bool:
    """Return whether an expression of a file in `data` is found in a text.

    Curly apostrophes are taken as straight. If the file has hints for the expression, a text
    without any of them is not searched.
    """
    hints = data(name).get("hints", {}).get(expression)
    if hints and not has_any(text.lower(), hints):
        return False
    return bool(expressions(name)[expression].search(text.replace("’", "'")))


def has_any(text: str, parts: Iterable[str]) -> bool:
    return any(map(text.__contains__, parts))  # faster than a generator: called for each sentence
