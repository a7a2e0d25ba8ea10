"""The cold store: every conversation and its turns, at full fidelity.

Turns are ordered by position and conversations by a counter of touches, never by the clock. A
turn's text never changes once its status is final. A conversation is a tree; reads return the path
to its head, unless a position is given.
"""

import json
import os
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any

from jitchat.errors import ConversationDeleted, UnknownConversation, UsageError
from jitchat.statements import DELETED
from jitchat.store import search_index
from jitchat.store.database import Database
from jitchat.store.path import Path, Tree, tree_from, tree_of
from jitchat.store.search import EVERY, Filter, Matches, search_turns
from jitchat.store.unstored import UnstoredReplies
from jitchat.text.figures import local, moment_of
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.text.words import fold
from jitchat.tool_fields import use_fields, use_from
from jitchat.values import (
    DEFAULT_PROJECT,
    NO_TOOL_USE,
    Conversation,
    Role,
    Status,
    ToolUse,
    Turn,
)

TURN_COLUMNS = (
    "t.id, t.position, t.role, t.name, t.content, t.created_at, t.status, t.parent, t.tools,"
    " t.question"
)
"""Columns of the table `turns` as t, in the order that `turn_from` expects."""
_ROLES: dict[str, Role] = {role.value: role for role in Role}
_STATUSES: dict[str, Status] = {status.value: status for status in Status}
"""For 100,000 turns, these lookups take a third of the time of calling the enumeration."""


def turn_from(row: Sequence[Any]) -> Turn:
    """Build a turn from TURN_COLUMNS. Raises ValueError or TypeError for an invalid column."""
    identity, position, role, name, content, moment, status, parent, tools, question = row
    if not (isinstance(content, str) and isinstance(identity, int) and isinstance(position, int)):
        raise TypeError("not a turn")
    if name is not None:
        require(str, name)
    created_at = moment_of(moment) if moment else None
    spoken, ended = _ROLES.get(role) or Role(role), _STATUSES.get(status) or Status(status)
    use = use_from(json.loads(tools)) if tools else NO_TOOL_USE
    return Turn(position, spoken, content, created_at, name, ended, identity, parent, use, question)


