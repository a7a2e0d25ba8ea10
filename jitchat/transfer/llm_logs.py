"""The `logs.db` of `llm`, in both schemas.

Up to 0.31, a response includes its prompt and belongs to a conversation. Since 0.32, threads point
into a tree of messages, each identified by its hash and its parent's hash. A migrated database has
both: a conversation that is also a thread is read only once.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.attached import base64_piece, file_piece, text_piece
from jitchat.transfer.fields import as_arguments, mapping, moment_of, sequence, text
from jitchat.transfer.format import Environment, Format
from jitchat.transfer.incoming import (
    INSTRUCTIONS,
    NO_ROLE,
    IncomingConversation,
    Message,
    Note,
    Piece,
    Result,
    Tally,
    Text,
    Thought,
    TurnMaker,
    short_id,
    tree_turns,
)
from jitchat.transfer.json_text import decoded
from jitchat.transfer.read_only import foreign_errors, open_read_only, tables_of
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile
from jitchat.values import Role, ToolCall

NAME = "llm"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.USER}
_Columns = Mapping[str, frozenset[str]]


def _has_responses(tables: _Columns) -> bool:
    return {"prompt", "response", "conversation_id"} <= tables.get("responses", frozenset())


def _has_threads(tables: _Columns) -> bool:
    return "tip_message_hash" in tables.get("threads", frozenset()) and (
        {"hash", "parent_hash", "role"} <= tables.get("messages", frozenset())
    )


def _matches(sample: Sample) -> bool:
    return _has_responses(sample.tables) or _has_threads(sample.tables)


def _usual_place(environment: Environment) -> Path:
    if given := environment.get("LLM_USER_PATH"):
        return Path(given) / "logs.db"
    from platformdirs import user_config_dir  # noqa: PLC0415

    return Path(user_config_dir("io.datasette.llm")) / "logs.db"


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    del source
    if file.path is None:
        return
    with foreign_errors(file.path), closing(open_read_only(file.path)) as connection:
        tables = tables_of(connection)
        threads = set[str]()
        if _has_threads(tables):
            for found in _Threads(connection, tables).conversations():
                threads.add(found.origin.key)
                yield found
        if _has_responses(tables):
            for found in _Responses(connection, tables).conversations(threads):
                found.turns = _guarded(found.turns, file.path)
                yield found


def _guarded(turns: Iterable[IncomingTurn], path: Path) -> Iterator[IncomingTurn]:
    with foreign_errors(path):
        yield from turns


def _query(tables: _Columns, table: str, wanted: str, rest: str) -> str:
    """Build a query for columns; those that the schema lacks are NULL."""
    listed = (name if name in tables[table] else f"NULL AS {name}" for name in wanted.split())
    return f"SELECT {', '.join(listed)} FROM {table} {rest}"  # noqa: S608  constants


def _kind_of(media_type: object) -> str:
    """Return an attachment's kind: image, audio, video or file."""
    kind = text(media_type).partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "file"


