"""Variables in configuration text."""

from __future__ import annotations

import pytest

from jitchat.text.variables import expanded, variables_in


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${HOST}/v1", "example.org/v1"),
        ("${PORT:-80}", "80"),
        ("${EMPTY:-80}", "80"),
        ("${PORT:-}", ""),
        ("$HOST ${} {HOST}", "$HOST ${} {HOST}"),
        ("${HOST}${HOST}", "example.orgexample.org"),
    ],
)
def test_variables_are_filled_in_and_defaults_stand_for_those_that_are_not_set(text, filled):
    assert expanded(text, {"HOST": "example.org", "EMPTY": ""}) == filled


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(LookupError, match=r"^HOST$"):
        expanded("https://${HOST}/", {})


def test_required_variables_are_distinguished_from_optional_ones():
    text = "${A}-${B:-b}-${C}"
    assert variables_in(text) == ("A", "B", "C")
    assert variables_in(text, required=True) == ("A", "C")
