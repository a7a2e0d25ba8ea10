"""The `logs.db` of `llm`, in both schemas.

Up to 0.31, a response includes its prompt and belongs to a conversation. Since 0.32, threads point
into a tree of messages, each identified by its hash and its parent's hash. A migrated database has
both: a conversation that is also a thread is read only once.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer.attached import base64_piece, file_piece, text_piece, url_piece
from jitchat.transfer.census import rules_of
from jitchat.transfer.format import Environment, Format, Sample
from jitchat.transfer.incoming import NO_ROLE, IncomingConversation, Tally
from jitchat.transfer.json_text import decoded, mapping, moment_of, sequence, text
from jitchat.transfer.pieces import Piece, Result, Text, Thought, call_piece, with_files
from jitchat.transfer.source import Source, SourceFile, foreign_errors, open_read_only, tables_of
from jitchat.transfer.turns import Message, Note, TurnMaker, tree_turns
from jitchat.values import Role

NAME = "llm"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.USER}
_JOINED = re.compile(r"JOIN (\w+)")
_Row = Mapping[str, object]
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
    if file.path is None:
        return
    with foreign_errors(file.path), closing(open_read_only(file.path)) as connection:
        tables = tables_of(connection)
        threads = set[str]()
        for found in _Threads(connection, tables).conversations():
            threads.add(found.origin.key)
            yield found
        for found in _Responses(connection, tables).conversations(threads):
            found.turns = _guarded(found.turns, file.path)
            yield found
        for table in tables:
            if f"table {table}" not in rules_of(NAME).excluded:
                source.tally.skip(f"table that is not read ({table})")


def _guarded(turns: Iterable[IncomingTurn], path: Path) -> Iterator[IncomingTurn]:
    with foreign_errors(path):
        yield from turns


@dataclass(frozen=True, slots=True)
class _Logs:
    """The rows of a database, each with all columns that its schema has."""

    connection: sqlite3.Connection
    tables: _Columns

    def rows(self, tally: Tally | None, table: str, rest: str, *values: object) -> list[_Row]:
        """Read rows; none if a table is missing. `rest` follows the table's name in the query.

        They are noted in the tally of the conversation that they belong to, if it is given.
        """
        if not {table, *_JOINED.findall(rest)} <= self.tables.keys():
            return []
        query = f"SELECT {table}.* FROM {table} {rest}"  # noqa: S608  constants
        read = self.connection.execute(query, values)
        names = [column[0] for column in read.description]
        rows: list[_Row] = [dict(zip(names, row, strict=True)) for row in read]
        if tally is not None:
            payloads = [decoded(text(row.get("payload")) or "null") for row in rows]
            tally.read({table: [{**row, "payload": None} for row in rows], "payload": payloads})
        return rows

    def files(self, tally: Tally, links: str, owner: str, identity: object) -> Iterator[Piece]:
        """Read the attachments of a row, which a table of links names."""
        rest = f'JOIN {links} ON attachment_id = attachments.id WHERE {owner} = ? ORDER BY "order"'
        for row in self.rows(tally, "attachments", rest, identity):
            kind, data = text(row.get("type")).partition("/")[0], row.get("content")
            kind = kind if kind in ("image", "audio", "video") else "file"
            name, url = Path(text(row.get("path"))).name, text(row.get("url"))
            if isinstance(data, bytes) and data:
                yield file_piece(tally, kind, name or Path(url).name, partial(bytes, data))
            else:
                yield url_piece(tally, kind, name, url)


class _Responses(_Logs):
    """The schema before 0.32."""

    def conversations(self, known: set[str]) -> Iterator[IncomingConversation]:
        if not _has_responses(self.tables):
            return
        firsts = self.connection.execute(
            "SELECT conversation_id, MIN(rowid) FROM responses"
            " GROUP BY COALESCE(conversation_id, id) ORDER BY 2"
        ).fetchall()
        for conversation, first in firsts:
            key = text(conversation) or f"response-{first}"
            if key in known:
                continue
            found = IncomingConversation(Origin(NAME, key))
            named = self.rows(found.tally, "conversations", "WHERE id = ?", conversation)
            found.title = text(named[0].get("name")) if named else ""
            found.turns = self._turns(found, conversation, first)
            yield found

    def _turns(
        self, found: IncomingConversation, conversation: object, first: int
    ) -> Iterator[IncomingTurn]:
        tally = found.tally
        maker = TurnMaker(tally)
        where = "WHERE conversation_id = ? OR (? IS NULL AND rowid = ?) ORDER BY rowid"
        for row in self.rows(tally, "responses", where, conversation, conversation, first):
            identity = row["id"]
            note = Note(moment_of(row.get("datetime_utc")), text(row.get("model")))
            rules = self._fragments(identity, "system_fragments", tally)
            system = [text(rule.get("content")) for rule in rules]
            system.append(text(row.get("system")))
            found.instructions.append("\n\n".join(part for part in system if part))
            said = [*self._results(identity, tally)]
            for fragment in self._fragments(identity, "prompt_fragments", tally):
                name = Path(text(fragment.get("source"))).name or "fragment"
                said.append(text_piece(tally, name, text(fragment.get("content"))))
            said.append(Text(text(row.get("prompt"))))
            said += self.files(tally, "prompt_attachments", "response_id", identity)
            answer: list[Piece] = [Thought(text(row.get("reasoning")))]
            answer += [Text(text(row.get("response"))), *self._calls(identity, tally)]
            if any(not isinstance(piece, Text) or piece.text for piece in said):
                yield from maker.turns(f"{identity} prompt", Role.USER, said, None, note)
            yield from maker.turns(f"{identity} response", Role.ASSISTANT, answer, None, note)

    def _fragments(self, response: object, links: str, tally: Tally) -> list[_Row]:
        """Read the fragments that precede a prompt or a system prompt."""
        rest = f'JOIN {links} ON fragment_id = fragments.id WHERE response_id = ? ORDER BY "order"'
        return self.rows(tally, "fragments", rest, response)

    def _calls(self, response: object, tally: Tally) -> Iterator[Piece]:
        where = "WHERE response_id = ? ORDER BY rowid"
        for row in self.rows(tally, "tool_calls", where, response):
            yield call_piece(row.get("tool_call_id"), row.get("name"), row.get("arguments"))

    def _results(self, response: object, tally: Tally) -> Iterator[Piece]:
        where = "WHERE response_id = ? ORDER BY rowid"
        for row in self.rows(tally, "tool_results", where, response):
            links = ("tool_results_attachments", "tool_result_id")
            yield _result(row, [*self.files(tally, *links, row.get("id"))])


def _result(fields: _Row, attached: Sequence[Piece]) -> Piece:
    failure = text(fields.get("exception"))
    parts = (text(fields.get("output")) or text(fields.get("text")), failure)
    said = "\n".join(part for part in parts if part)
    call = text(fields.get("tool_call_id")) or text(fields.get("name"))
    return with_files(Result(call, said, bool(failure)), attached)


class _Threads(_Logs):
    """The schema since 0.32: threads, and a tree of messages identified by their hashes.

    A row of `turns` is one request to a model, with the messages that were its input and output.
    """

    def conversations(self) -> Iterator[IncomingConversation]:
        if not _has_threads(self.tables):
            return
        notes = dict[str, Note]()
        for row in self.rows(None, "turns", "ORDER BY id DESC"):  # of all: a thread may be
            # forked, so that it has messages from another one's requests
            note = Note(moment_of(row.get("datetime_utc")), text(row.get("model")))
            notes[text(row["tip_message_hash"])] = note
        for row in self.rows(None, "threads", "ORDER BY rowid"):
            tally, tip = Tally(), text(row["tip_message_hash"])
            tally.read({"threads": row})
            key = text(row["id"]) or tip
            requests = self.rows(tally, "turns", "WHERE thread_id = ? ORDER BY id", key)
            tips = [*(text(request["tip_message_hash"]) for request in requests), tip]
            found = IncomingConversation(Origin(NAME, key), text(row.get("name")), (), tally)
            turns, places = tree_turns(self._messages(tips, notes, found), TurnMaker(tally))
            found.turns, found.head = turns, places.get(tip) or None
            found.created_at = moment_of(row.get("datetime_utc"))
            yield found

    def _messages(
        self, tips: list[str], notes: Mapping[str, Note], found: IncomingConversation
    ) -> dict[str, Message]:
        """Collect the messages on the paths to the tips, parents first."""
        messages: dict[str, Message] = {}
        for tip in tips:
            path, at, note = dict[str, Message](), tip, Note()
            while at and at not in messages and at not in path:
                note = notes.get(at, note)
                message = self._message(at, note, found)
                if message is None:
                    found.tally.skip("missing message")
                    break
                path[at], at = message, message.parent or ""
            messages |= dict(reversed(path.items()))
        return messages

    def _message(self, wanted: str, note: Note, found: IncomingConversation) -> Message | None:
        rows = self.rows(found.tally, "messages", "WHERE hash = ?", wanted)
        if not rows:
            return None
        role, parent = text(rows[0]["role"]), text(rows[0]["parent_hash"]) or None
        pieces = [piece for part in self._parts(wanted, found.tally) for piece in part]
        if role not in _ROLES:
            said = "\n\n".join(piece.text for piece in pieces if isinstance(piece, Text))
            if role == "system":
                found.instructions.append(said)
            else:
                found.tally.skip(NO_ROLE, said)
            return Message(wanted, parent, Role.USER, None)
        return Message(wanted, parent, _ROLES[role], pieces, note)

    def _parts(self, message: str, tally: Tally) -> Iterator[Iterator[Piece]]:
        where = "WHERE message_hash = ? ORDER BY position"
        for row in self.rows(tally, "parts", where, message):
            payload = mapping(decoded(text(row.get("payload")) or "{}"))
            said = text(row.get("text")) or self._referred(payload, tally)
            fields = {"name": row.get("tool_name"), **payload, "type": row["type"], "text": said}
            attached = [*self.files(tally, "part_attachments", "part_id", row["id"])]
            yield self._pieces(fields, attached, tally)

    def _referred(self, payload: _Row, tally: Tally) -> str:
        """Return a part's text, assembled from fragments if it refers to any."""
        if "text_ref" not in payload:
            return text(payload.get("text"))
        said = list[str]()
        for part in [mapping(part) for part in sequence(payload["text_ref"])]:
            if "fragment" in part:
                rows = self.rows(tally, "fragments", "WHERE id = ?", part["fragment"])
                said.append(text(rows[0]["content"]) if rows else "[fragment that is not there]")
            else:
                said.append(text(part.get("literal")))
        return "".join(said)

    def _pieces(self, part: _Row, attached: list[Piece], tally: Tally) -> Iterator[Piece]:
        kind, said = text(part["type"]), text(part["text"])
        if kind == "text":
            yield Text(said)
        elif kind == "reasoning":
            yield Thought(said)
        elif kind == "tool_call":
            yield call_piece(part.get("tool_call_id"), part.get("name"), part.get("arguments"))
        elif kind == "tool_result":
            yield _result(part, attached)
        elif kind == "attachment" and not attached:
            fields = mapping(part.get("attachment")) or part
            name = Path(text(fields.get("path")) or text(fields.get("url"))).name
            file_kind = text(fields.get("type")).partition("/")[0]
            yield base64_piece(tally, file_kind, name, text(fields.get("content")))
        elif kind != "attachment":
            tally.skip("part of unknown kind", part)
        if kind != "tool_result":
            yield from attached


LLM_LOGS = Format(
    NAME, "the logs.db of llm", _matches, _read, _usual_place, "logs.db", "LLM_USER_PATH"
)
