"""SillyTavern's chats: JSONL with a header and one message per line; swipes are versions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePosixPath

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.attached import file_piece, text_piece, url_piece
from jitchat.transfer.blocks import result_text
from jitchat.transfer.format import Format, Sample, lines_of
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.json_text import as_json, mapping, moment_in_any_unit, sequence, text
from jitchat.transfer.pieces import Piece, Result, Text, Thought, call_piece
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import Note, TurnMaker, hash_of
from jitchat.values import Role

NAME = "sillytavern"
_UNUSED = "unused"
_OLD_DATES = ("%B%d,%Y%I:%M%p", "%Y-%m-%d@%Hh%Mm%Ss", "%Y-%m-%d@%Hh%Mm%Ss%fms")
"""Formats of dates in older versions, without the blanks: `2026-01-02 @10h 02m 03s 120ms`."""


def _is_message(line: Mapping[str, object]) -> bool:
    return isinstance(line.get("mes"), str) and "is_user" in line


def _is_header(line: Mapping[str, object]) -> bool:
    return "user_name" in line and ("character_name" in line or "chat_metadata" in line)


def _matches(sample: Sample) -> bool:
    return any(_is_message(line) or _is_header(line) for line in sample.lines)


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    del source
    first = next(lines_of(file, Tally()), {})
    integrity = text(mapping(first.get("chat_metadata")).get("integrity"))
    name = text(first.get("character_name"))
    is_redundant = name in ("", _UNUSED) or name in file.stem
    title = file.stem if is_redundant else f"{name} ({file.stem})"
    origin = Origin(NAME, integrity or file.stem)
    note = text(mapping(first.get("chat_metadata")).get("note_prompt"))
    found = IncomingConversation(origin, title, id=file.stem, instructions=[note])
    found.turns = _turns(file, found)
    yield found


def _turns(file: SourceFile, found: IncomingConversation) -> Iterator[IncomingTurn]:
    maker, place, seen = TurnMaker(found.tally), 0, set[bytes]()
    for line in lines_of(file, found.tally):
        found.tally.read(line)
        line_hash, reason = hash_of(as_json(line)), _skip_reason(line)
        if _is_header(line) or (line.get("send_date") and line_hash in seen):
            continue
        if reason:
            found.tally.skip(reason, line)
            continue
        seen.add(line_hash)
        versions = _versions(line, maker, place)
        kept = versions[_chosen(line, len(versions))]
        place = kept[-1].turn.position if kept else place
        yield from chain(*versions)
    found.head = place or None


def _chosen(line: Mapping[str, object], count: int) -> int:
    """Return the index of the version that is shown; the last one if the line does not say."""
    chosen = line.get("swipe_id")
    return chosen if isinstance(chosen, int) and 0 <= chosen < count else count - 1


def _skip_reason(line: Mapping[str, object]) -> str:
    if not isinstance(line.get("mes"), str):
        return "line without a message"
    is_hidden = line.get("is_system") is True and not _used(line)
    return "message that is hidden from the prompt" if is_hidden else ""


def _used(line: Mapping[str, object]) -> Sequence[object]:
    """Return the tool calls of a message; it is then hidden, and its text only describes them."""
    return sequence(mapping(line.get("extra")).get("tool_invocations"))


def _tools(line: Mapping[str, object]) -> Iterator[Piece]:
    for each in map(mapping, _used(line)):
        called = call_piece(each.get("id"), each.get("name"), each.get("parameters"))
        yield called
        yield Result(called.id, result_text(each.get("result")), each.get("error") is True)


def _files(extra: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    """Read the attachments: texts are kept; of other files, the chat has only the path."""
    listed = (extra.get("file"), *sequence(extra.get("files")), *sequence(extra.get("media")))
    for each in filter(None, map(mapping, listed)):
        name, content, url = (text(each.get(key)) for key in ("name", "text", "url"))
        kind = text(each.get("type")) or "file"
        if content:
            yield text_piece(tally, name, content)
        else:
            yield file_piece(tally, kind, name or PurePosixPath(url).name, None)
    if image := text(extra.get("image")):
        yield url_piece(
            tally, "image", "" if image.startswith("data:") else PurePosixPath(image).name, image
        )


def _identity(line: Mapping[str, object], first: str) -> str:
    """Return what identifies a message: who said its first version when, or else the text of it."""
    details = mapping(next(iter(sequence(line.get("swipe_info"))), {}))
    sent_at = details.get("send_date") or line.get("send_date") or first
    return as_json([line.get("is_user"), line.get("name"), sent_at])


def _versions(line: Mapping[str, object], maker: TurnMaker, place: int) -> list[list[IncomingTurn]]:
    """Make the turns of each swipe, all with the same parent; without swipes, of one version."""
    role = Role.USER if line.get("is_user") is True else Role.ASSISTANT
    swipes = [text(each) for each in sequence(line.get("swipes"))] or [text(line.get("mes"))]
    chosen, details = _chosen(line, len(swipes)), sequence(line.get("swipe_info"))
    made, identity = list[list[IncomingTurn]](), _identity(line, swipes[0])
    for version, swipe in enumerate(swipes):
        is_shown = version == chosen
        detail = mapping(details[version]) if version < len(details) else {}
        own = line if is_shown else detail
        extra = mapping(own.get("extra"))
        spoken = text(line.get("mes")) if is_shown else swipe  # what is shown may have been edited
        is_about_calls = is_shown and bool(_used(line))
        if is_about_calls and spoken:
            maker.tally.skip("text that describes tool calls", spoken)
        said = () if is_about_calls else (Text(spoken),)
        pieces: list[Piece] = [Thought(text(extra.get("reasoning"))), *said]
        pieces += [*_files(extra, maker.tally), *(_tools(line) if is_shown else ())]
        moment = _moment(own.get("send_date")) or _moment(line.get("send_date"))
        note = Note(moment, text(extra.get("model")), text(line.get("name")) or None)
        made.append(maker.turns(f"{identity}.{version}", role, pieces, place, note))
    return made


def _moment(value: object) -> datetime | None:
    """Read ISO text, seconds, milliseconds, or one of the formats of older versions."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 15:
        value = int(value)
    found = moment_in_any_unit(value)
    for form in _OLD_DATES if found is None else ():
        with suppress(ValueError):
            return datetime.strptime("".join(text(value).split()), form).replace(tzinfo=UTC)
    return found


SILLYTAVERN = Format(NAME, "SillyTavern's chats (JSONL)", _matches, _read)
