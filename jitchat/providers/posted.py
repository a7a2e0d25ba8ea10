"""What is kept of a request that left, as plain data, and back again. No secret is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from jitchat.providers.provider import Options, Posted

_OPTIONS = frozenset(field.name for field in fields(Options))


def posted_fields(posted: Posted) -> dict[str, Any]:
    """Describe it; what was not set is left out."""
    options = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(posted.options).items()
        if value not in (None, frozenset())
    }
    return {
        "provider": posted.provider,
        "url": posted.url,
        "options": options,
        "sha256": posted.sha256,
    }


def posted_from(described: Mapping[str, Any]) -> Posted:
    """Make what the fields describe.

    Raises:
        LookupError: One is missing.

    """
    options = {name: value for name, value in described["options"].items() if name in _OPTIONS}
    options["without"] = frozenset(options.get("without", ()))
    return Posted(described["provider"], described["url"], Options(**options), described["sha256"])
