"""Checking values built from untrusted fields against their types."""

from __future__ import annotations

import pytest

from jitchat.transfer.typed import is_typed
from jitchat.values import Limit, Role, Usage


@pytest.mark.parametrize(
    ("value", "kind", "is_so"),
    [
        (Limit(5, "set"), Limit, True),
        (Limit("5", "set"), Limit, False),  # type: ignore[arg-type]
        (Limit(True, "set"), Limit, False),
        (Usage(1, None, cost=2), Usage, True),
        (Usage(1, None, cost=float("inf")), Usage, False),
        (Usage(1, None, cost="much"), Usage, False),  # type: ignore[arg-type]
        (5, Limit, False),
        (("a", 1), tuple[str, int], True),
        (("a",), tuple[str, int], False),
        (("a", "b"), tuple[str, ...], True),
        (("a", 1), tuple[str, ...], False),
        (["a"], tuple[str, ...], False),
        (None, int | None, True),
        (Role.USER, Role, True),
        ("user", Role, True),
        ("nobody", Role, False),
    ],
)
def test_a_value_has_a_type_only_if_everything_in_it_does(value: object, kind: object, is_so: bool):
    assert is_typed(value, kind) is is_so
