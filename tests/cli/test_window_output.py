"""Output of `jitchat window`: JSON in any encoding, a table in files and terminals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat.cli import output, windows
from tests.transfer.files import plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

pytestmark = pytest.mark.usefixtures("demo")
QUESTION = "what did we settle on for the deploy window?"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16"])
def test_json_is_ascii_where_the_output_is_not_utf8(jitchat: Shell, encoding: str):
    done = jitchat("window", "naïve 漢字 😀", "--json", encoding=encoding)

    assert done.out.isascii()
    assert json.loads(done.out)["messages"][-1]["content"].endswith("naïve 漢字 😀")


def test_json_is_readable_where_the_output_is_utf8(jitchat: Shell):
    assert "naïve 漢字 😀" in jitchat("window", "naïve 漢字 😀", "--json").out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_the_table_can_be_printed_in_any_encoding(jitchat: Shell, encoding: str):
    done = jitchat("window", "naïve 漢字 😀", encoding=encoding)

    assert done.code == 0
    assert "draft" in done.out


def test_outside_a_terminal_each_segment_is_one_plain_line(jitchat: Shell):
    window = jitchat("window", QUESTION, "--json").json

    done = jitchat("window", QUESTION)

    heading, *lines = done.out.splitlines()
    assert heading.split() == ["kind", "turn", "tokens", "why", "text"]
    segments = window["segments"]
    assert [line.split()[0] for line in lines[: len(segments)]] == [s["kind"] for s in segments]
    for line, segment in zip(lines, segments, strict=False):
        assert segment["reason"] in line
        assert len(line) < 200
    assert max(len(line) for line in lines) > 120
    assert "\x1b" not in done.out


def test_the_total_equals_the_meter_and_estimates_are_marked(jitchat: Shell):
    window = jitchat("window", QUESTION, "--json").json

    out = jitchat("window", QUESTION).out

    assert window["counter"]["exact"] is False
    assert (
        f"demo in jit: ~{window['used']:,} used + ~{window['free']:,} free"
        f" + 2,048 reserve = 32,768 limit\nsize 1,500 (usual for the model)"
        f" · limit 32,768 (the reader's own)\n"
        f"full would be ~{window['full_tokens']:,};"
        " counted by estimate for reader\n"
    ) in out
    assert f"~{window['segments'][0]['tokens']}" in out


def test_turns_that_were_never_candidates_are_summarized(jitchat: Shell):
    never = jitchat("window", QUESTION, "--json").json["never_candidates"]

    *_, last = jitchat("window", QUESTION).out.splitlines()

    assert last == (
        f"{never['turns']} turns were never candidates: {never['reason']}"
        f" (~{never['tokens']:,} tokens)"
    )
    assert "never candidates" not in jitchat("window", QUESTION, "--mode", "full").out


def test_the_text_has_every_row_that_the_json_has(jitchat: Shell, tmp_path: Path):
    jitchat("import", written(tmp_path, "mine.json", plain_turns(80)))
    for number in range(1, 30):
        text = f"What we settle on for the deploy window of relay {number} is {number}:00."
        assert jitchat("memory", "add", text).code == 0
    (tmp_path / "big.md").write_text("The deploy window. " * 16_000)
    asked = ("window", QUESTION, "--attach", str(tmp_path / "big.md"), "--size", "4000")

    window, out = jitchat(*asked, "--json").json, jitchat(*asked).out

    kinds = {row["kind"] for row in window["others"]}
    assert kinds >= {"files", "documents", "facts"}
    lines = out.splitlines()
    for row in (*window["ledger"], *window["others"]):
        name = f"#{row['turn']}" if "turn" in row else row["name"]
        told = row["verdict"], f"~{row['tokens']:,} ", f"{name} ", row["reason"]
        assert any(all(part in line for part in told) for line in lines), told
    name = next(row["name"] for row in window["others"] if row["kind"] == "facts")
    explained = jitchat("why", name, QUESTION, "--size", "4000").out
    assert f"{name} is left out, ~" in explained
    assert " left for facts." in explained


def test_exact_figures_are_not_marked(jitchat: Shell, shared_vocabulary: Path):
    out = jitchat("window", QUESTION).out

    assert "counted by o200k_base for reader" in out
    assert "~" not in out.split("demo in jit")[1]


STABLE = ("system", "tools", "recent")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_in_a_terminal_every_line_fits(jitchat: Shell, monkeypatch: pytest.MonkeyPatch, width: int):
    from rich.cells import cell_len

    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", str(width))

    table = jitchat("window", "漢字" * 100).out.split("demo in jit")[0]

    lines = table.splitlines()
    assert max(map(cell_len, lines)) <= max(width, 45)
    assert all(line.split()[0] in ("kind", *windows._COLOURS, "draft") for line in lines)


@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_that_want_them(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, no_colour: str, coloured: bool
):
    from click.testing import CliRunner

    from jitchat.cli import commands

    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    monkeypatch.setenv("NO_COLOR", no_colour)

    done = CliRunner().invoke(commands, ["window", QUESTION], color=True)

    assert ("\x1b[" in done.output) == coloured


@pytest.mark.parametrize(
    ("flags", "cost", "source", "told"),
    [
        ((), 0.0, "runs here", "free (runs here)"),
        (
            ("--model", "gpt-5-mini", "--size", "2000"),
            0.25,
            "table of 2026-11",
            "~$0.000{} input (table of 2026-11)",
        ),
        (("--model", "small-9"), None, None, "cost unknown: no price for small-9"),
    ],
)
def test_the_cost_is_shown_with_the_source_of_the_price(
    jitchat: Shell, flags: tuple[str, ...], cost: float | None, source: str | None, told: str
):
    window = jitchat("window", QUESTION, *flags, "--json").json
    out = jitchat("window", QUESTION, *flags).out

    stable = sum(s["tokens"] for s in window["segments"] if s["kind"] in STABLE)
    assert window["stable_tokens"] == stable
    assert f"stable prefix ~{stable:,} tokens; " in out
    assert window["price_source"] == source
    expected = None if cost is None else pytest.approx(window["used"] * cost / 1e6)
    assert window["cost"] == expected
    assert told.format(round((window["cost"] or 0) * 1e4)) in out
