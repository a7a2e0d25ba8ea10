"""Note turns that the model had to request, as turns missing from its window."""

from jitchat.regression_cases import requested_cases
from jitchat.session import Session
from jitchat.store.regression_cases import Cases
from jitchat.turn_list import up_to
from jitchat.values import Role, Turn

_NONE = "The model requested no turns there."


def note_requested(session: Session, place: int | None) -> str:
    """Note the requested turns of the exchange at `place`, or the last one. Return a notice."""
    said, reply = exchange_of(session, place)
    if said is None or reply is None:
        return _NONE
    cases = requested_cases(session, said, reply)
    store = Cases(session.memory.store.database)
    for case in cases:
        store.put(case)
    turns = " ".join(f"#{case.wanted.position}" for case in cases)
    return f"Noted as missing: {turns}. /check shows whether they are found." if cases else _NONE


def exchange_of(session: Session, place: int | None) -> tuple[Turn | None, Turn | None]:
    """Return the user's turn at or before a position, and the last reply to it; None if missing."""
    turns = session.memory.turns
    end = len(turns) if place is None else up_to(turns, place)
    while end < len(turns) and turns[end].role is not Role.USER:
        end += 1
    reply = None
    for at in range(end - 1, -1, -1):
        turn = turns[at]
        if turn.role is Role.USER:
            return turn, reply
        reply = reply or (turn if turn.role is Role.ASSISTANT else None)
    return None, None
