"""Another key in place of one that the server refused, where the first was made to expire."""

from __future__ import annotations

from dataclasses import replace

from jitchat.errors import SettingsError
from jitchat.providers.protocol import Endpoint


def renewed(endpoint: Endpoint) -> Endpoint | None:
    """Make the endpoint with another key; None where there is none. Slow: a command may run.

    Where the command fails, the server's refusal is what is told.
    """
    if endpoint.renew is None:
        return None
    try:
        key = endpoint.renew(endpoint.key)
    except SettingsError:
        return None
    return replace(endpoint, key=key) if key != endpoint.key else None