INSERT_TURN = (
    "INSERT INTO turns"
    " (id, conversation, position, role, name, content, created_at, status, parent, tools,"
    " question)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
"""Parameters: an id, or None for the next one, then those of `turn_row`."""


def storable(turn: Turn, position: int, parent: int | None) -> Turn:
    """Return a turn with a position and parent, and its text, name and date made storable."""
    name = one_line(repair(turn.name)) if turn.name else None
    content, moment = repair(turn.content), _aware(turn.created_at)
    return replace(
        turn, position=position, parent=parent, content=content, name=name, created_at=moment
    )


def turn_row(conversation: str, turn: Turn) -> tuple[object, ...]:
    """Return the row of a storable turn."""
    moment = turn.created_at.isoformat() if turn.created_at else None
    return (
        *(conversation, turn.position, turn.role, turn.name, turn.content),
        *(moment, turn.status, turn.parent, tools_column(turn.use), turn.question),
    )


def tools_column(use: ToolUse) -> str | None:
    """Serialise a turn's tool use; None if it has none. Lone surrogates stay escaped."""
    return json.dumps(use_fields(use)) if use else None


def require(kind: type, *values: object) -> None:
    """Raise TypeError if a value is not of the type declared for its column: SQLite does not."""
    if not all(isinstance(value, kind) for value in values):
        raise TypeError(f"not {kind.__name__}")


def _aware(moment: datetime | None) -> datetime | None:
    """Treat a moment without a time zone as UTC, so that all can be compared."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


UNSETTLED = (Status.STREAMING, Status.UNANSWERED)
"""Turns that cannot be recalled: those being written, and messages without an answer."""
_IS_THERE = "SELECT 1 FROM conversations WHERE id = ? AND NOT deleted_by"
_LONGEST_PROJECT = 60
NEW_TITLE = "New conversation"
"""The title of an empty conversation."""
TEMPORARY_TITLE = "Temporary conversation"
LONGEST_TITLE = 200
_LONGEST_TAG = 40


_OBEYED = frozenset('$`\\"')
"""What a shell obeys even in double quotes: not in a name, which people type and scripts insert."""
SAFE_NAME = str.maketrans(dict.fromkeys(_OBEYED, "_"))
"""For `translate`: replaces what a name must not have."""


def project_name(name: str) -> str:
    """Return a project's name on one line, without surrounding spaces.

    Raises:
        UsageError: The name is empty, longer than 60 characters, or has a refused character.

    """
    plain = one_line(repair(name))
    if not plain or len(plain) > _LONGEST_PROJECT or _OBEYED & set(plain):
        raise UsageError(
            f"{shorten(name, _LONGEST_PROJECT)!r} is not a valid project name.",
            f'Use 1 to {_LONGEST_PROJECT} characters, none of them $, `, \\ or ".',
        )
    return plain


def tag_form(tag: str) -> str:
    """Return a tag in the form in which it is stored, whether it is valid or not."""
    return unicodedata.normalize("NFC", tag.removeprefix("#").lower())


def tag_name(tag: str) -> str:
    """Return a tag as one word in lower case, of at most 40 characters.

    Raises:
        UsageError: The tag is invalid.

    """
    plain = tag_form(one_line(repair(tag)))
    is_refused = any(c.isspace() or c in _OBEYED or c in ":," for c in plain)
    if not plain or len(plain) > _LONGEST_TAG or is_refused:
        raise UsageError(
            f"{shorten(tag, _LONGEST_TAG)!r} is not a valid tag.",
            f"A tag is one word of at most {_LONGEST_TAG} characters,"
            ' none of them $, `, \\, ", a colon or a comma.',
        )
    return plain


def title_text(title: str) -> str:
    """Return a conversation's title on one line, cut if it is very long.

    Raises:
        UsageError: The title is empty.

    """
    if plain := shorten(repair(title), LONGEST_TITLE):
        return plain
    raise UsageError(
        "A title needs a text.", "Name it: /rename TITLE, or jitchat conversations rename ID TITLE."
    )


def local_now() -> datetime:
    """Return the user's local time with its offset: the default clock, as shown on screen."""
    return local(datetime.now(UTC))


class ColdStore:
    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime] = local_now,
        heads: Mapping[str, int] | None = None,
    ) -> None:
        """`heads` override the stored heads of conversations, by id; see `with_head`."""
        self.database = database
        self.unstored = UnstoredReplies()
        self.now = clock
        self._heads = heads or {}

    def with_head(self, conversation: str, head: int) -> "ColdStore":
        """Return a view of the store in which a conversation's path leads to the turn at `head`.

        Nothing must be appended through the view.
        """
        return ColdStore(self.database, self.now, {conversation: head})

    def is_view(self, conversation: str) -> bool:
        """Whether this is a view with another head for the conversation."""
        return conversation in self._heads

    def create(
        self,
        title: str,
        wanted_id: str | None = None,
        project: str = DEFAULT_PROJECT,
        *,
        temporary: bool = False,
    ) -> Conversation:
        """Create an empty conversation. Its id is `wanted_id` made unique, or `chat-N`."""
        moment = self.now()
        if temporary:
            with self.database.writing() as connection:  # deleted rows are overwritten from now on
                connection.execute("PRAGMA secure_delete = ON")
        with self.database.write() as connection:
            fresh = unused_id(connection, wanted_id)
            connection.execute(
                "INSERT INTO conversations"
                " (id, title, touched, created_at, updated_at, project, temporary, title_given)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(fresh, one_line(title), next_touch(connection)),
                    *([moment.isoformat()] * 2),
                    *(project, os.getpid() if temporary else 0, title != NEW_TITLE),
                ),
            )
            search_index.add(connection, search_index.documents_of(connection, fresh))
        return Conversation(fresh, one_line(title), 0, moment, moment, project, temporary)

    def conversations(self, where: Filter = EVERY) -> list[Conversation]:
        """List all conversations, or those that match a filter, the most recent first."""
        return self._listed("listed", where.values)

    def _listed(self, statement: str, values: Mapping[str, object]) -> list[Conversation]:
        listed = []
        with self.database.read() as connection:
            for row in connection.execute(search_index.statement(statement), values):
                identity, title, created_at, updated_at, project, *marks, tags, persona = row[:9]
                require(str, identity, title, project)
                turns = len(tree_from(*row[9:]).path())
                dates = moment_of(created_at), moment_of(updated_at)
                details = project, *map(bool, marks), tuple(json.loads(tags)), persona or ""
                listed.append(Conversation(identity, title, turns, *dates, *details))
        return listed

    def conversation(self, wanted: str) -> Conversation:
        """Find a conversation by id, or by title if only one has it."""
        by_id = self._listed("by_id", {"id": repair(wanted)})
        if by_id:
            return by_id[0]
        known = self.conversations()
        by_title = [listed for listed in known if fold(listed.title) == fold(wanted)]
        if len(by_title) == 1:
            return by_title[0]
        raise UnknownConversation(
            f"There is no conversation {wanted!r}.",
            "`jitchat conversations` lists them." if known else "Import one, or start a chat.",
        )

    def latest(self, project: str | None = None, skipped: str = "") -> Conversation | None:
        """Return the most recent conversation, of any project or of one; None if there is none.

        Temporary and archived conversations are ignored, and the one with the id `skipped`.
        """
        listed = (known for known in self.conversations() if known.id != skipped)
        lasting = (known for known in listed if not (known.is_temporary or known.is_archived))
        return next((known for known in lasting if project in (None, known.project)), None)

    def projects(self) -> dict[str, int]:
        """Count the conversations of each project that has any, the most recent project first."""
        return Counter(known.project for known in self.conversations())

    def project_of(self, conversation: str) -> str:
        query = "SELECT project FROM conversations WHERE id = ?"
        row = self.database.fetch_one(query, (conversation,))
        return str(row[0]) if row is not None else DEFAULT_PROJECT

    def move(self, conversation: str, project: str) -> None:
        """Move a conversation to a project; memory distilled in the old one stays there."""
        statement = "UPDATE conversations SET project = ? WHERE id = ?"
        self.database.execute(statement, (project, conversation))

    def rename(self, conversation: str, title: str) -> None:
        """Set the user's title, which no generated title replaces.

        Raises:
            UsageError: The title is empty.

        """
        statement = "UPDATE conversations SET title = ?, title_given = 1 WHERE id = ?"
        self._set_title(statement, conversation, title)

    def suggest_title(self, conversation: str, title: str) -> None:
        """Set a generated title, unless the user or the source gave the conversation one."""
        statement = "UPDATE conversations SET title = ? WHERE id = ? AND NOT title_given"
        self._set_title(statement, conversation, title)

    def _set_title(self, statement: str, conversation: str, title: str) -> None:
        with search_index.changing(self.database, conversation=conversation) as connection:
            connection.execute(statement, (title_text(title), conversation))

    def lacks_title(self, conversation: str) -> bool:
        """Whether neither the user nor the source gave the conversation a title."""
        query = "SELECT 1 FROM conversations WHERE id = ? AND NOT title_given"
        return self.database.fetch_one(query, (conversation,)) is not None

    def archive(self, conversation: str, *, archived: bool) -> None:
        statement = "UPDATE conversations SET archived = ? WHERE id = ?"
        self.database.execute(statement, (archived, conversation))

    def tag(self, conversation: str, add: Iterable[str], remove: Iterable[str] = ()) -> None:
        """Add and remove tags; tags that are already there, or not there, are ignored.

        Raises:
            UsageError: A tag to add is invalid.

        """
        added = [(conversation, tag_name(tag)) for tag in add]
        removed = [(conversation, tag_form(tag)) for tag in remove]
        with search_index.changing(self.database, conversation=conversation) as connection:
            connection.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?)", added)
            connection.executemany("DELETE FROM tags WHERE conversation = ? AND tag = ?", removed)

    def path(self, conversation: str) -> Path:
        """Return the path to the conversation's head."""
        return self.tree(conversation).path()

    def turns(self, conversation: str, after: int = 0) -> list[Turn]:
        with self.database.read():
            return self.turns_of(conversation, self.path(conversation), after)

    def turns_of(self, conversation: str, path: Path, after: int = 0) -> list[Turn]:
        """Read the turns of a path after position `after`, in order."""
        with self.database.read() as connection:
            return [
                turn_from(row)
                for stretch in path.behind(after)
                for row in connection.execute(
                    f"SELECT {TURN_COLUMNS} FROM turns t"  # noqa: S608  a constant
                    " WHERE conversation = ? AND position BETWEEN ? AND ? ORDER BY position",
                    (conversation, *stretch),
                )
            ]

    def turns_at(self, conversation: str, positions: Sequence[int]) -> list[Turn]:
        """Read the existing turns at some positions, of any branch."""
        with self.database.read() as connection:
            rows = connection.execute(
                f"SELECT {TURN_COLUMNS} FROM turns t WHERE conversation = ?"  # noqa: S608  a constant
                " AND position IN (SELECT value FROM json_each(?))",
                (conversation, json.dumps(positions)),
            )
            return list(map(turn_from, rows))

    def turn(self, conversation: str, position: int) -> Turn | None:
        """Read one turn, of any branch; None if there is none."""
        only = Path(((position, position),))
        return next(iter(self.turns_of(conversation, only, position - 1)), None)

    def last_message(self, conversation: str, head: int) -> int:
        """Return the position of the last message on the path to a turn; 0 if there is none."""
        path = replace(self.tree(conversation), head=head).path()
        for stretch in reversed(path.stretches):
            row = self.database.fetch_one(
                "SELECT position FROM turns WHERE conversation = ? AND role = 'user'"
                " AND position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1",
                (conversation, *stretch),
            )
            if row is not None:
                return int(row[0])
        return 0

    def first_unfinished(self, conversation: str, after: int) -> int | None:
        """Return the first position after another at which a reply is being written, or None."""
        query = (
            "SELECT MIN(position) FROM turns"
            " WHERE conversation = ? AND position > ? AND status = 'streaming'"
        )
        found = self.database.fetch_one(query, (conversation, after))[0]
        return None if found is None else int(found)

    def append(
        self, conversation: str, turns: Iterable[Turn], under: int | None = None
    ) -> list[Turn]:
        """Store turns in one transaction, each after the previous one, and return them.

        The first follows the turn at position `under`, or the head. The last becomes the head.
        The positions of the given turns are ignored: new ones are assigned.
        """
        with self.database.write() as connection:
            if connection.execute(_IS_THERE, (conversation,)).fetchone() is None:
                raise ConversationDeleted(
                    "This conversation has been deleted; nothing was stored.",
                    "Start a new one with /new or --new.",
                )
            tree = self.tree(conversation)
            parent, stored = tree.head if under is None else under, list[Turn]()
            for position, turn in enumerate(turns, start=tree.last + 1):
                fork = None if parent == position - 1 else parent
                kept = storable(turn, position, fork)
                cursor = connection.execute(INSERT_TURN, (None, *turn_row(conversation, kept)))
                stored.append(replace(kept, id=cursor.lastrowid or 0))
                parent = position
            search_index.add(connection, [turn.id for turn in stored])
            connection.execute(
                "UPDATE conversations SET touched = ?, updated_at = ? WHERE id = ?",
                (next_touch(connection), self.now().isoformat(), conversation),
            )
            look_at(connection, conversation, parent)
        return stored

    def branches(self, conversation: str) -> dict[int, tuple[int, ...]]:
        """Return the versions of each turn of the path that has several, itself included.

        By position. Versions are children of the same parent with the same role.
        """
        with self.database.read() as connection:
            tree = self.tree(conversation)
            path, versions = tree.path(), dict[int, tuple[int, ...]]()
            for family in tree.children(set(tree.forks.values())).values():
                rows = connection.execute(
                    "SELECT position, role FROM turns WHERE conversation = ?"
                    " AND position IN (SELECT value FROM json_each(?))",
                    (conversation, json.dumps(family)),
                )
                roles = dict(rows.fetchall())
                for place in filter(path.__contains__, family):
                    alike = tuple(other for other in family if roles[other] == roles[place])
                    if len(alike) > 1:
                        versions[place] = alike
        return versions

    def switch_to(self, conversation: str, position: int) -> None:
        """Switch to the branch of the turn at `position`: the head becomes its latest descendant.

        If the path contains the turn already, the head stays.
        """
        with self.database.write() as connection:
            tree = self.tree(conversation)
            if position not in tree.path():
                look_at(connection, conversation, tree.leaf_below(position))

    def set_status(self, turn: Turn, status: Status) -> None:
        with search_index.changing(self.database, [turn.id]) as connection:
            connection.execute("UPDATE turns SET status = ? WHERE id = ?", (status, turn.id))

    def set_uses(self, uses: Mapping[Turn, ToolUse]) -> None:
        """Replace the tool use of turns; their text never changes."""
        ids = [turn.id for turn in uses]
        with search_index.changing(self.database, ids) as connection:
            connection.executemany(
                "UPDATE turns SET tools = ? WHERE id = ?",
                [(tools_column(use), turn.id) for turn, use in uses.items()],
            )

    def search(
        self, text: str, limit: int = 50, conversation: str | None = None, where: Filter = EVERY
    ) -> Matches:
        """Find turns with all phrases of `text`, in some conversations or one, the best first."""
        with self.database.read() as connection:
            return search_turns(connection, text, limit, conversation, where)

    def tree(self, conversation: str) -> Tree:
        """Read the tree of a conversation's turns; empty if the conversation does not exist."""
        with self.database.read() as connection:
            tree = tree_of(connection, conversation)
        return replace(tree, head=self._heads.get(conversation, tree.head))


