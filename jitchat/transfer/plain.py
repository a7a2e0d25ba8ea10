"""A plain list of turns: objects with role and content, perhaps created_at and name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from jitchat.transfer.report import Found
from jitchat.turn import Role, Turn

_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
}


def read_plain(value: object, name: str) -> list[Found]:
    """The list as one conversation; an object that holds it under `messages` will do too."""
    if isinstance(value, dict):
        value = value.get("messages", value.get("turns", []))
    found = Found(name, name)
    for item in value if isinstance(value, list) else []:
        _take(item, found)
    return [found]


def _take(item: object, found: Found) -> None:
    if not isinstance(item, Mapping):
        found.skipped["not an object"] += 1
        return
    role, content = item.get("role"), item.get("content")
    known = _ROLES.get(role.lower()) if isinstance(role, str) else None
    if known is None:
        found.skipped["instructions" if role == "system" else "no known role"] += 1
    elif not isinstance(content, str):
        found.skipped["content is not text"] += 1
    elif not content.strip():
        found.skipped["empty"] += 1
    else:
        name = item.get("name")
        moment = moment_of(item.get("created_at"))
        if moment is None and item.get("created_at") is not None:
            found.skipped["taken, but its date was not understood"] += 1
        spoken = name if isinstance(name, str) and name.strip() else None
        found.turns.append(Turn(len(found.turns) + 1, known, content, moment, spoken))


def moment_of(value: object) -> datetime | None:
    """ISO text or seconds since 1970 as an aware time; None for anything else."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
