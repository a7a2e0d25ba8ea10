"""What stands on turns here, so that their text must stay as it is.

A stored window quotes its turns by reference: with another text, its replay and digest would be
others. What was written here continues the turns before it, and pins, facts and reports about
replies were made on their text.
"""

from dataclasses import replace
from functools import cached_property

from jitchat.store.path import Path
from jitchat.store.store import ColdStore

_QUOTED = """
    SELECT DISTINCT json_extract(s.value, '$.same_as')
    FROM (SELECT DISTINCT l.value AS digest FROM windows w, json_each(w.segments) l) lists
    JOIN blobs b ON b.digest = lists.digest, json_each(b.content) s
    WHERE json_extract(s.value, '$.same_as') IS NOT NULL
    UNION SELECT turn FROM windows UNION SELECT reply FROM windows
    UNION SELECT turn FROM held_turns
    UNION SELECT said FROM cases UNION SELECT wanted FROM cases
"""
_STATED = """
    SELECT t.id FROM facts f
    JOIN turns t ON t.conversation = f.conversation AND t.position BETWEEN f.first AND f.last
    WHERE f.conversation = ?
"""
_WRITTEN_HERE = """
    SELECT t.position FROM turns t LEFT JOIN imported_turns i ON i.turn = t.id
    WHERE t.conversation = ? AND i.turn IS NULL
"""


class Dependents:
    """Answers for one transaction; the first answer reads all stored windows' lists."""

    def __init__(self, store: ColdStore) -> None:
        self._store = store
        self._by_conversation: dict[str, tuple[set[int], list[Path]]] = {}

    @cached_property
    def _quoted(self) -> set[int]:
        return {turn for (turn,) in self._store.database.fetch_all(_QUOTED)}

    def has_dependents(self, conversation: str, turn_id: int, position: int) -> bool:
        if conversation not in self._by_conversation:
            self._by_conversation[conversation] = self._read(conversation)
        stated, paths = self._by_conversation[conversation]
        is_quoted = turn_id in self._quoted or turn_id in stated
        return is_quoted or any(position in path for path in paths)

    def _read(self, conversation: str) -> tuple[set[int], list[Path]]:
        """Return the ids of turns with facts, and the paths to the turns that were written here."""
        database, tree = self._store.database, self._store.tree(conversation)
        stated = {turn for (turn,) in database.fetch_all(_STATED, (conversation,))}
        rows = database.fetch_all(_WRITTEN_HERE, (conversation,))
        written = {position for (position,) in rows}
        # the path to a turn contains those to the turns written before it on the same path
        inner = {tree.parent_of(position) for position in written}
        ends = written - inner
        return stated, [replace(tree, head=position).path() for position in ends]
