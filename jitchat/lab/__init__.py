"""The rot lab: how answers in each mode change as the conversation grows."""

from typing import Any

from jitchat.text.expressions import packaged


def read_data(name: str) -> dict[str, Any]:
    return packaged(__package__, f"data/{name}.toml")


def note(name: str) -> str:
    """Return a text that is shown with the figures."""
    return str(read_data("notes")[name])
