"""Text is processed in linear time: twice the text takes twice the time, on any text.

Every regular expression of jitchat is collected and tried as it is used: on runs, on runs before
and after something else, on two alternating runs, and on texts that match it up to each of its
repetitions. So are the functions that process untrusted text.
"""

from __future__ import annotations

import faulthandler
import random
import re
import time
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

import pytest
from textual.style import Style

from jitchat.bench.f1 import answer_f1
from jitchat.crash import redacted
from jitchat.index.entry import index_entry
from jitchat.index.retrieve import make_query
from jitchat.lab.grade import admits
from jitchat.lab.spelling import has, heard, plain, unmarked
from jitchat.providers.catalogue.pictures import picture_tokens
from jitchat.providers.passages import read_window
from jitchat.providers.protocols.refusals import overflow_in, refused_parameter
from jitchat.providers.reader import answer
from jitchat.text.blocks import blocks_of
from jitchat.text.dates import dates_in, has_time_cue
from jitchat.text.entities import entities
from jitchat.text.fences import free_tag
from jitchat.text.focus import focus_of
from jitchat.text.markdown.closing import closed
from jitchat.text.markdown.formulas import formulas_in, shown
from jitchat.text.markdown.parse import parse
from jitchat.text.needs import need_of
from jitchat.text.sanitize import for_terminal, one_line, repair, shorten, skeleton
from jitchat.text.search_tokens import fold_in_place, phrases_of, terms
from jitchat.text.sentences import sentences
from jitchat.text.stance import commits, is_decision
from jitchat.text.time_filters import time_filter_of
from jitchat.text.words import stems
from jitchat.tui.chat.commands import addressed_in, command_in
from jitchat.tui.render.wrap import Piece, wrap
from jitchat.values import Message, Role
from jitchat.window.estimate import estimate
from jitchat.window.excerpt import Room, excerpt_of
from tests.support import turn
from tests.text import patterns
from tests.text.pumping import pumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = (
    "a", "A", "i", "7", "_", " ", "\n", "\t", "\r", "\u3000", "\0", ".", ",", ":", ";", "!", "?",
    "-", "(", ")", "[", "]", "{", "}", "<", ">", "/", "\\", "'", '"', "`", "“", "”", "*", "#", "~",
    "=", "+", "|", "&", "$", "%", "@", "é", "\u0301", "ि", "日", "ー", "。", "한", "ก", "😀",
    "\u200d", "\u200b", "\u00ad", "\ufe0f", "\U000e0101", "\ud800", "ﬁ", "＜",
)  # fmt: skip
PHRASES = (
    "a_", "a.", "x@", "--a", "a'", '."', "a::", "1:", "a/", "c++", "a'b", "กั", "- ", "> ", "```\n",
    "Mr. ", "i. ", "Ab ", "1 ", "1.", "may ", "Friday ", "agreed ", "been ", "we ", "not ",
    "let's ", "lock the ", "went with ", "moved it ", "instead of ", "http://a.b/",
    "日。", "\u0301\u0316",
    "</turn", "< ", "no a ", "(#1", "\\n", "or ", "that ", "{}", "[](", "**a", "#1 ",
    "\\[\n", "$$\n",
)  # fmt: skip
FLOOR = 0.0003
"""Seconds of CPU time that the clock can measure."""
LARGEST_RATIO = 2.6
WITHIN = 20
"""Seconds of CPU time for each, in each of the long rounds."""
SHORT = 640
"""Characters. Quadratic work on this many, at a nanosecond or more per step, exceeds the floor."""


def of_whole(text: str) -> object:
    return heard(text), unmarked(text), plain(text)


