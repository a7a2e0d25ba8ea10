"""Noting what the model had to ask for, as turns that its window lacked."""

from jitchat.regression_cases import requested_cases
from jitchat.session import Session
from jitchat.store.regression_cases import Cases
from jitchat.turn_list import up_to
from jitchat.values import Role, Turn

_NONE = "The model asked for nothing there."


def note_requested(session: Session, place: int | None) -> str:
    """Note them for the exchange of the turn at `place`, or the last one; a sentence on it."""
    said, reply = exchange_of(session, place)
    if said is None or reply is None:
        return _NONE
    cases = requested_cases(session, said, reply)
    store = Cases(session.memory.store.database)
    for case in cases:
        store.put(case)
    turns = " ".join(f"#{case.wanted.position}" for case in cases)
    return f"Noted as missing: {turns}. /check tries them." if cases else _NONE


def exchange_of(session: Session, place: int | None) -> tuple[Turn | None, Turn | None]:
    """Find what the user said at or ahead of a position, and the last answer to it."""
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
