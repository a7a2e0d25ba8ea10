"""A plain list of turns: objects with role and content, perhaps created_at and name."""

from dataclasses import dataclass
from datetime import UTC, datetime

from jitchat.transfer.report import ConversationBuilder, FileConversation, Format
from jitchat.values import Role

_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
}
_INSTRUCTIONS = ("system", "developer")
_YEARS = range(1900, 2201)


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line of JSONL that holds no JSON, in place of its item."""

    number: int
    """From 1."""


def read_plain(value: object, name: str) -> list[FileConversation]:
    """Read the list as one conversation; one item, or a list under `messages`, will do too."""
    gathering, items = ConversationBuilder(), _listed(value)
    broken = [str(each.number) for each in items if isinstance(each, BrokenLine)]
    lines = f"line{'s' if broken[1:] else ''} {', '.join(broken[:3])}{' …' if broken[3:] else ''}"
    for item in items:
        if isinstance(item, BrokenLine):
            gathering.skip(f"not JSON ({lines})")
        else:
            take_item(item, gathering)
    return [gathering.found(name, name)]


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
    if moment.year not in _YEARS:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _listed(value: object) -> list[object]:
    if isinstance(value, dict) and "role" not in value:
        value = value.get("messages", value.get("turns"))
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def take_item(item: object, gathering: ConversationBuilder, label: object = None) -> None:
    """Add an item as a turn, or count why not; `label` is what its file calls it."""
    if not isinstance(item, dict):
        gathering.skip("not an object")
        return
    role, content, name = item.get("role"), item.get("content"), item.get("name")
    spoken = role.strip().lower() if isinstance(role, str) else ""
    if spoken not in _ROLES:
        gathering.skip("instructions" if spoken in _INSTRUCTIONS else "no known role")
    elif not isinstance(content, str):
        gathering.skip("its content is no text")
    elif not content.strip():
        gathering.skip("empty")
    else:
        moment = moment_of(item.get("created_at"))
        if moment is None and item.get("created_at") is not None:
            gathering.change("its date was not understood")
        named = name if isinstance(name, str) else None
        gathering.take(_ROLES[spoken], content, moment, named, label)


PLAIN = Format(
    "a JSON or JSONL list of objects with role and content (created_at and name are optional)",
    lambda _: True,
    read_plain,
)
