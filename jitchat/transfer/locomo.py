"""LoCoMo's JSON: long talks between two people, in dated sessions.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents" (2024).
speaker_a is the user and speaker_b the assistant, under their own names. An image is what its
caption says. The fields that would give answers away (`query`, `observation`,
`event_summary`, `session_summary`) are never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from jitchat.transfer.report import Found
from jitchat.turn import Role, Turn


def is_locomo(value: object) -> bool:
    """Whether this is such a file, or one conversation of it."""
    first = value[0] if isinstance(value, list) and value else value
    talk = first.get("conversation") if isinstance(first, dict) else None
    return isinstance(talk, dict) and "speaker_a" in talk


def read_locomo(value: object) -> list[Found]:
    """Its conversations, in the file's order."""
    samples = value if isinstance(value, list) else [value]
    return [_conversation(sample, number) for number, sample in enumerate(samples, start=1)]


def _conversation(sample: object, number: int) -> Found:
    talk = sample.get("conversation") if isinstance(sample, dict) else None
    if not isinstance(talk, dict):
        found = Found(f"locomo-{number}", f"locomo-{number}")
        found.skipped["no conversation in this sample"] += 1
        return found
    assert isinstance(sample, dict)
    name = str(sample.get("sample_id") or f"locomo-{number}")
    speakers = str(talk.get("speaker_a", "")), str(talk.get("speaker_b", ""))
    found = Found(name, f"{' and '.join(filter(None, speakers))} ({name})")
    for moment, item in _items(talk):
        _take(item, moment, speakers, found)
    return found


def _items(talk: Mapping[str, Any]) -> Iterator[tuple[datetime | None, object]]:
    """Every turn with its session's date, in order of the sessions' numbers."""
    numbers = sorted(
        int(key.removeprefix("session_"))
        for key, value in talk.items()
        if key.removeprefix("session_").isdecimal() and isinstance(value, list)
    )
    for number in numbers:
        moment = _session_date(talk.get(f"session_{number}_date_time"))
        for item in talk[f"session_{number}"]:
            yield moment, item


def _take(
    item: object, moment: datetime | None, speakers: tuple[str, str], found: Found
) -> None:
    if not isinstance(item, Mapping):
        found.skipped["not an object"] += 1
        return
    text, caption, speaker = (item.get(key) for key in ("text", "blip_caption", "speaker"))
    parts = [text.strip()] if isinstance(text, str) and text.strip() else []
    if isinstance(caption, str) and caption.strip():
        parts.append(f"[image: {caption.strip()}]")
    if speaker not in speakers:
        found.skipped["unknown speaker"] += 1
    elif not parts:
        found.skipped["empty"] += 1
    else:
        role = Role.USER if speaker == speakers[0] else Role.ASSISTANT
        position = len(found.turns) + 1
        found.turns.append(Turn(position, role, " ".join(parts), moment, str(speaker)))


def _session_date(value: object) -> datetime | None:
    try:
        return datetime.strptime(str(value), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
