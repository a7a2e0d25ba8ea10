"""A labelled conversation with known hits."""

from __future__ import annotations

from typing import Any

from tests.transfer.files import locomo_sample


def question(text: str, evidence: object, category: int = 4) -> dict[str, Any]:
    """One question as LoCoMo writes it."""
    return {"question": text, "answer": "-", "evidence": evidence, "category": category}


def labelled_sample(*questions: dict[str, Any]) -> dict[str, Any]:
    """LoCoMo's format, with enough turns that not all of it is recent."""
    chatter = [
        {
            "speaker": ("Ann", "Bo")[number % 2],
            "dia_id": f"D3:{number + 1}",
            "text": f"Nothing much to tell on morning {number}, only the usual round of coffee"
            " and a walk along the water before the shop opens for the day, with the dog of"
            " the neighbours, who came along and would not be sent home again until noon.",
        }
        for number in range(60)
    ]
    talk = {"session_3_date_time": "1:14 pm on 26 May, 2023", "session_3": chatter}
    return locomo_sample(**talk) | {"qa": list(questions)}
