"""SillyTavern's chats: JSONL, a header and then a message a line; its swipes are its versions."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.fields import mapping, moment_in_any_unit, sequence, text
from jitchat.transfer.format import Format, lines_of
from jitchat.transfer.incoming import (
    IncomingConversation,
    Note,
    Piece,
    Tally,
    Text,
    Thought,
    TurnMaker,
)
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role

NAME = "sillytavern"
_UNUSED = "unused"
_OLD_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s")
_WORDS = "%B %d, %Y %I:%M%p"


def _is_message(line: Mapping[str, object]) -> bool:
    return isinstance(line.get("mes"), str) and "is_user" in line


def _is_header(line: Mapping[str, object]) -> bool:
    return "user_name" in line and ("character_name" in line or "chat_metadata" in line)


def _matches(sample: Sample) -> bool:
    return any(_is_message(line) or _is_header(line) for line in sample.lines)


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    del source
    found = IncomingConversation(Origin(NAME, file.stem), file.stem, "", (), Tally())
    first = next(lines_of(file, Tally()), {})
    integrity = text(mapping(first.get("chat_metadata")).get("integrity"))
    if integrity:
        found.origin = Origin(NAME, integrity)
    name = text(first.get("character_name"))
    found.title = f"{name} ({file.stem})" if name not in ("", _UNUSED) else file.stem
    found.turns = _turns(file, found)
    yield found


def _turns(file: SourceFile, found: IncomingConversation) -> Iterator[IncomingTurn]:
    maker, place, number = TurnMaker(found.tally), 0, 0
    for line in lines_of(file, found.tally):
        if _is_header(line):
            continue
        if reason := _not_said(line):
            found.tally.skip(reason)
            continue
        number += 1
        versions = _versions(line, maker, number, place)
        kept = versions[_chosen(line, len(versions))]
        place = kept[-1].turn.position if kept else place
        for incoming in chain(*versions):
            found.created_at = found.created_at or incoming.turn.created_at
            found.updated_at = incoming.turn.created_at or found.updated_at
            yield incoming
    found.head = place or None


def _chosen(line: Mapping[str, object], count: int) -> int:
    """Tell which of so many versions is shown; the last one where the line does not."""
    chosen = line.get("swipe_id")
    return chosen if isinstance(chosen, int) and 0 <= chosen < count else count - 1


def _not_said(line: Mapping[str, object]) -> str:
    if not isinstance(line.get("mes"), str):
        return "line without a message"
    return "message that is hidden from the prompt" if line.get("is_system") is True else ""


def _versions(
    line: Mapping[str, object], maker: TurnMaker, number: int, place: int
) -> list[list[IncomingTurn]]:
    """Make the turns of each swipe, all behind one place; without swipes, there is one version."""
    role = Role.USER if line.get("is_user") is True else Role.ASSISTANT
    swipes = [text(each) for each in sequence(line.get("swipes"))] or [text(line.get("mes"))]
    chosen, details = _chosen(line, len(swipes)), sequence(line.get("swipe_info"))
    made = list[list[IncomingTurn]]()
    for version, said in enumerate(swipes):
        is_shown = version == chosen
        detail = mapping(details[version]) if version < len(details) else {}
        own = line if is_shown else detail
        extra = mapping(own.get("extra"))
        spoken = text(line.get("mes")) if is_shown else said  # what is shown may have been edited
        pieces: list[Piece] = [Thought(text(extra.get("reasoning"))), Text(spoken)]
        moment = _moment(own.get("send_date")) or _moment(line.get("send_date"))
        note = Note(moment, text(extra.get("model")), text(line.get("name")) or None)
        made.append(maker.turns(f"{number}.{version}", role, pieces, place, note))
    return made


def _moment(value: object) -> datetime | None:
    """Read ISO, seconds or milliseconds, and the two texts that older versions wrote."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 15:
        value = int(value)
    if (found := moment_in_any_unit(value)) is not None or not isinstance(value, str):
        return found
    if (old := _OLD_DATE.match(value)) is not None:
        try:
            return datetime(*map(int, old.groups()), tzinfo=UTC)  # type: ignore[arg-type,misc]
        except ValueError:
            return None
    try:
        return datetime.strptime(value.strip(), _WORDS).replace(tzinfo=UTC)
    except ValueError:
        return None


SILLYTAVERN = Format(NAME, "SillyTavern's chats (JSONL)", _matches, _read)