class _Responses:
    """The schema before 0.32."""

    def __init__(self, connection: sqlite3.Connection, tables: _Columns) -> None:
        self._connection, self._tables = connection, tables

    def conversations(self, known: set[str]) -> Iterator[IncomingConversation]:
        rows = self._connection.execute(
            "SELECT conversation_id, MIN(rowid) FROM responses"
            " GROUP BY COALESCE(conversation_id, id) ORDER BY 2"
        ).fetchall()
        for conversation, first in rows:
            key = text(conversation) or f"response-{first}"
            if key in known:
                continue
            tally = Tally()
            title = self._title(conversation)
            found = IncomingConversation(Origin(NAME, key), short_id(NAME, key), title, (), tally)
            found.turns = self._turns(found, conversation, first)
            yield found

    def _title(self, conversation: object) -> str:
        if "name" not in self._tables.get("conversations", frozenset()):
            return ""
        query = "SELECT name FROM conversations WHERE id = ?"
        row = self._connection.execute(query, (conversation,)).fetchone()
        return text(row[0]) if row else ""

    def _turns(
        self, found: IncomingConversation, conversation: object, first: int
    ) -> Iterator[IncomingTurn]:
        maker = TurnMaker(found.tally)
        query = _query(
            self._tables,
            "responses",
            "id model prompt system response reasoning datetime_utc",
            "WHERE conversation_id = ?1 OR (?1 IS NULL AND rowid = ?2) ORDER BY rowid",
        )
        for row in self._connection.execute(query, (conversation, first)):
            identity, model, prompt, system, response, reasoning, moment = row
            if system:
                found.tally.skip(INSTRUCTIONS)
            note = Note(moment_of(moment), text(model))
            said: list[Piece] = [*self._results(identity)]
            said += [*self._fragments(identity, found.tally), Text(text(prompt))]
            said += self._attachments(identity, found.tally)
            answer: list[Piece] = [Thought(text(reasoning)), Text(text(response))]
            answer += self._calls(identity)
            if any(not isinstance(piece, Text) or piece.text for piece in said):
                yield from maker.turns(f"{identity} prompt", Role.USER, said, None, note)
            yield from maker.turns(f"{identity} response", Role.ASSISTANT, answer, None, note)

    def _fragments(self, response: object, tally: Tally) -> Iterator[Piece]:
        """Read the fragments that precede a prompt."""
        if not {"fragments", "prompt_fragments"} <= self._tables.keys():
            return
        query = (
            "SELECT f.source, f.content FROM prompt_fragments p JOIN fragments f"
            ' ON f.id = p.fragment_id WHERE p.response_id = ? ORDER BY p."order"'
        )
        for source, content in self._connection.execute(query, (response,)):
            yield text_piece(tally, Path(text(source)).name or "fragment", text(content))

    def _calls(self, response: object) -> Iterator[Piece]:
        if "tool_calls" not in self._tables:
            return
        query = _query(
            self._tables, "tool_calls", "name arguments tool_call_id",
            "WHERE response_id = ? ORDER BY rowid",
        )  # fmt: skip
        for name, arguments, call in self._connection.execute(query, (response,)):
            named = text(name) or "tool"
            yield ToolCall(text(call) or named, named, as_arguments(arguments))

    def _results(self, response: object) -> Iterator[Piece]:
        if "tool_results" not in self._tables:
            return
        query = _query(
            self._tables, "tool_results", "name output exception tool_call_id",
            "WHERE response_id = ? ORDER BY rowid",
        )  # fmt: skip
        for name, output, exception, call in self._connection.execute(query, (response,)):
            yield Result(text(call) or text(name), text(output) or text(exception), bool(exception))

    def _attachments(self, response: object, tally: Tally) -> Iterator[Piece]:
        if not {"attachments", "prompt_attachments"} <= self._tables.keys():
            return
        query = (
            "SELECT a.type, COALESCE(a.path, a.url), a.content"
            " FROM prompt_attachments p JOIN attachments a ON a.id = p.attachment_id"
            ' WHERE p.response_id = ? ORDER BY p."order"'
        )
        for kind, name, data in self._connection.execute(query, (response,)):
            read = partial(bytes, data) if isinstance(data, bytes) and data else None
            yield file_piece(tally, _kind_of(kind), Path(text(name)).name, read)


