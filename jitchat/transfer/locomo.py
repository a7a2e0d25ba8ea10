"""LoCoMo's JSON: long conversations between two people, in dated sessions.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents" (2024).
speaker_a is the user and speaker_b the assistant, under their own names. An image is represented by
its caption. The fields that would reveal answers (`query`, `observation`, `event_summary`,
`session_summary`) are never read.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from jitchat.store.imported import Origin
from jitchat.transfer.format import Format, Sample, values_of
from jitchat.transfer.incoming import IncomingConversation
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import ConversationBuilder, FileConversation
from jitchat.values import Role

_SESSION = re.compile(r"session_([0-9]{1,6})")


def is_locomo(value: object) -> bool:
    return any("speaker_a" in (_talk(sample) or {}) for sample in samples(value))


def read_locomo(value: object, _name: str = "") -> list[FileConversation]:
    return [
        _conversation(sample, f"locomo-{number}", ConversationBuilder())
        for number, sample in enumerate(samples(value), start=1)
    ]


def samples(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _talk(sample: object) -> Mapping[str, object] | None:
    talk = sample.get("conversation") if isinstance(sample, dict) else None
    return talk if isinstance(talk, dict) else None


def _conversation(sample: object, usual_id: str, builder: ConversationBuilder) -> FileConversation:
    talk = _talk(sample)
    if talk is None or not isinstance(sample, dict):
        builder.tally.skip("sample without a conversation")
        return builder.found(usual_id, usual_id)
    speakers = _speakers(talk)
    for moment, item in _items(talk, builder):
        _take(item, moment, speakers, builder)
    given = sample.get("sample_id")
    identity = str(given) if isinstance(given, str | int) and given else usual_id
    names = " and ".join(speakers)
    return builder.found(identity, f"{names} ({identity})" if names else identity)


def _speakers(talk: Mapping[str, object]) -> dict[str, Role]:
    found: dict[str, Role] = {}
    for key, role in (("speaker_a", Role.USER), ("speaker_b", Role.ASSISTANT)):
        name = talk.get(key)
        if isinstance(name, str) and name.strip():
            found.setdefault(name, role)
    return found


def _items(
    talk: Mapping[str, object], gathering: ConversationBuilder
) -> Iterator[tuple[datetime | None, object]]:
    """Yield every item with its session's date, in order of the session numbers."""
    matches = [match for key in talk if (match := _SESSION.fullmatch(key))]
    for match in sorted(matches, key=lambda match: int(match[1])):
        session, dated = talk[match[0]], talk.get(f"{match[0]}_date_time")
        if not isinstance(session, list):
            gathering.tally.skip("session that is not a list", session)
            continue
        moment = _session_date(dated)
        for item in session:
            if moment is None and dated is not None:
                gathering.tally.change("date that was not understood", dated)
            yield moment, item


def _take(
    item: object,
    moment: datetime | None,
    speakers: Mapping[str, Role],
    gathering: ConversationBuilder,
) -> None:
    if not isinstance(item, dict):
        gathering.tally.skip("item that is not an object", item)
        return
    text, caption, speaker = (item.get(key) for key in ("text", "blip_caption", "speaker"))
    parts = [text.strip()] if isinstance(text, str) and text.strip() else []
    if isinstance(caption, str) and caption.strip():
        parts.append(f"[image: {caption.strip()}]")
    if not isinstance(speaker, str) or speaker not in speakers:
        gathering.tally.skip("message of an unknown speaker", item)
    elif not parts:
        is_empty = isinstance(text, str | None)
        reason = "empty message" if is_empty else "message whose content is not text"
        gathering.tally.skip(reason, item)
    else:
        gathering.take(speakers[speaker], " ".join(parts), moment, speaker, item.get("dia_id"))


def _session_date(value: object) -> datetime | None:
    """Read `1:56 pm on 8 May, 2023`."""
    with suppress(ValueError):
        return datetime.strptime(str(value).strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return None


NAME = "locomo"


def _matches(sample: Sample) -> bool:
    return is_locomo(list(sample.items))


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    for number, value in enumerate(values_of(file, source.tally), start=1):
        gathering = ConversationBuilder()
        gathering.tally.read(value)
        found = _conversation(value, f"locomo-{number}", gathering)
        origin = Origin(NAME, found.id)
        yield IncomingConversation(
            origin, found.title, gathering.turns, gathering.tally, id=found.id
        )


LOCOMO = Format(NAME, "LoCoMo's JSON", _matches, _read)
