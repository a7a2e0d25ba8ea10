"""The question in a long draft is separated from pasted text."""

from __future__ import annotations

import pytest

from jitchat.text.focus import focus_of

QUESTION = "What is my locker code?"
LOG = "\n".join(
    f"2026-03-04T11:{n:02}:07Z ERROR [worker-{n}] lease refused: who holds it?" for n in range(40)
)
TRACE = "Traceback (most recent call last):\n" + "\n".join(
    f'  File "/srv/app/lease.py", line {n}, in hold\n    return self.hold(lease, {n})'
    for n in range(30)
)
CODE = "```python\n" + "\n".join(f"def hold_{n}():\n    return lease" for n in range(30)) + "\n```"
PROSE = " ".join(f"The crane was painted in year {n}, and nobody knows why." for n in range(60))
JSON = "\n".join(f'  "lease-{n}": {{"held": true, "by": "worker-{n}"}},' for n in range(30))
QUOTE = "\n".join(f"> On day {n} they wrote: where is the lease now?" for n in range(20))
MATERIALS = {"log": LOG, "trace": TRACE, "code": CODE, "prose": PROSE, "JSON": JSON, "quote": QUOTE}


@pytest.mark.parametrize("name", MATERIALS)
@pytest.mark.parametrize(
    "order", ["{q} It is for this:\n{m}", "{m}\n{q}", "{m}\n\n{q}\n\n{m}", "{q}\n\n{m}"]
)
def test_a_question_is_separated_from_pasted_text(name: str, order: str):
    material = MATERIALS[name]
    focus = focus_of(order.format(q=QUESTION, m=material))
    assert QUESTION in focus.asked
    assert len(focus.asked) < 300
    assert len(focus.pasted) > 0.8 * len(material)


def test_a_question_within_a_long_paragraph_is_found():
    half = PROSE[: len(PROSE) // 2].rpartition(". ")[0]
    assert focus_of(f"{half}. {QUESTION} {PROSE}").asked == QUESTION


@pytest.mark.parametrize(
    "draft",
    [
        "",
        " ",
        QUESTION,
        "I like tea. So does Ann. What does Ben like?",
        "two\nlines of a draft",
        "```",
    ],
)
def test_of_a_short_draft_everything_asks(draft: str):
    focus = focus_of(draft)
    assert (focus.asked, focus.pasted) == (draft, "")


def test_an_order_asks_too():
    assert focus_of(f"Please find the locker code.\n{LOG}").asked == "Please find the locker code."


def test_where_nothing_asks_the_first_and_the_last_sentence_do():
    focus = focus_of(f"My locker jams. {PROSE} It is number nine.")
    assert focus.asked == "My locker jams. It is number nine."


def test_of_a_paste_without_a_word_beside_it_everything_asks():
    assert focus_of(LOG).asked == LOG
