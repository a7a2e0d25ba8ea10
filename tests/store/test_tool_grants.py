"""Tools that the user allowed permanently."""

from jitchat.store.database import Database
from jitchat.store.tool_grants import ToolGrants


def test_a_grant_holds_for_the_tool_as_it_was_described(database: Database):
    grants = ToolGrants(database)

    grants.put("files", "read", "old")
    grants.put("files", "read", "new")

    assert grants.has("files", "read", "new")
    assert not grants.has("files", "read", "old")
    assert not grants.has("files", "write", "new")
    assert not grants.has("other", "read", "new")


def test_the_grants_of_a_server_are_forgotten_together(database: Database):
    grants = ToolGrants(database)
    for server, tool in (("files", "read"), ("files", "list"), ("git", "log")):
        grants.put(server, tool, "d")

    grants.forget("files")

    assert not grants.has("files", "read", "d")
    assert not grants.has("files", "list", "d")
    assert grants.has("git", "log", "d")
