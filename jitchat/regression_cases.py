"""Trying noted cases again: whether the window of a message would now have the wanted turn.

Each message is planned in its own place, with the settings, pins and exclusions of today, in
`jit`, as if it were sent again. Nothing is sent, and no conversation is changed.
"""

from dataclasses import dataclass

from jitchat.errors import WindowOverflow
from jitchat.memory import Memory
from jitchat.planning import Planning
from jitchat.replay import window_of
from jitchat.session import Session
from jitchat.store.regression_cases import Case, CaseKind
from jitchat.text.sentences import turn_references
from jitchat.values import Mode, Turn
from jitchat.why import Explained, Standing, why, why_by_ledger
from jitchat.window.steering import Once


@dataclass(frozen=True, slots=True)
class CaseResult:
    case: Case
    then: Standing | None
    """How the wanted turn stood to the window that was sent; None where none was."""
    now: Standing | None
    """How it stands to the one that would be sent; None where none can be planned."""
    sentences: tuple[str, ...]
    """Why it stands so, or why there is no window."""

    @property
    def passes(self) -> bool:
        """Whether the wanted turn is there, whole or as an excerpt: an index line is too little."""
        return self.now in (Standing.SENT, Standing.EXCERPT)


class CaseChecker:
    """Checks the cases of one conversation. Slow: each takes as long as a search."""

    def __init__(self, session: Session) -> None:
        self._session = session
        memory = session.memory
        path = memory.store.path(memory.conversation.id)
        self._places = [(path, memory, session.planning.over(memory))]
        """The conversation's path, and those to messages that are not on it."""

    def check(self, case: Case) -> CaseResult:
        """Plan the window of the case's message, and look for the wanted turn.

        A picker's model is not asked. In order of their messages, each turn is priced once.
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
    """Make cases of the turns that the model had to ask for: the automatic choice missed them.

    Those that the reply names; where it names none, all that were given.
    """
    sent = session.sent_exchange(said, reply)
    if sent is None:
        return []
    given = {turn for request in sent[0].requests for turn, _ in request.given}
    memory, wanted = session.memory, turn_references(reply.content) & given or given
    identity, now = memory.archive.window_id(said, reply), memory.store.now()
    turns = filter(None, map(memory.turn_at, sorted(wanted)))
    name = memory.conversation.id
    return [Case(said, turn, CaseKind.MISS, identity, now, name) for turn in turns]


def standing_then(memory: Memory, case: Case) -> Standing | None:
    """Tell how the wanted turn stood to the window that was sent, by its ledger."""
    if case.window_id is None:
        return None
    window = window_of(memory.store.database, case.window_id)
    found = why_by_ledger(window, case.wanted.position)
    return found.standing if found is not None else Standing.NEVER
