"""What the user can set, and where each value came from."""

from jitchat.settings.sources import load_settings
from jitchat.settings.values import Settings

__all__ = ["Settings", "load_settings"]
