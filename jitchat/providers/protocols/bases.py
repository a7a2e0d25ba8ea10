"""Where a protocol's routes are, for an address with the API's version or without it."""

from __future__ import annotations

import re

_HAS_VERSION = re.compile(r"/v\d+[a-z\d]*$")


def base_of(base_url: str, protocol_name: str) -> str:
    """Add the version that is missing, as the vendors' own clients do; without a slash at the end.

    An address of Gemini's is taken as it is where it is more than a host.
    """
    base = base_url.strip().rstrip("/")
    if protocol_name == "anthropic" and not _HAS_VERSION.search(base):
        return f"{base}/v1"
    if protocol_name == "gemini" and "/" not in base.partition("://")[2]:
        return f"{base}/v1beta"
    return base


def root_of(base_url: str) -> str:
    """Take off the API's version: the server, where it has routes of its own."""
    base = base_url.strip().rstrip("/")
    return base.removesuffix("/v1").removesuffix("/api").rstrip("/")
