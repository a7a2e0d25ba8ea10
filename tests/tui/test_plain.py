"""A window in one plain sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.tui.plain import plain_sentences
from jitchat.values import Mode, Role
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.window import ContextWindow, FileRef, Kind, Segment
from tests.window.reports import long_talk


def of_talk(mode: Mode, size: int = 60) -> ContextWindow:
    return long_talk(mode, NO_CALIBRATION, size)


def small_talk(size: int) -> ContextWindow:
    return replace(of_talk(Mode.JIT, size), ledger=(), never_candidates=None)


def with_also(window: ContextWindow, *segments: Segment) -> ContextWindow:
    return replace(window, segments=(*segments, *window.segments))


def segment(kind: Kind, file: FileRef | None = None) -> Segment:
    return Segment(kind, Role.USER, "…", 9, None, "", file=file)


def distilled(kind: Kind) -> ContextWindow:
    return with_also(replace(of_talk(Mode.RECENCY), distilled_through=40), segment(kind))


REPORT = FileRef("report.pdf", 3, "a1")
FORMS = [
    (
        of_talk(Mode.JIT),
        "sends 1 old turn: #20, and 10 recent turns; 77 % less than everything",
    ),
    (of_talk(Mode.RECENCY), "sends 10 recent turns; 82 % less than everything"),
    (of_talk(Mode.FULL), "sends all 60 turns"),
    (small_talk(2), "sends all 2 turns"),
    (small_talk(1), "sends the only turn"),
    (small_talk(0), "sends only your message (no earlier turns)"),
    (
        distilled(Kind.OBSERVATIONS),
        "sends the observations up to #40, and 10 recent turns; 81 % less than everything",
    ),
    (
        distilled(Kind.DOCUMENT),
        "sends the memory document up to #40, and 10 recent turns; 81 % less than everything",
    ),
    (
        with_also(
            of_talk(Mode.FULL),
            *(segment(Kind.FACTS), segment(Kind.FACTS)),
            *(segment(Kind.FILES, REPORT), segment(Kind.DOCUMENTS, REPORT)),
        ),
        "sends all 60 turns, and 2 facts and 1 file",
    ),
]


@pytest.mark.parametrize(("window", "sentence"), FORMS, ids=[sentence for _, sentence in FORMS])
def test_it_says_what_is_sent(window: ContextWindow, sentence: str):
    assert plain_sentences(window, sent=False)[0] == sentence


def test_it_has_shorter_forms_and_the_past_and_the_price():
    window = of_talk(Mode.JIT)

    assert plain_sentences(window, sent=False)[1:] == (
        "sends 1 old turn: #20; 77 % less than everything",
        "sends 1 old turn: #20; 77 % less",
        "sends 1 old turn; 77 % less",
        "sends 1 old turn",
        "1 old turn",
    )
    assert plain_sentences(window, "~$0.0041", sent=True)[1] == (
        "sent 1 old turn: #20; 77 % less than everything · ~$0.0041"
    )


def test_of_many_turns_it_names_the_first_and_counts_the_rest():
    window = of_talk(Mode.JIT)
    (old,) = (each for each in window.segments if each.kind is Kind.RETRIEVED)
    window = with_also(window, *(replace(old, turn=turn) for turn in range(30, 40)))

    forms = plain_sentences(window, sent=False)
    assert "sends 11 old turns: #20 #30 #31 #32 #33 #34 #35 #36 and 3 more; " in forms[1]
    assert "sends 11 old turns: #20 #30 #31 and 8 more; " in forms[3]
