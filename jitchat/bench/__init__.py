"""Benchmarks of the app on labelled conversations, through the code that the app runs."""

from typing import Any

from jitchat.text.expressions import packaged


def read_data(name: str) -> dict[str, Any]:
    return packaged(__package__, f"data/{name}.toml")


def prompt(name: str) -> str:
    text: str = read_data("prompts")[name]
    return text
