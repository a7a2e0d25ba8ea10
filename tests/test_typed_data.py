"""Reading values from untrusted JSON: everything in them has the type of its field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from jitchat.statements import Fact, FactKind, Source
from jitchat.typed_data import INVALID, read
from jitchat.values import Limit, Role, Usage

FACT = {"id": 1, "text": "x", "kind": "stated", "source": {"first": 1, "last": 2}}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Limit, {"tokens": 5, "source": "set"}, Limit(5, "set")),
        (Usage, {"input_tokens": 1, "output_tokens": None, "cost": 2}, Usage(1, None, cost=2)),
        (tuple[str, ...], ["a"], ("a",)),
        (int | None, None, None),
        (Role, "user", Role.USER),
        (date, "2026-03-02", date(2026, 3, 2)),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (Fact, FACT, Fact(1, "x", FactKind.STATED, Source(1, 2))),
    ],
)
def test_a_value_is_read_as_its_type(kind: object, value: object, expected: object):
    assert read(kind, value) == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Limit, {"tokens": "5", "source": "set"}),
        (Limit, {"tokens": True, "source": "set"}),
        (Limit, {"tokens": 5}),
        (Limit, 5),
        (Usage, {"input_tokens": 1, "output_tokens": None, "cost": float("inf")}),
        (Usage, {"input_tokens": 1, "output_tokens": None, "cost": "much"}),
        (tuple[str, ...], ["a", 1]),
        (tuple[str, ...], "a"),
        (Role, "nobody"),
        (date, "never"),
        (Mapping[str, int], {"a": "1"}),
        (Fact, FACT | {"source": {"first": 1}}),
    ],
)
def test_a_value_of_another_type_is_refused(kind: object, value: object):
    with pytest.raises(INVALID):
        read(kind, value)
