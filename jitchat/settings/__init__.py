"""What the user can set, and where each value came from."""

from jitchat.settings.load import load_settings
from jitchat.settings.settings import Settings

__all__ = ["Settings", "load_settings"]
