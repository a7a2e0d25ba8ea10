"""The user's settings, and where each value came from."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitchat.settings.load import load_settings
    from jitchat.settings.settings import Settings

__all__ = ["Settings", "load_settings"]
_HOMES = {"Settings": "settings", "load_settings": "load"}


def __getattr__(name: str) -> object:
    """Load a name on first use: the command line's help needs only `sections`."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
