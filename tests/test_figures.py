"""The figures of the documentation: each has a row that says how it was measured."""

from __future__ import annotations

import pytest

from tools import figures

KNOWN = figures.runs()
VALUES = figures.texts(KNOWN)


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: page.stem)
def test_the_figures_of_a_page_are_those_that_were_measured(page):
    text = page.read_text(encoding="utf-8")
    assert figures.updated(text, VALUES) == text, "write them anew: python -m tools.figures"


def test_every_row_is_shown_and_says_how_it_was_measured():
    named = [name for page in figures.pages() for name in figures.named(page.read_text("utf-8"))]
    for run, table in KNOWN.items():
        assert table.keys() >= {"command", "data", "embedder", "sources", "commit", "date"}, run
        assert all((figures.ROOT / source).exists() for source in table["sources"]), run
    assert {name.partition(".")[0] for name in named} == KNOWN.keys()


def test_a_value_is_written_as_its_page_shows_it():
    assert figures.shown(0.9804, "") == ".980"
    assert figures.shown(0.0614, "percent") == "6"
    assert figures.shown(7940.0, "") == "7,940"
    assert figures.shown(1.25, "") == "1.2"
    assert figures.updated("of .9<!-- a.b --> in 7<!-- a.c -->", {"a.b": ".95", "a.c": "8"}) == (
        "of .95<!-- a.b --> in 8<!-- a.c -->"
    )
    with pytest.raises(KeyError):
        figures.updated(".9<!-- a.z -->", {})


def test_a_value_is_taken_with_its_number_of_cases_and_its_interval():
    found = {"jit": {"n": 60, "any": 0.98331, "intervals": {"any": [0.9114, 0.997]}}}
    assert figures._taken(found, "jit/any") == {
        "value": 0.9833, "n": 60, "low": 0.9114, "high": 0.997,
    }  # fmt: skip
