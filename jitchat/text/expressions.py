"""Regular expressions that are long lists of phrases: text in `data`, compiled when first used.

There, `<name>` stands for the part of that name, and a line break with the blanks behind it for
nothing.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

_PART = re.compile(r"<([a-z_]+)>")
_LINE_BREAK = re.compile(r"\n *+")


@cache
def data(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "data" / f"{name}.toml").read_text("utf-8"))


@cache
def expressions(name: str) -> dict[str, re.Pattern[str]]:
    """Compile the expressions of a file of `data`, by their names."""
    parts = data(name).get("parts", {})

    def whole(text: str) -> str:
        return _PART.sub(lambda part: whole(parts[part[1]]), _LINE_BREAK.sub("", text))

    return {key: re.compile(whole(text)) for key, text in data(name)["expressions"].items()}