LOOKS: dict[str, Callable[[str], object]] = {
    "index_entry": lambda text: index_entry(turn(1, text)),
    "make_query": lambda text: make_query(text, text, frozenset({"ann"})),
    "focus_of": focus_of,
    "need_of": need_of,
    "time_filter_of": lambda text: time_filter_of(text[:160], date(2026, 3, 13)),
    "stems": stems,
    "sentences": sentences,
    "mentioned": partial(dates_in, said_on=date(2026, 3, 13)),
    "terms": terms,
    "phrases_of": lambda text: [
        (phrase.expression(is_open=True), list(phrase.find_in(text))) for phrase in phrases_of(text)
    ],
    "fold_in_place": fold_in_place,
    "has_time_cue": has_time_cue,
    "is_decision": is_decision,
    "commits": commits,
    "entities": entities,
    "visible": for_terminal,
    "repaired": repair,
    "one_line": one_line,
    "shortened": partial(shorten, width=80),
    "skeleton": skeleton,
    "free_tag": lambda text: free_tag("turn", [text]),
    "blocks_of": blocks_of,
    "formulas": lambda text: [shown(text), list(formulas_in(f"${text}"))],
    "parse": parse,
    "closed": closed,
    "wrap": lambda text: wrap([Piece(text, Style(), (0, len(text)))], 20),
    "excerpt_of": lambda text: excerpt_of((f".{text}",), (), "", Room(200, 9), len),
    "estimate": estimate,
    "redacted": redacted,
    "read_window": lambda text: read_window([Message(Role.USER, text)]),
    "answer": lambda text: answer([Message(Role.USER, f"<recalled>\n{text}\nWhen is it?")]),
    "overflow_in": lambda text: overflow_in(400, {"error": {"message": text}}),
    "refused_parameter": lambda text: refused_parameter(400, text, {"top_p", "temperature"}),
    "rot answers": of_whole,
    "admits": admits,
    "has": lambda text: [has(text, value) for value in ("7443", "teal", "14 March", "17:45")],
    "addressed_in": addressed_in,
    "command_in": command_in,
    "picture_tokens": lambda text: picture_tokens(text, 800, 600),
    "answer_f1": lambda text: answer_f1("single-hop", text, "teal"),
}
"""They include all functions that build expressions; see the last test."""
MADE = {
    ("jitchat.text.fences", "numbers_taken"),
    ("jitchat.providers.passages", "_text_of"),  # a mark with figures of the window's own
    ("jitchat.index.spelling", "within"),  # a stem a line, each of few letters
    ("jitchat.text.expressions", "expressions"),  # all of them are tried
    ("jitchat.text.words", "_pattern"),  # through stems
    ("jitchat.window.estimate", "_shape"),  # words of two characters
    ("jitchat.bench.f1", "_step"),  # through the scores of answers
    ("jitchat.lab.spelling", "_form"),
    ("jitchat.lab.spelling", "_letters"),
    ("jitchat.providers.protocols.refusals", "_mention"),
    ("jitchat.providers.protocols.refusals", "pattern"),  # all of them are tried
    ("jitchat.providers.protocols.refusals", "_first_match"),  # they, too
    ("jitchat.providers.catalogue.models", "_fields"),  # it, too
    ("jitchat.providers.http.redaction", "blotted"),  # a secret as it stands
    ("jitchat.lab.planting", "_says"),  # the lab's own texts
    ("jitchat.transfer.census", "_markup"),  # names of elements, and no repetition but the last
    ("jitchat.transfer.census", "rules_of"),  # our own expressions on the keys of a source
    ("jitchat.text.search_tokens", "_phrase"),  # likewise, with what stands between words
    ("jitchat.providers.catalogue.pictures", "picture_tokens"),
    ("jitchat.tui.widgets.folded", "spans"),  # likewise
    ("jitchat.tui.widgets.found_marks", "pattern_of"),  # words with blanks between them
}


