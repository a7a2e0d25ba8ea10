"""opencode's database: sessions, their messages, and the messages' parts, each as JSON.

In its second schema, a message with its parts is one row of `session_message`; a session is read
from there if the first schema has no messages of it. The program itself may have the database open:
it is read in one consistent state and never changed.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.attached import url_piece
from jitchat.transfer.blocks import result_text
from jitchat.transfer.format import Environment, Format, Sample
from jitchat.transfer.incoming import INSTRUCTIONS, NO_ROLE, IncomingConversation, Tally
from jitchat.transfer.json_text import decoded, mapping, moment_in_any_unit, sequence, text
from jitchat.transfer.pieces import Piece, Result, Text, Thought, call_piece, with_files
from jitchat.transfer.source import Source, SourceFile, foreign_errors, open_read_only, tables_of
from jitchat.transfer.turns import Note, TurnMaker
from jitchat.values import Role

NAME = "opencode"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_SILENT = ("step-start", "step-finish", "snapshot", "patch", "compaction", "agent")
_SESSIONS = ("session", "session_v2")
_SKIP_REASONS = {
    "synthetic": "text that the program wrote",
    "shell": "program command",
    "system": INSTRUCTIONS,
    "skill": INSTRUCTIONS,
    "compaction": "compaction summary",
}
"""Why messages from neither the user nor the model are left out, by type (second schema)."""
_QUIET = ("agent-switched", "model-switched")
_Columns = Mapping[str, frozenset[str]]


def _matches(sample: Sample) -> bool:
    return bool(_session_tables(sample.tables)) and (
        _has_parts(sample.tables) or _has_whole_messages(sample.tables)
    )


def _session_tables(tables: _Columns) -> list[str]:
    return [name for name in _SESSIONS if {"id", "title"} <= tables.get(name, frozenset())]


def _has_parts(tables: _Columns) -> bool:
    is_known = {"id", "session_id", "data"} <= tables.get("message", frozenset())
    return is_known and "part" in tables


def _has_whole_messages(tables: _Columns) -> bool:
    wanted = {"id", "session_id", "type", "seq", "data"}
    return wanted <= tables.get("session_message", frozenset())


def _usual_place(environment: Environment) -> Path:
    if given := environment.get("OPENCODE_DB"):
        return Path(given)
    data = Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
    return data / "opencode" / "opencode.db"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    if file.path is None:
        return
    with foreign_errors(file.path), closing(open_read_only(file.path)) as connection:
        tables = tables_of(connection)
        query = " UNION ".join(_sessions(name, tables) for name in _session_tables(tables))
        for row in connection.execute(f"{query} ORDER BY 1").fetchall():
            identity, title, created, updated, parent, archived = row
            if parent:
                source.tally.skip("sub-agent session")
                continue
            tally, key = Tally(), text(identity)
            if {"session_id", "content"} <= tables.get("todo", frozenset()):
                tasks = connection.execute("SELECT content FROM todo WHERE session_id = ?", (key,))
                tally.read({"todo": tasks.fetchall()})
            read = _turns if _is_in_parts(connection, tables, identity) else _whole_turns
            yield IncomingConversation(
                Origin(NAME, key),
                text(title),
                read(connection, file.path, key, tally),
                tally,
                None,
                moment_in_any_unit(created),
                moment_in_any_unit(updated),
                is_archived=bool(archived),
                id=f"{NAME}-{key.removeprefix('ses_')[:12]}",
            )


def _is_in_parts(connection: sqlite3.Connection, tables: _Columns, session: object) -> bool:
    if not _has_whole_messages(tables):
        return True
    query = "SELECT 1 FROM message WHERE session_id = ?"
    return _has_parts(tables) and connection.execute(query, (session,)).fetchone() is not None


def _sessions(table: str, tables: _Columns) -> str:
    """Build a query for the sessions; columns that an older schema lacks are NULL."""
    wanted = ("id", "title", "time_created", "time_updated", "parent_id", "time_archived")
    listed = ", ".join(name if name in tables[table] else "NULL" for name in wanted)
    return f"SELECT {listed} FROM {table}"  # noqa: S608  constants


def _turns(
    connection: sqlite3.Connection, path: Path, session: str, tally: Tally
) -> Iterator[IncomingTurn]:
    """Read the first schema."""
    maker = TurnMaker(tally)
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
    with foreign_errors(path):
        for identity, data in connection.execute(query, (session,)):
            fields, parts = _object(data), list(_parts(connection, identity))
            tally.read({"message": fields, "part": parts})
            role = _ROLES.get(text(fields.get("role")))
            if role is None:
                tally.skip(NO_ROLE, parts)
                continue
            pieces = [piece for part in parts for piece in _pieces(part, tally)]
            yield from _made(maker, identity, role, pieces, fields)


def _whole_turns(
    connection: sqlite3.Connection, path: Path, session: str, tally: Tally
) -> Iterator[IncomingTurn]:
    """Read the second schema."""
    maker = TurnMaker(tally)
    query = "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq"
    with foreign_errors(path):
        for identity, kind, data in connection.execute(query, (session,)):
            fields, role = _object(data), _ROLES.get(text(kind))
            tally.read({"message": fields})
            if role is None:
                if kind not in _QUIET:
                    tally.skip(_SKIP_REASONS.get(text(kind), "message of unknown kind"), fields)
                continue
            pieces: list[Piece] = [Text(text(fields.get("text")))]
            pieces += [_file(mapping(file), tally) for file in sequence(fields.get("files"))]
            for part in sequence(fields.get("content")):
                pieces += _pieces(mapping(part), tally)
            yield from _made(maker, identity, role, pieces, fields)


def _made(
    maker: TurnMaker,
    identity: object,
    role: Role,
    pieces: list[Piece],
    fields: Mapping[str, object],
) -> list[IncomingTurn]:
    model = mapping(fields.get("model"))
    names = (fields.get("modelID"), model.get("modelID"), model.get("id"))
    written_by = next((text(name) for name in names if text(name)), "")
    note = Note(moment_in_any_unit(mapping(fields.get("time")).get("created")), written_by)
    return maker.turns(text(identity), role, [*pieces, _failure(fields)], None, note)


def _parts(connection: sqlite3.Connection, message: object) -> Iterator[Mapping[str, object]]:
    query = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
    for identity, data in connection.execute(query, (message,)):
        yield {"id": identity, **_object(data)}


def _object(data: object) -> Mapping[str, object]:
    return mapping(decoded(data)) if isinstance(data, str) else {}


def _pieces(part: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    kind = text(part.get("type"))
    if kind == "text":
        yield _spoken(part, tally)
    elif kind == "reasoning":
        yield Thought(text(part.get("text")))
    elif kind == "file":
        yield _file(part, tally)
    elif kind == "subtask":  # what another agent was told
        told = (text(part.get(name)) for name in ("description", "command", "prompt"))
        yield Text("\n\n".join(said for said in told if said))
    elif kind == "retry":
        yield _failure(part)
    elif kind == "tool":
        yield from _tool(part, tally)
    elif kind not in _SILENT:
        tally.skip("part of unknown kind", part)


def _spoken(part: Mapping[str, object], tally: Tally) -> Text:
    if True not in (part.get("synthetic"), part.get("ignored")):
        return Text(text(part.get("text")))
    tally.skip("text that the program wrote", part)
    return Text("")


def _file(fields: Mapping[str, object], tally: Tally) -> Piece:
    kind = "image" if text(fields.get("mime")).startswith("image/") else "file"
    name = text(fields.get("filename")) or text(fields.get("name"))
    return url_piece(tally, kind, name, text(fields.get("url")) or text(fields.get("uri")))


def _failure(fields: Mapping[str, object]) -> Text:
    """Return the error with which a reply, or an attempt at it, failed; empty if it did not."""
    error = mapping(fields.get("error"))
    said = text(error.get("message")) or text(mapping(error.get("data")).get("message"))
    return Text(f"[error: {said or text(error.get('name'))}]" if error else "")


def _tool(part: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    state = mapping(part.get("state"))
    name = part.get("tool") or part.get("name")
    called = call_piece(part.get("callID") or part.get("id"), name, state.get("input"))
    yield called
    status = text(state.get("status"))
    if status in ("completed", "error"):
        failure = text(state.get("error")) or text(mapping(state.get("error")).get("message"))
        said = text(state.get("output")) or result_text(state.get("content")) or failure
        pieces = [_file(mapping(file), tally) for file in sequence(state.get("attachments"))]
        ended = moment_in_any_unit(mapping(state.get("time")).get("end"))
        yield with_files(Result(called.id, said, status == "error", ended), pieces)


OPENCODE = Format(
    NAME, "opencode's database", _matches, _read, _usual_place, "opencode.db", "OPENCODE_DB"
)
