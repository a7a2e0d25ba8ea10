"""Word lists, rules and texts of the benchmarks, from the files in `data`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_data(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "data" / f"{name}.toml").read_text("utf-8"))


def prompt(name: str) -> str:
    text: str = read_data("prompts")[name]
    return text
