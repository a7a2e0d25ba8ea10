"""A question with two misspelt words finds what it asks for, in several languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.bench.asking import indexed
from jitchat.index.embedder import NoEmbedder
from jitchat.transfer.turns import FileConversation
from jitchat.values import Role, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.memory import Memory

ASKED = {
    "how many nods does the canery clustr have?": "The canary cluster has seven nodes.",
    "who wrote the edifakt praser?": "Marta wrote the edifact parser in March.",
    "what is the retantion of the metrcs bucket?": "Retention of the metrics bucket: 14 days.",
    "which compresion do snapshts use?": "We use zstd compression for all snapshots.",
    "where does the wharehouse export wriet its logs?": "The warehouse export logs to /srv/out.",
    "how do I restrat the schedulr?": "Restart the scheduler with systemctl restart planner.",
    "what is the pasword of the prjector room?": "The projector room's password is tulip77.",
    "when is the dentits appointmnet?": "My dentist appointment is on 9 May.",
    "wie heißt der Hausmiester im Ferienhuas?": "Der Hausmeister im Ferienhaus heißt Uwe.",
    "wann kommt der Klemptner wegen der Heitzung?": "Der Klempner kommt wegen der Heizung am 3.",
    "wer hat die Rechnug vom Druker bezahlt?": "Die Rechnung vom Drucker hat Ines bezahlt.",
    "cuál es la contrasña del servdor?": "La contraseña del servidor es girasol9.",
    "dónde está la impresroa de la oficna?": "La impresora de la oficina está en el sótano.",
    "quel est le code du portial de la residance?": "Le code du portail de la résidence est 4417.",
    "qui répare la chaudere du batiement?": "Gérard répare la chaudière du bâtiment.",
    "qual è la pasword della stampnte?": "La password della stampante è ulivo3.",
    "qual é a senah do roteadr?": "A senha do roteador é girafa21.",
    "wat is de toegnagscode van de fietsenstaling?": "Toegangscode van de fietsenstalling: 8812.",
    "какой пороль от маршрутизатра?": "Пароль от маршрутизатора: ромашка5.",
    "где лежат ключи от гарожа и подвла?": "Ключи от гаража и подвала лежат у Ольги.",
    "jakie jest haslo do drukarkki w biruze?": "Hasło do drukarki w biurze to sosna8.",
    "vad är koden till tvattsugan i kalaren?": "Koden till tvättstugan i källaren är 5120.",
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    said = dict(zip(range(5, 180, 8), ASKED.values(), strict=True))
    turns = tuple(
        Turn(
            position,
            Role.USER if position % 2 else Role.ASSISTANT,
            said.get(position, f"Bed {position} of the garden needs water and some more compost."),
        )
        for position in range(1, 241)
    )
    with indexed(FileConversation("typos", "typos", turns), NoEmbedder()) as memory:
        yield memory


@pytest.mark.parametrize("question", ASKED)
def test_two_misspelt_words_still_find_the_turn(memory: Memory, question: str):
    found = memory.retrieve(question, 241)
    assert [memory.turn_at(hit.turn).content for hit in found.hits[:1]] == [ASKED[question]]


@pytest.mark.parametrize(
    "draft",
    ["what is a mnoad?", "write a hiaku", "explain qiucksort", "wer hat die Mona Lisa gemlat?"],
)
def test_a_misspelt_word_of_general_knowledge_finds_nothing(memory: Memory, draft: str):
    assert not memory.retrieve(draft, 241).candidates
