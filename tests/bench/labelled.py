"""Labelled files of the other two formats, as small as they can be."""

from __future__ import annotations

from typing import Any


def turn(identity: int | str, content: str, role: str = "user", **more: object) -> dict[str, Any]:
    """One turn of a labelled conversation."""
    return {"id": identity, "role": role, "content": content, "date": "2024-03-15"} | more


def chatter(count: int, start: int) -> list[dict[str, Any]]:
    """Talk enough that not all of it is recent."""
    text = (
        "Nothing much to tell on morning {}, only the usual round of coffee and a walk along the"
        " water before the shop opens for the day, with the dog of the neighbours."
    )
    return [
        turn(at, text.format(at), ("user", "assistant")[at % 2])
        for at in range(start, start + count)
    ]


def conversation(*questions: dict[str, Any], name: str = "c1") -> dict[str, Any]:
    """Four turns with facts, then chatter; ids are from 0."""
    facts = [
        turn(0, "My locker in the gym opens with 4711."),
        turn(1, "Noted, I will remember the code of your locker.", "assistant"),
        turn(2, "We moved the launch to the ninth of May."),
        turn(3, "The launch is on the calendar now.", "assistant"),
    ]
    return {"id": name, "turns": [*facts, *chatter(80, 4)], "questions": list(questions)}


def asked(text: str, *evidence: object, category: object = "extraction") -> dict[str, Any]:
    """One question of a labelled conversation."""
    return {"question": text, "category": category, "evidence": list(evidence)}


def instance(**changes: object) -> dict[str, Any]:
    """One instance of LongMemEval, by its public description; the sessions are not in order."""
    return {
        "question_id": "gpt4_1",
        "question_type": "knowledge-update",
        "question": "Where do I keep my bike now?",
        "answer": "in the cellar",
        "question_date": "2023/06/01 (Thu) 09:15",
        "haystack_session_ids": ["answer_b", "filler", "answer_a"],
        "haystack_dates": [
            "2023/05/30 (Tue) 23:40",
            "2023/05/22 (Mon) 04:02",
            "2023/05/20 (Sat) 02:21",
        ],
        "haystack_sessions": [
            [
                {"role": "user", "content": "The bike is in the cellar now.", "has_answer": True},
                {"role": "assistant", "content": "Good, it is dry there.", "has_answer": False},
            ],
            [{"role": "user", "content": "Any idea for dinner?"}],
            [
                {"role": "user", "content": "Hello."},
                {"role": "user", "content": "I keep my bike in the yard.", "has_answer": True},
            ],
        ],
        "answer_session_ids": ["answer_a", "answer_b"],
    } | changes
