"""What a message says about what was said before."""

from __future__ import annotations

import pytest

from jitchat.text.follow_up import is_about_everything


@pytest.mark.parametrize(
    "message",
    [
        *("sum it up", "List all decisions", "Summarise our conversation", "recap?"),
        *(
            "what did we decide so far?",
            "How often did we mention rain?",
            "everything we said",
        ),
        *("Fass das bitte kurz zusammen", "Liste alle Entscheidungen auf", "Résume tout"),
        *("Liste toutes les décisions", "Hazme un resumen", "Faça um resumo", "Riassumi tutto"),
        *("Подведи итоги", "总结一下", "これまでの話をまとめて", "지금까지 내용을 요약해 줘"),
    ],
)
def test_a_question_over_the_whole_conversation_is_known(message: str):
    assert is_about_everything(message)


@pytest.mark.parametrize(
    "message",
    [
        *("which port does the api use?", "make it shorter", "summarise the second page"),
        *("make the whole script async", "delete everything in /tmp", "list the ports"),
        *("write a summary method for the class", "so far so good, next step?"),
    ],
)
def test_a_question_about_one_thing_is_not_one_over_the_conversation(message: str):
    assert not is_about_everything(message)