class _Threads:
    """The schema since 0.32: threads, and a tree of messages identified by their hashes.

    A row of `turns` is one request to a model, with the messages that were its input and output.
    """

    def __init__(self, connection: sqlite3.Connection, tables: _Columns) -> None:
        self._connection, self._tables = connection, tables

    def conversations(self) -> Iterator[IncomingConversation]:
        query = _query(
            self._tables, "threads", "id name tip_message_hash datetime_utc", "ORDER BY rowid"
        )
        notes = self._notes()
        for identity, name, tip, dated in self._connection.execute(query).fetchall():
            tally, key = Tally(), text(identity) or text(tip)
            messages = self._messages([*self._tips_of(key), text(tip)], notes, tally)
            turns, places = tree_turns(messages, TurnMaker(tally))
            yield IncomingConversation(
                Origin(NAME, key),
                short_id(NAME, key),
                text(name),
                turns,
                tally,
                places.get(text(tip)) or None,
                moment_of(dated),
            )

    def _tips_of(self, thread: str) -> list[str]:
        """Return the hash of the last message of each request in a thread."""
        if "tip_message_hash" not in self._tables.get("turns", frozenset()):
            return []
        query = "SELECT tip_message_hash FROM turns WHERE thread_id = ? ORDER BY id"
        return [text(tip) for (tip,) in self._connection.execute(query, (thread,))]

    def _notes(self) -> dict[str, Note]:
        """Return the model and the time of each request, by the hash of its last message.

        All threads are included: a forked thread has messages from another thread's requests.
        """
        if "tip_message_hash" not in self._tables.get("turns", frozenset()):
            return {}
        query = _query(
            self._tables, "turns", "tip_message_hash model datetime_utc", "ORDER BY id DESC"
        )
        rows = self._connection.execute(query)
        return {text(tip): Note(moment_of(dated), text(model)) for tip, model, dated in rows}

    def _messages(
        self, tips: list[str], notes: Mapping[str, Note], tally: Tally
    ) -> dict[str, Message]:
        """Collect the messages on the paths to the tips, parents first."""
        found: dict[str, Message] = {}
        for tip in tips:
            path, at, note = dict[str, Message](), tip, Note()
            while at and at not in found and at not in path:
                note = notes.get(at, note)
                message = self._message(at, note, tally)
                if message is None:
                    tally.skip("missing message")
                    break
                path[at], at = message, message.parent or ""
            found |= dict(reversed(path.items()))
        return found

    def _message(self, wanted: str, note: Note, tally: Tally) -> Message | None:
        query = "SELECT parent_hash, role FROM messages WHERE hash = ?"
        row = self._connection.execute(query, (wanted,)).fetchone()
        if row is None:
            return None
        parent, role = row
        spoken = _ROLES.get(text(role))
        if spoken is None:
            tally.skip(INSTRUCTIONS if role == "system" else NO_ROLE)
            return Message(wanted, text(parent) or None, Role.USER, None)
        pieces = [piece for part in self._parts(wanted) for piece in self._pieces(part, tally)]
        return Message(wanted, text(parent) or None, spoken, pieces, note)

    def _parts(self, message: str) -> Iterator[Mapping[str, object]]:
        query = _query(
            self._tables, "parts", "type tool_name text payload",
            "WHERE message_hash = ? ORDER BY position",
        )  # fmt: skip
        for kind, tool, said, payload in self._connection.execute(query, (message,)).fetchall():
            fields = mapping(decoded(payload)) if isinstance(payload, str) else {}
            yield {"name": tool, **fields, "type": kind, "text": said or self._referred(fields)}

    def _referred(self, payload: Mapping[str, object]) -> str:
        """Return a part's text, assembled from fragments if it refers to any."""
        if "text_ref" not in payload:
            return text(payload.get("text"))
        query, said = "SELECT content FROM fragments WHERE id = ?", list[str]()
        for each in sequence(payload["text_ref"]):
            fields = mapping(each)
            number = fields.get("fragment")
            if isinstance(number, int) and "fragments" in self._tables:
                row = self._connection.execute(query, (number,)).fetchone()
                said.append(text(row[0]) if row else "[fragment that is not there]")
            else:
                said.append(text(fields.get("literal")))
        return "".join(said)

    def _pieces(self, part: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
        kind = text(part.get("type"))
        call = text(part.get("tool_call_id")) or text(part.get("name"))
        if kind == "text":
            yield Text(text(part.get("text")))
        elif kind == "reasoning":
            yield Thought(text(part.get("text")))
        elif kind == "tool_call":
            name = text(part.get("name")) or "tool"
            yield ToolCall(call, name, as_arguments(part.get("arguments")))
        elif kind == "tool_result":
            failure = text(part.get("exception"))
            said = text(part.get("output")) or text(part.get("text")) or failure
            yield Result(call, said, bool(failure))
        elif kind == "attachment":
            fields = mapping(part.get("attachment")) or part
            name = text(fields.get("path")) or text(fields.get("url"))
            file_kind = _kind_of(fields.get("type"))
            yield base64_piece(tally, file_kind, Path(name).name, text(fields.get("content")))
        else:
            tally.skip("part of unknown kind")


LLM_LOGS = Format(
    NAME, "the logs.db of llm", _matches, _read, _usual_place, "logs.db", "LLM_USER_PATH"
)