def texts(pattern: re.Pattern[str] | None, *, long: bool) -> Iterator[Callable[[int], str]]:
    """Builders of test texts; each takes the length."""

    def repeated(before: str, run: str, after: str = "") -> Callable[[int], str]:
        return lambda size: before + run * max(1, size // len(run)) + after

    for before, run in pumps(pattern) if pattern else ():
        for after in ("", "\0", "a!") if long else ("\0",):
            yield repeated(before, run, after)
    for run in RUNS if pattern and not long else RUNS + PHRASES:
        yield repeated("", run)
        yield repeated("", run, "\n\n`")
    pairs = [(one, other) for one in RUNS for other in RUNS if one != other]
    for one, other in pairs if long else random.Random(7).sample(pairs, 5):
        yield repeated(one, other)
        yield repeated("", one, other)
        yield repeated("", one + other)
        yield lambda size, one=one, other=other: one * (size // 2) + other * (size // 2)


def as_many(made: Iterator[Callable[[int], str]], within: int) -> Iterator[Callable[[int], str]]:
    """As many builders as fit into `within` seconds of CPU time, in a fixed shuffled order."""
    shuffled = list(made)
    random.Random(11).shuffle(shuffled)
    give_up = time.process_time() + within
    for each in shuffled:
        if time.process_time() > give_up:
            return
        yield each


def seconds(look: Callable[[str], object], text: str, tries: int = 1) -> float:
    """The minimum CPU time of several tries."""

    def once() -> float:
        began = time.process_time()
        look(text)
        return time.process_time() - began

    return min(once() for _ in range(tries))


def growth(
    look: Callable[[str], object], text: Callable[[int], str], size: int, tries: int
) -> float:
    """The ratio of times if the text is twice as long; 0 if the time is too short to measure."""
    one = seconds(look, text(size), tries)
    return seconds(look, text(2 * size), tries) / one if one >= FLOOR else 0.0


def require_linear(
    look: Callable[[str], object], made: Iterator[Callable[[int], str]], sizes: tuple[int, ...]
) -> None:
    for text in made:
        for size in sizes:
            ratios = [growth(look, text, size, 1)]
            while ratios[-1] > LARGEST_RATIO and len(ratios) < 4:  # once may be chance
                ratios.append(growth(look, text, size, 3))
            if ratios[-1] > LARGEST_RATIO:  # a step, where longer texts take another path, ends
                ratios.append(growth(look, text, 8 * size, 3))
            assert ratios[-1] <= LARGEST_RATIO, (size, ratios, text(40))


@pytest.fixture(autouse=True)
def an_end() -> Iterator[None]:
    """End the process with a traceback if an expression never ends, as it cannot be interrupted."""
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def slow_among(
    looks: dict[str, Callable[[str], object]],
    made: Callable[[str], Iterator[Callable[[int], str]]],
    sizes: tuple[int, ...],
) -> list[str]:
    """The names of the functions that are not linear on their texts, with the reason."""
    slow = []
    for name, look in looks.items():
        try:
            require_linear(look, made(name), sizes)
        except AssertionError as why:
            slow.append(f"{name}: {why}")
    return slow


def test_no_expression_is_slow():
    found = patterns.found()
    looks = {name: each.look for name, each in found.items()}
    made = partial(texts, long=False)
    assert len(looks) > 200
    assert slow_among(looks, lambda name: made(found[name].pattern), (SHORT,)) == []


@pytest.mark.long("whole")
@pytest.mark.parametrize("part", range(32))
def test_no_expression_is_slow_on_anything(part: int):
    found = patterns.found()
    looks = {name: found[name].look for name in list(found)[part::32]}

    def made(long: bool) -> Callable[[str], Iterator[Callable[[int], str]]]:
        return lambda name: as_many(texts(found[name].pattern, long=long), WITHIN)

    assert slow_among(looks, made(True), (256, 2_048)) == []
    assert slow_among(looks, made(False), (100_000,)) == []


def test_no_processing_of_untrusted_text_is_slow():
    assert slow_among(LOOKS, lambda _: texts(None, long=False), (SHORT,)) == []


@pytest.mark.long("whole")
@pytest.mark.parametrize("part", range(9))
def test_no_processing_of_untrusted_text_is_slow_on_anything(part: int):
    looks = {name: LOOKS[name] for name in list(LOOKS)[part::9]}
    for long, sizes in ((True, (2_000,)), (False, (100_000,))):
        made = partial(texts, None, long=long)
        assert slow_among(looks, lambda _, made=made: as_many(made(), WITHIN), sizes) == []


def test_slow_processing_is_found():
    slow = patterns.Found(re.compile(r"<\s*/?\s*turn"), "it", {"findall"})
    made = partial(texts, slow.pattern, long=False)
    (message,) = slow_among({"slow": slow.look}, lambda _: made(), (SHORT,))
    assert message.startswith("slow: ")


def test_expressions_that_are_made_in_functions_are_looked_at_through_these():
    assert {(each.module, each.function) for each in patterns.made_in_functions()} == MADE


def test_marks_that_are_out_of_order_are_folded_in_one_go():
    assert stems("\u0301" * 100_000 + "\u0316" * 100_000 + "\u0591" * 100_000) == []
    assert stems("\u05b0" * 100_000 + "\u0591" * 100_000) == []


def test_a_turn_of_ten_million_characters_is_indexed():
    entry = index_entry(turn(1, "x" * 10_000_000))
    assert len(entry.summary) == 160
    end = index_entry(turn(1, "blah " * 2_000_000 + ". So we decided on port 8443."))
    assert "8443" in end.summary
    assert end.decision
