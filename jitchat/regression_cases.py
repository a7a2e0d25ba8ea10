"""Checks noted cases: whether a message's window would now contain the turn it was missing.

Each message is planned at its own position in `jit`, with today's settings, pins and exclusions, as
if it were sent again. Nothing is sent, and no conversation is changed.
"""

from dataclasses import dataclass

from jitchat.errors import WindowOverflow
from jitchat.memory import Memory
from jitchat.planning import Planning
from jitchat.replay import last_reply, sent_exchange, window_of
from jitchat.session import Session
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.text.sentences import turn_references
from jitchat.turn_list import up_to
from jitchat.values import Mode, Turn
from jitchat.why import Explained, Standing, why, why_by_ledger
from jitchat.window.exchange import question_at
from jitchat.window.steering import Once

_NONE_REQUESTED = "The model requested no turns there."


@dataclass(frozen=True, slots=True)
class CaseResult:
    case: Case
    then: Standing | None
    """The wanted turn's status in the window that was sent; None if none was sent."""
    now: Standing | None
    """Its status in the window that would be sent now; None if none can be planned."""
    sentences: tuple[str, ...]
    """Why it has that status, or why there is no window."""

    @property
    def passes(self) -> bool:
        """Whether the window has the turn, whole or as an excerpt; an index line is not enough."""
        return self.now in (Standing.SENT, Standing.EXCERPT, Standing.IN_PART)


class CaseChecker:
    """Checks the cases of one conversation. Slow: each takes as long as a search."""

    def __init__(self, session: Session) -> None:
        self._session = session
        memory = session.memory
        path = memory.store.path(memory.conversation.id)
        self._places = [(path, memory, session.planning.over(memory))]
        """The conversation's path, then paths to messages on other branches."""

    def check(self, case: Case) -> CaseResult:
        """Plan the window of the case's message, and look for the wanted turn in it.

        A picker's model is not asked. Check cases in order of their messages: each turn is then
        priced only once.
        """
        memory, planning = self._place_of(case)
        then, wanted = standing_then(memory, case), case.wanted.position
        said = planning.question("", Once(again=case.said))
        question = self._session.as_previewed(said, Mode.JIT)
        try:
            window = planning.window(question, Mode.JIT, self._session.options.budget)
        except WindowOverflow as overflow:
            return CaseResult(case, then, None, (str(overflow),))
        without = frozenset(Once().without(planning.steering))
        found = why(memory, Explained(window, case.said.content, None, without), wanted)
        return CaseResult(case, then, found.standing, found.sentences)

    def _place_of(self, case: Case) -> tuple[Memory, Planning]:
        position = case.said.position
        known = next((place for place in self._places if position in place[0]), None)
        if known is not None:
            return known[1:]
        _, memory, planning = self._places[0]
        store = memory.store.with_head(memory.conversation.id, position)
        there = Memory(store, memory.conversation, memory.index.embedder)
        for _ in there.index.catch_up():
            pass
        place = store.path(memory.conversation.id), there, planning.over(there)
        self._places.append(place)
        return place[1:]


def requested_cases(session: Session, said: Turn, reply: Turn) -> list[Case]:
    """Make cases of the turns that the model had to request because retrieval missed them.

    If the reply refers to some of the turns, only those; otherwise all that were returned.
    """
    sent = sent_exchange(session.memory, said, reply)
    if sent is None:
        return []
    given = {turn for request in sent[0].requests for turn, _ in request.given}
    memory, wanted = session.memory, turn_references(reply.content) & given or given
    identity, now = memory.archive.window_id(said, reply), memory.store.now()
    turns = filter(None, map(memory.turn_at, sorted(wanted)))
    name = memory.conversation.id
    return [Case(said, turn, CaseKind.MISS, identity, now, name) for turn in turns]


def standing_then(memory: Memory, case: Case) -> Standing | None:
    """Return the wanted turn's status in the window that was sent, from its ledger."""
    if case.window_id is None:
        return None
    window = window_of(memory.store.database, case.window_id)
    found = why_by_ledger(window, case.wanted.position)
    return found.standing if found is not None else Standing.NEVER


def note_requested(session: Session, place: int | None) -> str:
    """Note the requested turns of the exchange at `place`, or the last one. Return a notice."""
    said, reply = exchange_of(session, place)
    if said is None or reply is None:
        return _NONE_REQUESTED
    cases = requested_cases(session, said, reply)
    store = Cases(session.memory.store.database)
    for case in cases:
        store.put(case)
    if not cases:
        return _NONE_REQUESTED
    turns = " ".join(f"#{case.wanted.position}" for case in cases)
    return f"Noted as missing: {turns}. /check shows whether they are found."


def exchange_of(session: Session, place: int | None) -> tuple[Turn | None, Turn | None]:
    """Return the message at a position or that is answered there, and its last reply, or None."""
    turns = session.memory.turns
    end = len(turns) if place is None else up_to(turns, place)
    said = question_at(turns, end - 1) if end else None
    if said is None:
        return None, None
    return said, last_reply(turns, said.position)
