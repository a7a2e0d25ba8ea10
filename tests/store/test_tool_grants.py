"""Tools that the user allowed permanently."""

from jitchat.store.database import Database
from jitchat.store.tool_grants import ToolGrants


def test_a_grant_has_the_definition_of_the_tool_as_it_was(database: Database):
    grants = ToolGrants(database)

    grants.put("files", "read", "old")
    grants.put("files", "read", "new")

    assert grants.definition("files", "read") == "new"
    assert grants.definition("files", "write") is None
    assert grants.definition("other", "read") is None


def test_the_grants_of_a_server_are_forgotten_together(database: Database):
    grants = ToolGrants(database)
    for server, tool in (("files", "read"), ("files", "list"), ("git", "log")):
        grants.put(server, tool, "d")

    grants.forget("files")

    assert grants.definition("files", "read") is None
    assert grants.definition("files", "list") is None
    assert grants.definition("git", "log") == "d"


def test_a_seal_has_the_names_of_variables_and_differs_with_the_key(database: Database):
    grants, path = ToolGrants(database), database.path.with_name("grants.key")

    assert grants.seal("${A}") == "${A}"
    assert not path.exists()
    sealed = grants.seal("Bearer ${A:-0123456789}")
    assert sealed.startswith("${A}•")
    assert "0123456789" not in sealed
    assert ToolGrants(database).seal("Bearer ${A:-0123456789}") == sealed
    assert grants.seal("Bearer ${A:-9876543210}") != sealed
    path.write_bytes(b"another key")
    assert ToolGrants(database).seal("Bearer ${A:-0123456789}") != sealed
