"""The token costs of a path's turns by one counter, cached so that they are not counted again.

The cache is valid only for the path and the version for which it was written, and can be rebuilt
at any time. It is deleted when the status of a turn changes.
"""

import sys
from array import array
from collections.abc import Sequence
from zlib import crc32

from jitchat import __version__
from jitchat.store.database import Database
from jitchat.store.path import Path


class TurnCosts:
    """The costs of the turns of one conversation."""

    def __init__(self, database: Database, conversation: str, counter: str) -> None:
        self._database = database
        self._key = conversation, f"{counter} {__version__} {sys.byteorder}"

    def read(self, path: Path) -> Sequence[int]:
        """Read the costs of the first turns of a path; 0 for a turn that no window shows.

        Empty if none are known, or the stored data is damaged.
        """
        row = self._database.fetch_one(
            "SELECT path, checksum, content FROM turn_costs WHERE conversation = ? AND counter = ?",
            self._key,
        )
        costs = array("I")
        if row is not None:
            stored_path, checksum, content = row
            if isinstance(content, bytes) and crc32(content) == checksum:
                costs.frombytes(content)
                del costs[path.count(path.shared(Path.of_start(stored_path))) :]
        return costs

    def write(self, path: Path, last: int, costs: Sequence[int]) -> None:
        """Store the costs of all turns of a path up to position `last`."""
        content = array("I", costs).tobytes()
        self._database.execute(
            "REPLACE INTO turn_costs VALUES (?, ?, ?, ?, ?, ?)",
            (*self._key, last, path.start(last), crc32(content), content),
        )
