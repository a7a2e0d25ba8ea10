"""What is said of each step, from what was sent, planned or measured in it. Pure.

Nothing is known ahead: where a reply is another one, or a window, the words are others.
"""

from dataclasses import dataclass

from jitchat.lab.stats import Tallies
from jitchat.session import Session
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.sentences import sentences
from jitchat.tui.figures import used_figure
from jitchat.tui.tour.needle import Needle
from jitchat.tui.views.what_if import Comparison
from jitchat.values import Mode, Turn
from jitchat.why import why_by_ledger
from jitchat.window.window import ContextWindow, Kind

_QUOTED = 80
"""Characters of a sentence that is quoted, at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, sent in one mode."""

    said: Turn
    """The question's turn."""
    window: ContextWindow
    """That was sent."""
    reply: Turn | None
    """None where no answer came."""


def said_at_first(session: Session, needle: Needle) -> str:
    """Say what the conversation is, who answers, and what is looked for in it."""
    turns, turn = session.memory.turns, session.memory.turn_at(needle.turn)
    size, who = plural(len(turns), "turn"), one_line(session.provider.model)
    told = f"a conversation of {size}, and {who} answers."
    if turn is None:
        return told
    quoted = shorten(next(iter(sentences(turn.content)), ""), _QUOTED)
    return f"{told} #{turn.position}: “{quoted}” Is it still known at the end?"


def said_in_full(asked: Asked, needle: Needle) -> str:
    """Say what everything takes, and whether it helped."""
    back = plural(asked.said.position - needle.turn, "turn")
    sent = f"every turn is sent, {used_figure(asked.window)} tokens."
    if not _holds(asked.window, needle):
        return f"{sent} {_place(asked.window, needle)} {_outcome(asked, needle)}"
    return f"{sent} The answer is in #{needle.turn}, {back} back. {_outcome(asked, needle)}"


def said_in_recency(asked: Asked, needle: Needle) -> str:
    """Say how little the last turns take, and what that costs."""
    sent = f"the same question with the last turns alone, {used_figure(asked.window)} tokens."
    return f"{sent} {_place(asked.window, needle)} {_outcome(asked, needle)}"


def said_in_jit(asked: Asked, needle: Needle) -> str:
    """Say what was fetched, why, and what it saves."""
    window = asked.window
    saved = f", {window.saving * 100:.0f} % less than full" if window.saving > 0 else ""
    sent = f"{used_figure(window)} tokens{saved}."
    return f"{sent} {_place(window, needle)} {_outcome(asked, needle)}"


def said_of_comparison(comparison: Comparison | None, needle: Needle) -> str:
    """Say what each mode would send; None while that is being planned."""
    told = "each mode's window for the same question; nothing is sent for this."
    if comparison is None:
        return told
    sizes = [
        f"{side.mode} {side.figures[0] if side.figures else 'does not fit'}"
        for side in comparison.sides
    ]
    shares = next((row.shares for row in comparison.rows if needle.turn in row.turns), {})
    holding = [mode for mode in Mode if mode in shares and shares[mode].kind is not Kind.INDEX]
    where = " and ".join(holding) or "none of them"
    return f"{told} Tokens: {', '.join(sizes)}. #{needle.turn} is in {where}."


def said_of_rot(tallies: Tallies | None, is_running: bool) -> str:
    """Say how many answers were right in each mode; None before any came."""
    told = "the same, measured: facts at every depth of longer and longer conversations."
    if tallies is None or not tallies.whole.answered:
        return told
    from jitchat.lab.stats import total  # noqa: PLC0415  comes with the lab's screens

    tallied = [(mode, tallies.by_mode[mode]) for mode in Mode if mode in tallies.by_mode]
    right = ", ".join(f"{mode} {total(tally)}" for mode, tally in tallied if tally.answered)
    so_far = " so far" if is_running else ""
    return f"{told} Right{so_far}: {right}."


def _place(window: ContextWindow, needle: Needle) -> str:
    """Say whether the window has the turn, and why: as the ledger does."""
    why = why_by_ledger(window, needle.turn)
    if why is not None:
        return why.sentences[0]
    never = window.never_candidates
    because = f": {one_line(never.reason)}" if never is not None else ""
    return f"#{needle.turn} is not in the window{because}."


def _outcome(asked: Asked, needle: Needle) -> str:
    """Say what came of it."""
    if asked.reply is None:
        return "No answer came."
    held = _holds(asked.window, needle)
    if needle.is_in(asked.reply.content):
        return "The reply has it." if held else "The reply has it all the same: a guess?"
    return "The reply misses it all the same." if held else "So the answer is lost."


def _holds(window: ContextWindow, needle: Needle) -> bool:
    """Whether the window has the turn at full text."""
    return window.kind_of_turns().get(needle.turn, Kind.INDEX) is not Kind.INDEX
