"""Answers that only say that the speaker does not know."""

from __future__ import annotations

import pytest

from jitchat.text.stance import disclaims


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I don’t know which port that was, sorry.",
        "I do not have that information.",
        "The window does not hold an answer to that.",
        "No answer in this window. None of the 4 earlier turns in it matches the question.",
        "The conversation doesn't say.",
        "That was not mentioned in our conversation.",
        "There is no mention of a colour here.",
        "I can't find anything about it.",
        "I'm afraid I cannot recall that.",
        "No idea!",
    ],
)
def test_who_does_not_know_says_so(text):
    assert disclaims(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We agreed on port 8443.",
        "I don't know?",
        "Don't deploy on a Friday.",
        "The manager did not find the key in the shed, so we bought a lock.",
        "I don't want sugar.",
        f"I don't know, but let me think aloud. {'The gateway listens on 8443. ' * 20}",
    ],
)
def test_who_says_something_does_not(text):
    assert not disclaims(text)
