"""A run as a file.

`JITCHAT_WRITE_GOLDEN=1 pytest tests/lab/test_export.py` rewrites the files of the small run.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab import note
from jitchat.lab import report as files
from jitchat.lab.experiment import Cell, Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.report import FORMATS, exported, html_page
from jitchat.lab.run_file import read
from jitchat.values import Mode
from tests.examples import examples
from tests.lab.some_results import EXPERIMENT, READER_RUN, RUN, result, results

FORMAT = Path(files.__file__).with_name("data") / "json_format.txt"
GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("JITCHAT_WRITE_GOLDEN")
HOSTILE = "\x1b]0;x\x07<script>&'\"]]>\u202e\ud800\uffff\0=1+1\n[red]"
TEXTS = st.text(st.characters(codec=None), max_size=30) | st.just(HOSTILE)


def hostile_run(text):
    asked = replace(EXPERIMENT, conversation=text, preset=text)
    return replace(
        RUN, experiment=asked, provider=text, model=text, embedder=text, counter=text, judge=text
    )


def hostile_result(text):
    changes = dict.fromkeys(
        ("rule", "question", "expected", "answer", "conversation", "note"), text
    )
    return result(Cell(1_000, 0.5, Kind.DIRECT, 1, Mode.JIT), **changes)


class Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.titles, self.texts = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.titles += [value for name, value in attrs if name == "title"]

    def handle_data(self, data):
        self.texts.append(" ".join(data.split()))


@pytest.mark.parametrize(
    ("ending", "found"),
    [("html", results()), ("json", results()[::19])],
)
def test_the_small_run_is_written_as_on_file(ending, found):
    made, path = exported(ending, READER_RUN, found), GOLDEN / f"small.{ending}"
    if WRITE:
        path.write_bytes(made)
    assert made == path.read_bytes()


def test_an_unknown_ending_is_refused():
    with pytest.raises(LookupError):
        exported("xlsx", RUN, [])


@pytest.mark.parametrize("found", [[], results()[:90]], ids=["none", "some"])
def test_a_run_that_goes_on_is_written_too(found):
    for ending in FORMATS:
        assert exported(ending, RUN, found)
    assert "·" in Page(html_page(RUN, found)).texts


@examples(12)
@given(TEXTS)
def test_what_others_wrote_breaks_no_file(text):
    run, found = hostile_run(text), [hostile_result(text)]
    files = {ending: exported(ending, run, found).decode() for ending in FORMATS}
    assert json.loads(files["json"])["cells"][0]["answer"] == text
    assert Page(files["html"]).tags == Page(html_page(RUN, results())).tags
    assert not set("\x1b\x07\u202e") & set(files["html"])


class TestJson:
    def test_every_cell_and_setting_is_in_it(self):
        made = json.loads(files.json_text(RUN, results()))
        assert len(made["cells"]) == made["run"]["experiment"]["repeats"] * 240
        assert read(Experiment, made["run"]["experiment"]) == EXPERIMENT
        assert made["run"]["settings"] == dict(RUN.settings)
        assert (made["schema"], made["caveat"]) == (files.SCHEMA, None)
        assert made["run"]["begun_at"] == "2026-11-24T15:40:00+00:00"

    def test_every_field_is_described(self):
        made = files.fields(READER_RUN, results())
        figures = made["figures"]
        groups = [made, made["run"], made["run"]["experiment"], figures, made["cells"][0]]
        groups += [figures["squares"][0], figures["by_kind"][0], figures["spent"][0]]
        groups += [next(each["usage"] for each in made["cells"] if each["usage"])]
        described = set(FORMAT.read_text().replace(",", " ").split())
        assert {name for group in groups for name in group} <= described


class TestPage:
    def test_it_needs_nothing_from_elsewhere_and_runs_nothing(self):
        made = html_page(READER_RUN, results())
        assert not any(each in made for each in ("http", "<script", "<img", "href", "@import"))

    def test_it_has_title_state_settings_tables_and_caveat(self):
        texts = Page(html_page(READER_RUN, results())).texts
        assert "Context rot: reader, 1k to 48k, Tue 24 Nov 15:40" in texts
        assert any(each.startswith("240 cells: 218 answered, 20 do not fit, 2") for each in texts)
        assert any("limit 32,768, reserve 2,048" in each for each in texts)
        assert "jit − full 16k 20 90 − 55 +35 (+7 to +57)" in " ".join(texts)
        assert note("reader") in " ".join(texts)
        assert note("reader") not in " ".join(Page(html_page(RUN, results())).texts)

    def test_each_mode_has_its_map_with_figures_where_it_is_pointed_at(self):
        made = Page(html_page(RUN, results()))
        assert "jit: 95 % of 78 (82–99)" in made.texts
        assert made.texts.count("48k") == 4, "above each map and below the curve"
        assert "25 % of 4 (5–70)" in made.titles
        assert made.titles.count("does not fit") == made.texts.count("n/f") == 5

    def test_the_curve_has_a_point_wherever_there_is_an_answer(self):
        made = html_page(RUN, results())
        assert made.count("<circle") == 4 * 3 - 1
        assert html_page(RUN, []).count("<circle") == 0