def look_at(connection: sqlite3.Connection, conversation: str, position: int) -> None:
    """Make the turn at `position` the head; for the last turn, nothing is stored."""
    connection.execute(
        "UPDATE conversations SET head = NULLIF(:head,"
        " (SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = :id))"
        " WHERE id = :id",
        {"head": position, "id": conversation},
    )


def next_touch(connection: sqlite3.Connection) -> int:
    query = "SELECT COALESCE(MAX(touched), 0) + 1 FROM conversations"
    return int(connection.execute(query).fetchone()[0])


def unused_id(connection: sqlite3.Connection, wanted: str | None) -> str:
    """Make an unused conversation id from `wanted`, or `chat-N` if it is None.

    No `chat-N` is used twice, because a process may still have a deleted conversation open.
    """
    query = "SELECT 1 FROM conversations WHERE id = ?"
    while not wanted:
        counted = "UPDATE last_chat SET number = number + 1 RETURNING number"
        name = f"chat-{connection.execute(counted).fetchone()[0]}"
        if connection.execute(query, (name,)).fetchone() is None:
            return name
    base = re.sub(r"[^a-z0-9._-]+", "-", fold(wanted)).strip("-.") or "chat"
    tried = chain([base], (f"{base}-{number}" for number in count(2)))
    return next(
        each
        for each in tried
        if each != DELETED and connection.execute(query, (each,)).fetchone() is None
    )
