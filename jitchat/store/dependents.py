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
    UNION SELECT turn FROM pieces UNION SELECT turn FROM windows UNION SELECT reply FROM windows
    UNION SELECT turn FROM held_turns
    UNION SELECT said FROM cases UNION SELECT wanted FROM cases
    UNION SELECT t.id FROM facts f
    JOIN turns t ON t.conversation = f.conversation AND t.position BETWEEN f.first AND f.last
"""
_WRITTEN_HERE = """
    SELECT t.position FROM turns t LEFT JOIN imported_turns i ON i.turn = t.id
    WHERE t.conversation = ? AND i.turn IS NULL
"""


class Dependents:
    """Answers for one transaction; the first answer reads the lists of all stored windows."""

    def __init__(self, store: ColdStore) -> None:
        self._store = store
        self._paths: dict[str, list[Path]] = {}
        """The paths to the last turns that were written here, by conversation."""

    @cached_property
    def _quoted(self) -> set[int]:
        return {turn for (turn,) in self._store.database.fetch_all(_QUOTED)}

    def has_dependents(self, conversation: str, turn_id: int, position: int) -> bool:
        if conversation not in self._paths:
            tree = self._store.tree(conversation)
            rows = self._store.database.fetch_all(_WRITTEN_HERE, (conversation,))
            written = {place for (place,) in rows}
            ends = written - {tree.parent_of(place) for place in written}
            self._paths[conversation] = [replace(tree, head=end).path() for end in ends]
        on_path = any(position in path for path in self._paths[conversation])
        return on_path or turn_id in self._quoted
