"""A window in one plain sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.text.figures import percent
from jitchat.tui.plain import plain_sentences
from jitchat.values import Mode, Role
from jitchat.window.budget import PER_REQUEST
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.window import ContextWindow, FileRef, Kind, Segment, Verdict
from tests.support import turn
from tests.window.cases import shortlist
from tests.window.reports import long_talk
from tests.window.test_artefacts import CODE
from tests.window.test_epoch import TALK, observations, window_at

REPORT = FileRef("report.pdf", 3, "a1")
BEFORE = window_at(80, found=shortlist(9))
SENT = f"the ~{BEFORE.used - PER_REQUEST} tokens"
AFTER = window_at(82, BEFORE, found=shortlist(9), wanted=frozenset({30, 31}))


def of_talk(mode: Mode, size: int = 60) -> ContextWindow:
    return long_talk(mode, NO_CALIBRATION, size)


def with_also(window: ContextWindow, *segments: Segment) -> ContextWindow:
    return replace(window, segments=(*segments, *window.segments))


def segment(kind: Kind, file: FileRef | None = None) -> Segment:
    return Segment(kind, Role.USER, "…", 9, None, "", file=file)


def longest(window: ContextWindow) -> str:
    return plain_sentences(window, sent=False)[0]


def asked(draft: str, **more: object) -> ContextWindow:
    """The window of a message after 80 turns."""
    turns = [*TALK[:80], turn(81, draft)]
    return window_at(80, found=shortlist(9), turns=turns, **more)


FORMS = [
    (of_talk(Mode.FULL), "sends everything (~2,205 tokens)"),
    (
        with_also(
            of_talk(Mode.FULL),
            *(segment(Kind.FACTS), segment(Kind.FACTS)),
            *(segment(Kind.FILES, REPORT), segment(Kind.DOCUMENTS, REPORT)),
        ),
        "sends everything (~2,241 tokens) and 2 facts and 1 file",
    ),
    (of_talk(Mode.RECENCY), "sends 22 recent turns"),
    (window_at(0, found=shortlist()), "sends only your message (~134 tokens)"),
    (BEFORE, "composed anew: 77 turns left out; #9 is in"),
    (
        window_at(80, found=shortlist(9), mode=Mode.OBSERVE, distilled=observations("Tea.")),
        "composed anew: 77 turns left out; the observations and #9 are in",
    ),
    (
        with_also(BEFORE, segment(Kind.DOCUMENT)),
        "composed anew: 77 turns left out; the memory document and #9 are in",
    ),
    (AFTER, f"adds #30 and #31 to {SENT} sent before"),
    (
        window_at(82, BEFORE, found=shortlist()),
        f"adds only your message to {SENT} sent before",
    ),
]


@pytest.mark.parametrize(("window", "sentence"), FORMS, ids=[sentence for _, sentence in FORMS])
def test_it_says_what_is_sent(window: ContextWindow, sentence: str):
    saved = f"; {percent(window.saving)} less than everything" if window.saving > 0 else ""
    assert plain_sentences(window, sent=False)[0] == f"{sentence}{saved}"


def test_turns_that_the_user_leaves_out_are_left_out_of_everything():
    window = of_talk(Mode.FULL)
    row = replace(BEFORE.ledger[0], turn=3, verdict=Verdict.LEFT_OUT, reason="excluded by you")
    assert longest(replace(window, ledger=(row,))) == "sends everything but 1 turn (~2,205 tokens)"


def test_it_has_shorter_forms_and_the_past_and_the_price():
    assert plain_sentences(AFTER, sent=False)[1:] == (
        f"adds #30 and #31 to {SENT} sent before",
        f"adds 2 turns to {SENT} sent before",
    )
    assert plain_sentences(BEFORE, sent=True)[1:] == (
        "composed anew: 77 turns left out; #9 is in",
        "77 turns left out; #9 is in",
        "77 turns left out",
    )
    assert plain_sentences(AFTER, "~$0.0041", sent=True)[1] == (
        f"added #30 and #31 to {SENT} sent before · ~$0.0041"
    )


def test_of_many_turns_it_names_the_first_and_counts_the_rest():
    window = window_at(80, found=shortlist(*range(30, 41)))
    forms = plain_sentences(window, sent=False)
    assert "; #30, #31, #32, #33, #34, #35, #36, #37 and 3 more are in" in forms[0]
    assert "; #30, #31, #32 and 8 more are in" in forms[2]


def test_it_names_what_is_worked_on_first():
    turns = [*TALK[:80], turn(81, "make it async")]
    turns[3] = turn(4, CODE)
    window = window_at(80, found=shortlist(2), turns=turns)
    assert longest(window).startswith("composed anew: 76 turns left out; the code of #4 and #2 are")


def test_a_question_over_the_whole_conversation_is_offered_everything():
    window = asked("sum it up")
    offer = "77 turns left out · @full sends everything"
    assert plain_sentences(window, sent=False) == (
        f"{offer} (~{window.full_tokens:,} tokens)",
        offer,
        "@full sends everything",
    )
    assert not any("@full" in form for form in plain_sentences(window, sent=True))
    assert "@full" not in longest(asked("what was turn 9?"))
    small = replace(window, budget=window.budget.limited(5_000, ""))
    assert "@full" not in longest(small), "the model cannot take it"
