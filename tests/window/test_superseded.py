"""A statement that a later one replaces is told from one that holds beside it."""

from __future__ import annotations

import pytest

from jitchat.values import Role, Turn
from jitchat.window.superseded import superseded

OTHER = (
    "I watered the garden this morning.",
    "The cat slept on the keyboard again.",
    "Dinner was soup with leeks.",
)


def talk(older: str, newer: str, role: Role = Role.USER) -> list[Turn]:
    said = [OTHER[0], older, OTHER[1], newer, OTHER[2]]
    return [Turn(position, role, text) for position, text in enumerate(said, start=1)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("set the pool size of pgbouncer to 50", "pgbouncer fell over, I lowered the pool to 20"),
        ("the backups run at 02:30", "the backups moved to 04:15"),
        ("der Elternabend ist am Dienstag", "der Elternabend ist jetzt am Donnerstag"),
        ("la boulangerie ouvre à 7 h", "la boulangerie n'ouvre plus qu'à 8 h maintenant"),
        ("el servidor escucha en 8080", "ahora el servidor escucha en 9090"),
        ("сервер стоит в Риге", "сервер переехал, теперь он в Вильнюсе"),
        ("会议在三号会议室", "会议改到五号会议室了"),
        ("배포는 목요일에 합니다", "배포는 화요일로 바꿨어요"),
    ],
)
def test_a_correction_replaces_what_was_said(older: str, newer: str):
    assert superseded(talk(older, newer)) == {2: 4}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("the backups run at 02:30", "the backups were green this week"),
        ("prod has max_connections at 400", "on the replica max_connections is now 150"),
        ("we pay 10 euros for the mail plan", "if we took their business mail plan it'd be 28 now"),
        ("Mia is allergic to nuts", "Mia also has an allergy to kiwi now"),
    ],
)
def test_what_holds_beside_it_replaces_nothing(older: str, newer: str):
    assert superseded(talk(older, newer)) == {}


def test_only_the_same_speaker_corrects():
    turns = talk("the backups run at 02:30", "the backups moved to 04:15")
    turns[3] = Turn(4, Role.ASSISTANT, turns[3].content)
    assert superseded(turns) == {}


def test_the_last_of_several_corrections_counts():
    turns = talk("the backups run at 02:30", "the backups moved to 04:15")
    turns.append(Turn(6, Role.USER, "no, the backups run at 05:00 now"))
    assert superseded(turns) == {2: 6, 4: 6}


def test_with_a_draft_only_what_it_asks_for_is_replaced():
    turns = talk("the backups run at 02:30", "the backups moved to 04:15")
    assert superseded(turns, "when do the backups run?") == {2: 4}
    assert superseded(turns, "what did the cat do?") == {}
