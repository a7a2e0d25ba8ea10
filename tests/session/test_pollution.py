"""Earlier questions and earlier "I don't know" replies never displace the fact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.providers.reader import ReaderProvider
from jitchat.transfer.demo import store_demo
from jitchat.values import Message, Mode
from jitchat.window.tokens import EstimateCounter, request_tokens
from jitchat.window.window import Kind
from tests.session.sending import reply_text, send
from tests.support import ScriptedProvider, session_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jitchat.providers.provider import Provider
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

AT = 6
DONT_KNOW = "I don't know; the conversation does not say."
COUNTER = EstimateCounter()
AT_FULL_TEXT = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about the demo, and the turn that answers it."""

    question: str
    fact: str
    """Words of the turn that answers it."""


QUESTIONS = (
    Asked("what did we settle on for the deploy window?", "the deploy window is Tuesday 02:00"),
    Asked("when is the billing maintenance window?", "maintenance window on Thursday 04:00"),
    Asked("who is release captain?", "Tomasz is release captain now"),
    Asked("which port is the metrics endpoint on?", "I put it on port 9641"),
    Asked("what is the rollback command?", "harborctl rollback --release 2.4.0"),
    Asked("how many retries?", "Then seven retries."),
    Asked("who reviews the docs?", "Maëlle reviews them."),
    Asked("who is allergic to hazelnuts?", "Hamid is allergic to hazelnuts"),
    Asked("what name did we agree on for the release?", "we agreed on Bell Rock"),
    Asked("which book did my father-in-law recommend?", "read The Box by Marc Levinson"),
    Asked("are we still building for Debian 10?", "Let's go with dropping Debian 10"),
    Asked("how many minutes did the dry run take?", "rewritten in 38 minutes"),
    Asked("how big a file can be uploaded in the browser?", "files of up to 8 GB in the browser"),
    Asked("what does E14 mean on the coffee machine?", "Do you know what E14 is? The drip tray."),
    Asked("how long does the upload token live?", "Token dies after 300 seconds."),
)


def counting(messages: Sequence[Message], _: object, text: str) -> tuple[int, int]:
    return request_tokens(COUNTER, tuple(messages)), COUNTER.count(text)


PROVIDERS: dict[str, Callable[[], Provider]] = {
    "reader": lambda: ReaderProvider(counting),
    "one that never knows": lambda: ScriptedProvider((DONT_KNOW,)),
}


@pytest.fixture(scope="module", params=["lexical", pytest.param("builtin", marks=pytest.mark.long)])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return NoEmbedder() if request.param == "lexical" else request.getfixturevalue("builtin")


@pytest.fixture(params=PROVIDERS)
def session(request: pytest.FixtureRequest, store: ColdStore, embedder: Embedder) -> Session:
    made = session_on(store, store_demo(store), embedder=embedder)
    made.provider = PROVIDERS[request.param]()
    return made


def place_of(session: Session, asked: Asked) -> int:
    (place,) = (turn.position for turn in session.memory.turns[:60] if asked.fact in turn.content)
    return place


def what_is_wrong(session: Session, asked: Asked) -> str:
    """Return why the fact would not be recalled for the question; empty if it would be.

    What was asked or answered in the same words counts once, as it is sent once.
    """
    place = place_of(session, asked)
    window = session.preview(asked.question, Mode.JIT)
    ranks = {row.rank: row.turn for row in window.ledger if row.rank}
    texts = {turn.position: turn.content for turn in session.memory.turns}
    first = {texts[ranks[rank]]: ranks[rank] for rank in sorted(ranks, reverse=True)}
    ranked = [ranks[rank] for rank in sorted(ranks) if ranks[rank] in first.values()]
    held = {each.turn for each in window.segments if each.kind in AT_FULL_TEXT}
    wrong = [] if place in ranked[:AT] else [f"#{place} is not in {ranked[:AT]}"]
    return ", ".join([*wrong, *([] if place in held else [f"#{place} is not in the window"])])


def test_the_fact_is_found_when_a_question_is_first_asked(store: ColdStore, embedder: Embedder):
    session = session_on(store, store_demo(store), embedder=embedder)
    wrong = {asked.question: what_is_wrong(session, asked) for asked in QUESTIONS}
    assert {asked: told for asked, told in wrong.items() if told} == {}


@pytest.mark.parametrize(
    "session",
    ["reader", pytest.param("one that never knows", marks=pytest.mark.long("whole"))],
    indirect=True,
)
async def test_asking_three_times_in_a_row_does_not_displace_the_fact(session: Session):
    """Each question is asked on its own branch, where no other was asked."""
    wrong, end = {}, session.memory.turns[-1].position
    for asked in QUESTIONS:
        session.memory.switch_to(end)
        for number in (1, 2, 3):
            await send(session, asked.question)
            wrong[asked.question, number] = what_is_wrong(session, asked)
    assert {asked: told for asked, told in wrong.items() if told} == {}
    assert len(wrong) == 3 * len(QUESTIONS)


async def test_asking_everything_twice_over_does_not_displace_any_fact(session: Session):
    """In the second round, the first occurrences are no longer among the recent turns."""
    wrong = []
    for number, asked in enumerate(QUESTIONS * 2):
        await send(session, asked.question)
        if told := what_is_wrong(session, asked):
            wrong.append(f"time {number // len(QUESTIONS) + 1}: {asked.question} {told}")
    assert not wrong, "\n".join(wrong)


async def test_the_model_that_never_knows_replies_so(store: ColdStore):
    session = session_on(store, store_demo(store), ScriptedProvider((DONT_KNOW,)))
    assert reply_text(await send(session, QUESTIONS[0].question)) == DONT_KNOW
