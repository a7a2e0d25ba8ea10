"""The names under which tools of servers are offered."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from jitchat.tools.mcp.names import offered_names

VALID = re.compile(r"files__[A-Za-z0-9_-]+")


@given(st.lists(st.text(max_size=90), max_size=8))
def test_every_tool_has_a_name_of_its_own_that_all_protocols_take(names: list[str]):
    given_names = offered_names("files", names)

    assert given_names.keys() == set(names)
    assert len(set(given_names.values())) == len(given_names)
    assert all(VALID.fullmatch(name) and len(name) <= 64 for name in given_names.values())
    assert offered_names("files", reversed(names)) == given_names


def test_a_name_that_fits_is_kept_and_another_is_told_apart_by_a_digest():
    names = offered_names("files", ["read", "read.it", "read it", "r" * 80])

    assert names["read"] == "files__read"
    assert re.fullmatch(r"files__read_it_[0-9a-f]{6}", names["read.it"])
    assert names["read.it"] != names["read it"]
    assert len(names["r" * 80]) == 64


def test_a_tool_that_takes_the_changed_name_of_another_keeps_it():
    changed = offered_names("files", ["read it"])["read it"]
    taken = changed.removeprefix("files__")

    names = offered_names("files", ["read it", taken])

    assert names[taken] == changed
    assert names["read it"] != changed
