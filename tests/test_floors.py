"""The lowest versions of pyproject.toml: those that were run."""

from __future__ import annotations

from tools.floors import LIST, differences, floors, versions


def test_the_lowest_versions_are_those_that_were_run() -> None:
    wanted = floors()
    assert wanted["textual"] == "8.2.5", "the first with Theme.ansi"
    assert differences(wanted, versions(LIST.read_text(encoding="utf-8"))) == []


def test_a_version_that_was_not_run_is_reported() -> None:
    wanted = {"click": "8.3", "rich": "14.2", "regex": "1"}
    assert differences(wanted, {"click": "8.3.0", "rich": "14.3"}) == [
        "rich: pyproject.toml names 14.2, 14.3 was run",
        "regex: pyproject.toml names 1, nothing was run",
    ]
