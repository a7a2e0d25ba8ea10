"""`jitchat why`: why a turn is in a window, and why not."""

from collections.abc import Mapping
from typing import Any

import click

from jitchat.cli import options, output
from jitchat.cli.turns import opened_session, read_draft
from jitchat.errors import UnknownTurn, UsageError
from jitchat.session import Session
from jitchat.store.path import parent_of
from jitchat.text.sanitize import shorten
from jitchat.values import Mode, Role
from jitchat.why import Explained, Standing, why
from jitchat.window import record, steering

_WIDTH = 60
"""Characters of the message that are repeated."""


@click.command("why", cls=options.SharingCommand)
@click.argument("turn", metavar="ID", type=options.turn_number)
@click.argument("text", required=False)
@click.option(
    "--turn",
    "said",
    type=options.turn_number,
    metavar="N",
    help="Of the window that was sent for turn N.",
)
@click.option("--conversation", metavar="ID", help="The one touched last if not given.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.common_options
def why_command(flags: options.Flags, turn: int, text: str | None, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Say why turn ID is in the window for TEXT, or why not.

    Without TEXT, for what was said last, as its window would be now; with --turn, for a window as
    it was sent. TEXT is `-` for what comes on standard input.
    """
    said = wanted["said"]
    if text is not None and said is not None:
        raise UsageError("TEXT and --turn name two windows.", "Give one of them.")
    draft = read_draft(text) if text is not None else None
    with opened_session(flags) as (session, mode, _):
        explained = _sent(session, said) if said is not None else _planned(session, draft, mode)
        found = _fields(session, explained, turn)
    if wanted["as_json"]:
        output.say_json(found)
        return
    output.say(_heading(explained))
    for sentence in found["sentences"]:
        output.say(sentence)


def _planned(session: Session, draft: str | None, mode: Mode) -> Explained:
    """Plan the window for a draft; for the last message where none is given."""
    if draft is not None:
        return session.explained(draft, mode)
    turns = reversed(session.memory.turns)
    last = next((turn for turn in turns if turn.role is Role.USER), None)
    if last is None:
        raise UnknownTurn("Nothing was said here yet.", "Give a TEXT.")
    return session.explained(last.content, mode, steering.Once(again=last))


def _sent(session: Session, position: int) -> Explained:
    """Load the window that was sent for a message, or for the message that a reply answers."""
    store, conversation = session.memory.store, session.memory.conversation.id
    said = chosen = store.turn(conversation, position)
    if said is not None and said.role is not Role.USER:
        said = store.turn(conversation, parent_of(said))
    sent = session.sent_on_path(said, chosen) if said is not None else None
    if said is None or sent is None:
        raise UnknownTurn(
            f"--turn: no window was sent for #{position}.", "Name a message that was answered here."
        )
    return Explained(sent[0], said.content, said)


def _fields(session: Session, explained: Explained, turn: int) -> Mapping[str, Any]:
    answer = why(session.memory, explained, turn)
    if answer.standing is Standing.UNKNOWN:
        raise UnknownTurn(str(answer))
    placed = None
    if answer.placed is not None:
        found = answer.placed.candidate
        placed = {
            "rank": found.rank,
            "of": answer.placed.of,
            "score": found.score,
            "parts": dict(found.parts),
            "matched": list(found.matched),
        }
    return {
        "conversation": session.memory.conversation.id,
        "mode": explained.window.mode.value,
        "sent_for": explained.said.position if explained.said is not None else None,
        "text": explained.draft,
        "turn": turn,
        "standing": answer.standing.value,
        "sentences": list(answer.sentences),
        "row": record.ledger_fields(answer.row) if answer.row is not None else None,
        "placed": placed,
    }


def _heading(explained: Explained) -> str:
    mode, text = explained.window.mode, shorten(explained.draft, _WIDTH)
    if explained.said is not None:
        return f"The window that was sent in {mode} for #{explained.said.position}, “{text}”:"
    return f"The window that would be sent in {mode} for “{text}”:"
