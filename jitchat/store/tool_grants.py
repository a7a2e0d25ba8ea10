"""Tools that the user allowed permanently, by server and tool, each bound to its description."""

from collections.abc import Callable
from datetime import UTC, datetime

from jitchat.store.database import Database


class ToolGrants:
    def __init__(
        self, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database, self._now = database, now

    def has(self, server: str, tool: str, digest: str) -> bool:
        """Whether the tool is allowed with its current description."""
        query = "SELECT 1 FROM tool_grants WHERE server = ? AND tool = ? AND digest = ?"
        return self._database.fetch_one(query, (server, tool, digest)) is not None

    def put(self, server: str, tool: str, digest: str) -> None:
        """Allow a tool with its current description, replacing the previous grant."""
        self._database.execute(
            "INSERT INTO tool_grants (server, tool, digest, granted_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (server, tool) DO UPDATE SET"
            " digest = excluded.digest, granted_at = excluded.granted_at",
            (server, tool, digest, self._now().isoformat()),
        )

    def forget(self, server: str) -> None:
        """Revoke all grants for a server's tools."""
        self._database.execute("DELETE FROM tool_grants WHERE server = ?", (server,))
