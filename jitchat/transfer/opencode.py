"""opencode's database: sessions, their messages, and the parts of these, each as JSON.

It may be open in the program itself: it is read as it is at one moment, and never changed.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.attached import url_piece
from jitchat.transfer.fields import as_arguments, mapping, moment_in_any_unit, text
from jitchat.transfer.format import Environment, Format
from jitchat.transfer.incoming import (
    IncomingConversation,
    Note,
    Piece,
    Result,
    Tally,
    Text,
    Thought,
    TurnMaker,
)
from jitchat.transfer.json_text import decoded
from jitchat.transfer.read_only import foreign_errors, open_read_only, tables_of
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role, ToolCall

NAME = "opencode"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_SILENT = (
    "step-start",
    "step-finish",
    "snapshot",
    "patch",
    "compaction",
    "agent",
    "retry",
    "subtask",
)


def _matches(sample: Sample) -> bool:
    return {"id", "session_id", "data"} <= sample.tables.get("message", frozenset()) and (
        {"id", "title"} <= sample.tables.get("session", frozenset()) and "part" in sample.tables
    )


def _usual_place(environment: Environment) -> Path:
    if given := environment.get("OPENCODE_DB"):
        return Path(given)
    data = environment.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local/share") / "opencode" / "opencode.db"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    if file.path is None:
        return
    with foreign_errors(file.path), closing(open_read_only(file.path)) as connection:
        columns = tables_of(connection)["session"]
        for row in connection.execute(_sessions(columns)).fetchall():
            identity, title, created, updated, parent = row
            if parent:
                source.tally.skip("session of a sub-agent")
                continue
            tally, key = Tally(), text(identity)
            yield IncomingConversation(
                Origin(NAME, key),
                f"{NAME}-{key.removeprefix('ses_')[:12]}",
                text(title),
                _turns(connection, file.path, key, tally),
                tally,
                None,
                moment_in_any_unit(created),
                moment_in_any_unit(updated),
            )


def _sessions(columns: frozenset[str]) -> str:
    """Ask for the sessions; what an older layout does not have is NULL."""
    wanted = ("id", "title", "time_created", "time_updated", "parent_id")
    listed = ", ".join(name if name in columns else "NULL" for name in wanted)
    return f"SELECT {listed} FROM session ORDER BY id"  # noqa: S608  constants


def _turns(
    connection: sqlite3.Connection, path: Path, session: str, tally: Tally
) -> Iterator[IncomingTurn]:
    maker = TurnMaker(tally)
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
    with foreign_errors(path):
        for identity, data in connection.execute(query, (session,)):
            fields = _object(data)
            role = _ROLES.get(text(fields.get("role")))
            if role is None:
                tally.skip("no known role")
                continue
            parts = _parts(connection, identity)
            pieces = [piece for part in parts for piece in _pieces(part, tally)]
            model = text(fields.get("modelID")) or text(mapping(fields.get("model")).get("modelID"))
            made = moment_in_any_unit(mapping(fields.get("time")).get("created"))
            yield from maker.turns(text(identity), role, pieces, None, Note(made, model))


def _parts(connection: sqlite3.Connection, message: object) -> Iterator[Mapping[str, object]]:
    query = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
    for identity, data in connection.execute(query, (message,)):
        yield {"id": identity, **_object(data)}


def _object(data: object) -> Mapping[str, object]:
    return mapping(decoded(data)) if isinstance(data, str) else {}


def _pieces(part: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    kind = text(part.get("type"))
    if kind == "text" and part.get("synthetic") is True:
        tally.skip("text of the program")
    elif kind == "text":
        yield Text(text(part.get("text")))
    elif kind == "reasoning":
        yield Thought(text(part.get("text")))
    elif kind == "tool":
        yield from _tool(part)
    elif kind == "file":
        name = text(part.get("filename")) or text(part.get("mime"))
        yield url_piece(tally, "file", name, text(part.get("url")))
    elif kind not in _SILENT:
        tally.skip("part of unknown kind")


def _tool(part: Mapping[str, object]) -> Iterator[Piece]:
    state = mapping(part.get("state"))
    call = text(part.get("callID")) or text(part.get("id"))
    yield ToolCall(call, text(part.get("tool")) or "tool", as_arguments(state.get("input")))
    status = text(state.get("status"))
    if status in ("completed", "error"):
        said = text(state.get("output")) or text(state.get("error"))
        yield Result(call, said, status == "error")


OPENCODE = Format(NAME, "opencode's database", _matches, _read, _usual_place)
