"""Tools that the user allowed permanently, by server and tool, each with its definition."""

import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from secrets import token_bytes

from jitchat.paths import is_missing, replace_file
from jitchat.store.database import Database
from jitchat.text.variables import variables_in


class ToolGrants:
    def __init__(
        self, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database, self._now = database, now

    def definition(self, server: str, tool: str) -> str | None:
        """Return the definition with which the tool was allowed; None if it was not."""
        query = "SELECT definition FROM tool_grants WHERE server = ? AND tool = ?"
        row = self._database.fetch_one(query, (server, tool))
        return None if row is None else str(row[0])

    def put(self, server: str, tool: str, definition: str) -> None:
        """Allow a tool with its current definition, replacing the previous grant."""
        self._database.execute(
            "REPLACE INTO tool_grants (server, tool, digest, definition, granted_at)"
            " VALUES (?, ?, '', ?, ?)",
            (server, tool, definition, self._now().isoformat()),
        )

    def seal(self, text: str) -> str:
        """Return the names of a text's variables, and a keyed hash if it has anything else.

        Raises:
            OSError: The key of the hash cannot be read or written.

        """
        names = "".join(f"${{{name}}}" for name in variables_in(text))
        if names == text:
            return text
        return f"{names}•{hmac.digest(self._key, text.encode(), 'sha256').hex()}"

    @cached_property
    def _key(self) -> bytes:
        """A random key beside the database, so that a copy of the database alone has no hint."""
        path = self._database.path.with_name("grants.key")
        if is_missing(path):
            replace_file(path, token_bytes(32))
        return path.read_bytes()

    def forget(self, server: str) -> None:
        """Revoke all grants for a server's tools."""
        self._database.execute("DELETE FROM tool_grants WHERE server = ?", (server,))
