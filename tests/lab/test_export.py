"""A run as a file.

`JITCHAT_WRITE_GOLDEN=1 pytest tests/lab/test_export.py` rewrites the files of the small run.
"""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.experiment import Cell, Experiment, preset
from jitchat.lab.export import files
from jitchat.lab.export.files import COLUMNS, FORMATS, csv_text, exported, is_formula
from jitchat.lab.export.svg import svg_picture
from jitchat.lab.facts import Kind
from jitchat.lab.report import READER_CAVEAT
from jitchat.lab.run_file import read
from jitchat.text.sanitize import repair
from jitchat.values import Mode
from tests.examples import examples
from tests.lab.some_results import EXPERIMENT, READER_RUN, RUN, result, results

FORMAT = Path(files.__file__).with_name("json_format.txt")
GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("JITCHAT_WRITE_GOLDEN")
NAMES = {
    "svg", "title", "desc", "g", "rect", "text", "path", "defs", "pattern", "linearGradient",
    "stop",
}  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"
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


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def words_of(svg):
    return [each.text or "" for each in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("ending", "found"),
    [("svg", results()), ("json", results()[::19]), ("csv", results()[::19])],
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
    assert "no result yet" in words_of(svg_picture(RUN, found))


@examples(12)
@given(TEXTS)
def test_what_others_wrote_breaks_no_file(text):
    run, found = hostile_run(text), [hostile_result(text)]
    files = {ending: exported(ending, run, found).decode() for ending in FORMATS}
    (row,) = rows_of(files["csv"])
    assert row["answer"].removeprefix("'") == repair(text)
    assert json.loads(files["json"])["cells"][0]["answer"] == text
    drawn = {each.tag for each in ET.fromstring(files["svg"]).iter()}
    assert drawn <= {f"{SVG}{name}" for name in NAMES}


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


class TestCsv:
    def test_there_is_a_row_a_cell_in_lines_of_the_standard(self):
        text = csv_text(RUN, results())
        rows = rows_of(text)
        assert tuple(rows[0]) == COLUMNS
        assert len(rows) == 240
        assert text.count("\r\n") == text.count("\n") == 241
        unfit = next(row for row in rows if row["verdict"] == "does not fit")
        assert unfit["tokens"] == unfit["cost_usd"] == unfit["cached_tokens"] == ""

    @pytest.mark.parametrize(
        "text",
        ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1", "＝1"],
    )
    def test_what_looks_like_a_formula_is_marked_as_text(self, text):
        row = rows_of(csv_text(RUN, [hostile_result(text)]))[0]
        assert row["answer"].startswith("'")
        assert is_formula(row["answer"]) is False

    def test_other_texts_and_all_numbers_are_left_alone(self):
        asked = replace(hostile_result('says "7443", twice\nand again'), seconds=-0.0, held=0)
        row = rows_of(csv_text(replace(RUN, model="'x"), [asked]))[0]
        assert row["answer"] == 'says "7443", twice\nand again'
        assert (row["seconds"], row["held"], row["model"]) == ("-0.0", "0", "'x")

    @examples(16)
    @given(TEXTS)
    def test_no_field_of_anybodys_is_a_formula(self, text):
        rows = csv.reader(io.StringIO(csv_text(hostile_run(text), [hostile_result(text)])))
        assert not any(is_formula(field) for row in rows for field in row)


class TestSvg:
    def test_it_needs_nothing_from_elsewhere_and_runs_nothing(self):
        drawn = svg_picture(READER_RUN, results())
        assert "http" not in drawn.replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not any(each in drawn for each in ("<script", "<style", "<image", "href", "@import"))

    def test_it_tells_title_state_axes_and_caveat(self):
        told = words_of(svg_picture(READER_RUN, results()))
        assert "Context rot: reader, 1k to 48k, Tue 24 Nov 15:40" in told
        assert any(each.startswith("240 cells: 218 answered, 20 do not fit, 2") for each in told)
        assert {"full", "recency", "jit", "1k", "48k", "0 %", "25 %", "does not fit"} <= set(told)
        assert READER_CAVEAT in " ".join(told)
        assert READER_CAVEAT not in " ".join(words_of(svg_picture(RUN, results())))

    def test_a_square_tells_its_figures_when_it_is_pointed_at(self):
        made = ET.fromstring(svg_picture(RUN, results()))
        told = {each.text for each in made.iter(f"{SVG}title")}
        assert "full, 16,000 tokens, depth 25 %: 25 % of 4 (5–70)" in told
        assert "full, 48,000 tokens, depth 25 %: does not fit" in told

    def test_everything_is_within_the_picture(self):
        asked = preset("deep", "reader")
        many = replace(asked, lengths=tuple(range(1_000, 31_000, 1_000)), depths=(0.0, 1.0))
        for experiment in (EXPERIMENT, asked, many, replace(EXPERIMENT, modes=(Mode.JIT,))):
            made = ET.fromstring(svg_picture(replace(RUN, experiment=experiment), []))
            width, height = map(float, made.attrib["viewBox"].split()[2:])
            for right, bottom in _corners(made, 0, 0):
                assert right <= width
                assert bottom <= height


def _corners(node, x, y):
    """The right lower corner of every rectangle and the place of every text."""
    moved = node.attrib.get("transform", "")
    if moved.startswith("translate("):
        across, down = map(float, moved[len("translate(") : -1].split())
        x, y = x + across, y + down
    if node.tag in (f"{SVG}rect", f"{SVG}text"):
        at = {name: float(node.attrib.get(name, 0)) for name in ("x", "y", "width", "height")}
        yield x + at["x"] + at["width"], y + at["y"] + at["height"]
    for each in node:
        yield from _corners(each, x, y)
