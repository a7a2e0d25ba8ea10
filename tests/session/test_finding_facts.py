"""Facts found after a reply, by the observing model if there is one."""

from __future__ import annotations

import pytest

from jitchat.errors import Unreachable
from jitchat.events import FactsFound, TurnStored
from jitchat.observing import Consent, ObserveRules
from jitchat.session_options import SessionOptions
from jitchat.small_models.observer import ModelObserver
from jitchat.small_models.small_model import SizedModel, SmallModel
from jitchat.statements import FactKind, FactState, Proposing
from jitchat.window.steering import Hold
from jitchat.window.tokens import EstimateCounter
from tests.session.sending import send
from tests.support import TALK, ScriptedProvider, conversation_of, session_on, talk

TEA = "I take my tea without sugar."


def asking(store, *script, proposing: Proposing = Proposing.ASK, **options):
    """A session, and what the model that observes was sent."""
    small = ScriptedProvider(script or ("- [preference] (#1)",), model="small")
    observer = ModelObserver([SizedModel(SmallModel(small, EstimateCounter(), 5.0), 8_000)])
    options = SessionOptions(observer=observer, proposing=proposing, **options)
    return session_on(store, conversation_of(store, talk(*TALK)), options=options), small


def found(events) -> list[FactsFound]:
    return [event for event in events if isinstance(event, FactsFound)]


async def test_the_model_finds_facts_that_no_rule_does_after_the_reply_is_stored(store):
    session, small = asking(store)
    events = await send(session, TEA)
    (facts,) = found(events)
    assert [(fact.text, fact.kind) for fact in facts.proposed] == [(TEA, FactKind.PREFERENCE)]
    stored = [place for place, event in enumerate(events) if isinstance(event, TurnStored)]
    assert len(stored) == 2
    assert events.index(facts) > stored[-1]
    assert "We agreed on port 8443" not in str(small.requests)


async def test_each_message_is_examined_once_and_a_declined_fact_is_not_proposed_again(store):
    session, small = asking(store)
    ((fact,),) = [each.proposed for each in found(await send(session, TEA))]
    session.memory.facts.forget(fact)
    assert found(await send(session, TEA)) == []
    assert len(small.requests) == 2
    assert str(small.requests[1]).count(TEA) == 1
    assert [each.state for each in session.memory.facts.all()] == [FactState.FORGOTTEN]


async def test_if_the_model_fails_the_rules_find_facts_and_a_notice_says_so(store):
    session, _ = asking(store, Unreachable("No answer in 5 s.", "Wait."), proposing=Proposing.AUTO)
    (facts,) = found(await send(session, "Always answer in French."))
    assert [fact.text for fact in facts.kept] == ["Always answer in French."]
    assert facts.told == "small failed: No answer in 5 s"


@pytest.mark.parametrize("consent", [Consent.ASK, Consent.OFF])
async def test_no_model_is_asked_without_consent(store, consent):
    session, small = asking(store, observing=ObserveRules(consent=consent))
    (facts,) = found(await send(session, "Always answer in French."))
    assert [fact.text for fact in facts.proposed] == ["Always answer in French."]
    assert small.requests == []


async def test_no_model_is_sent_a_message_that_the_user_excluded(store):
    session, small = asking(store)
    session.hold(1, Hold.EXCLUDED)
    session.hold(3, Hold.EXCLUDED)
    session.memory.add_user_turn(TEA)
    session.hold(5, Hold.EXCLUDED)
    assert await session._facts.find() == FactsFound()
    assert small.requests == []
