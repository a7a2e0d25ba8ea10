"""Names of conversations and projects for shell completion.

The file is opened read-only and neither migrated nor waited for, because a shell blocks until the
completions are printed.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

_PATIENCE = 0.2
"""Seconds to wait for a lock."""
_QUERY = """
    SELECT id, title, project FROM conversations WHERE NOT deleted_by AND NOT archived
    ORDER BY touched DESC LIMIT 500
"""


class ConversationName(NamedTuple):
    id: str
    title: str
    project: str


def conversation_names(path: Path) -> list[ConversationName]:
    """List conversations, most recent first; empty if the file is missing, busy or older."""
    with suppress(sqlite3.Error):
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, timeout=_PATIENCE, uri=True)) as connection:
            return [ConversationName(*map(str, row)) for row in connection.execute(_QUERY)]
    return []
