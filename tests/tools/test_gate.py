"""How much of large results enters the window, and how they are compacted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitchat.tools.extracting import extract, preview
from jitchat.tools.gate import forms_of
from jitchat.values import Form, Role, ToolCall, ToolUse, Turn
from jitchat.window.tokens import EstimateCounter
from tests.benchmarks import gate as benchmark

COUNTER = EstimateCounter()
LEFT_OUT = re.compile(r"\[… [\d,]+ (?:line|character)s? (?:left out )?…\]\n?")


def result(position: int, content: str) -> Turn:
    use = ToolUse(answers=ToolCall(f"c{position}", "look", "{}"))
    return Turn(position, Role.TOOL, content, use=use)


def _lines_of(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def lines(count: int) -> str:
    return "".join(f"{number} of the boats came in late\n" for number in range(count))


@given(st.lists(st.text(max_size=300), max_size=40).map("\n".join), st.integers(0, 200))
def test_a_preview_has_whole_lines_of_both_ends_and_counts_the_rest(text, room):
    seen = preview(text, room, COUNTER)
    cut = re.search(r"\[… ([\d,]+) lines? left out …\]\n", seen)
    if cut is None:
        assert seen == text
        return
    head, tail = seen[: cut.start()], seen[cut.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert head == "" or head.endswith("\n")
    shown = len(_lines_of(head)) + len(_lines_of(tail))
    assert shown + int(cut[1].replace(",", "")) == len(_lines_of(text))
    assert COUNTER.count(head) <= room


def test_a_line_without_an_end_is_cut_and_the_cut_is_counted():
    seen = preview("x" * 50_000, 600, COUNTER)
    assert "[… 49,000 characters left out …]" in seen


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 700), min_size=1, max_size=6),
    st.integers(300, 6_000),
    st.integers(100, 5_000),
)
def test_the_forms_of_a_batch_share_the_room_and_never_exceed_it(sizes, room, limit):
    turns = [result(number, lines(size)) for number, size in enumerate(sizes, start=1)]
    forms = list(forms_of(turns, room, limit, COUNTER))
    assert sum(COUNTER.count(form.text) for form in forms) <= max(room, 48 * len(turns))
    for turn, form in zip(turns, forms, strict=True):
        if form.form is Form.WHOLE:
            assert form.text == turn.content
            assert COUNTER.count(turn.content) <= max(limit, 48)
        else:
            assert f"#{turn.position}" in form.text
            assert "kept" in form.text


def test_small_results_are_whole_while_a_large_one_is_held():
    small, large = result(3, "two boats"), result(4, lines(2_000))
    one, other = forms_of([small, large], 10_000, 4_000, COUNTER)
    assert one.form is Form.WHOLE
    assert other.text.startswith("0 of the boats came in late\n")
    assert "1999 of the boats came in late\n" in other.text
    assert "not keep_all, which needs" in other.text


def test_only_tools_that_are_offered_are_named():
    for offered in ((), ("request_context",), ("handle_large_results",)):
        for room in (10_000, 100):
            (form,) = forms_of([result(4, lines(2_000))], room, 4_000, COUNTER, offered)
            for name in ("request_context", "handle_large_results"):
                assert name in offered or name not in form.text
    (form,) = forms_of([result(4, lines(2_000))], 10_000, 4_000, COUNTER, ["request_context"])
    assert "request_context reads on in #4." in form.text


def test_keeping_all_is_offered_where_it_fits_only():
    (form,) = forms_of([result(4, lines(800))], 100_000, 4_000, COUNTER)
    assert "keep_preview, or keep_all." in form.text


@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize("make", benchmark.OUTPUTS, ids=lambda make: make.__name__)
def test_what_is_asked_for_is_kept_and_most_of_the_rest_is_not(make, seed):
    import random

    output = make(random.Random(f"{make.__name__} {seed}"))
    text, _ = extract(output.text, output.instruction, 4_000, COUNTER)
    assert [fact for fact in output.facts if fact not in text] == []
    assert COUNTER.count(text) <= 0.2 * COUNTER.count(output.text)


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=30).map("\n".join),
    st.text(max_size=40),
)
def test_an_extract_is_the_texts_own_parts_in_order(text, instruction):
    found, _ = extract(text, instruction, 200, COUNTER)
    if text.strip()[:1] in ("[", "{"):
        return
    place = 0
    for part in LEFT_OUT.sub("\0", found).split("\0"):
        body = part.removesuffix("\n")
        place = text.find(body, place)
        assert place >= 0
