"""Benchmarks of the app on labelled conversations, through the code that the app runs."""

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
