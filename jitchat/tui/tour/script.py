"""The steps of the tour: what each does, and its text, written from what was sent or measured.

Nothing is scripted: with another reply or window, the text differs. Pure.
"""

from dataclasses import dataclass
from functools import cache

from jitchat.lab.stats import Tallies, share_of
from jitchat.session import Session
from jitchat.text.expressions import packaged
from jitchat.text.figures import enumerated, percent, plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.sentences import sentences
from jitchat.tui.views.what_if import Windows
from jitchat.typed_data import read
from jitchat.values import Mode, Turn
from jitchat.why import why_by_ledger
from jitchat.window.carriers import lines_on
from jitchat.window.window import ContextWindow, Kind

_QUOTED = 80
"""Characters of a sentence that is quoted, at most."""
CHARACTERS_A_SECOND = 15
PAUSE = 1.5
"""Seconds to look at the screen in addition to reading the text."""


LIVE = "`jitchat demo --live` asks a real model."


@dataclass(frozen=True, slots=True)
class Needle:
    """A turn, with the question that only this turn answers."""

    turn: int
    """Its position in the demo conversation."""
    question: str
    says: tuple[tuple[str, ...], ...]
    """What a right reply contains: of each tuple one spelling, in lower case."""

    def is_in(self, reply: str) -> bool:
        """Whether a reply contains the whole answer."""
        text = reply.casefold()
        return all(any(spelling in text for spelling in part) for part in self.says)


DEPLOY_WINDOW = Needle(
    turn=9,
    question="what did we settle on for the deploy window?",
    says=(("tuesday",), ("02:00", "2:00", "2 am", "2 a.m.", "2am")),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, sent in one mode."""

    turn: Turn
    window: ContextWindow
    """The window that was sent."""
    reply: Turn | None
    """None if there was no reply."""


def describe_conversation(session: Session, needle: Needle) -> str:
    """Describe the conversation, the model, and the turn to find."""
    turns, turn = session.memory.turns, session.memory.turn_at(needle.turn)
    size, who = plural(len(turns), "turn"), one_line(session.provider.model)
    what = f"a conversation of {size}, and {who} answers."
    if turn is None:
        return what
    quoted = shorten(next(iter(sentences(turn.content)), ""), _QUOTED)
    return f"{what} #{turn.position}: “{quoted}” Is it still known at the end?"


def describe_comparison(comparison: Windows | None, needle: Needle) -> str:
    """State what each mode would send; None while it is being planned."""
    what = "each mode's window for the same question; nothing is sent for this."
    if comparison is None:
        return what
    sizes = [
        f"{side.mode} {side.figures[0] if side.figures else 'does not fit'}"
        for side in comparison.different
    ]
    same = [side.mode for side in comparison.sides if side.same_as is not None]
    alike = f" (same as another: {enumerated(same)})" if same else ""
    shares = next((row.shares for row in comparison.rows if needle.turn in row.turns), {})
    holding = [mode for mode in Mode if mode in shares and shares[mode].kind is not Kind.INDEX]
    where = enumerated(holding) or "none of them"
    return f"{what} Tokens: {', '.join(sizes)}{alike}. #{needle.turn} is at full text in {where}."


def describe_rot(tallies: Tallies | None, *, is_running: bool) -> str:
    """State how many answers were right in each mode; None before the first."""
    what = "the same, measured: facts at every depth of longer and longer conversations."
    if tallies is None or not tallies.whole.answered:
        return what
    tallied = [(mode, tallies.by_mode[mode]) for mode in Mode if mode in tallies.by_mode]
    right = ", ".join(f"{mode} {share_of(tally)}" for mode, tally in tallied if tally.answered)
    so_far = " so far" if is_running else ""
    live = "" if is_running else f" {LIVE}"
    return f"{what} Right{so_far}: {right}.{live}"


@dataclass(frozen=True, slots=True)
class Step:
    """Asks the question: the first time as a new message, then as an alternative reply."""

    title: str
    opens: str = ""
    """The view that it opens instead of asking: `what_if` or `rot`."""
    mode: Mode = Mode.FULL
    words: str = ""
    """What to say of the answer; `says` fills in the braces."""
    may_ask: bool | None = None
    """Whether the model may request earlier turns; None for the setting."""

    def says(self, asked: Asked, needle: Needle) -> str:
        """State what was sent, where the turn is, and whether the reply has the answer."""
        window = asked.window
        requests = [f"It {one_line(each.sentence(window.figure))}." for each in window.requests]
        place = found = _place(window, needle)
        if _holds(window, needle):
            back = plural(asked.turn.position - needle.turn, "turn")
            found = f"The answer is in #{needle.turn}, {back} back."
        return self.words.format(
            tokens=f"{window.used_figure} tokens",
            less=f", {percent(window.saving)} less than full" if window.saving > 0 else "",
            place=place,
            found=found,
            requests=" ".join(requests) or "It made no request.",
            through=f"#{window.distilled_through:,}",
            outcome=_outcome(asked, needle),
        )


def _place(window: ContextWindow, needle: Needle) -> str:
    """State whether the window has the turn, with the ledger's reason."""
    why = why_by_ledger(window, needle.turn)
    if why is not None:
        return why.sentences[0]
    never = window.never_candidates
    because = f": {one_line(never.reason)}" if never is not None else ""
    return f"#{needle.turn} is not in the window{because}."


def _outcome(asked: Asked, needle: Needle) -> str:
    if asked.reply is None:
        return "There was no reply."
    held = _holds(asked.window, needle)
    if needle.is_in(asked.reply.content):
        return "The reply has it." if held else "The reply has it anyway: a guess?"
    return "The reply misses it anyway." if held else "So the answer is lost."


def _holds(window: ContextWindow, needle: Needle) -> bool:
    """Whether the window has the turn at full text, or a statement of the same fact."""
    is_whole = window.kind_of_turns().get(needle.turn, Kind.INDEX) is not Kind.INDEX
    return is_whole or bool(_lines_with(window, needle))


def _lines_with(window: ContextWindow, needle: Needle) -> list[str]:
    """List the observations of the turn that contain the answer."""
    return [line for line in lines_on(window, needle.turn, "") if needle.is_in(line)]


@cache
def steps() -> tuple[Step, ...]:
    return tuple(read(Step, fields) for fields in packaged(__package__, "script.toml")["steps"])


def heading(place: int) -> str:
    """`2 of 7 · recency`; 0 is the introduction."""
    if place == 0:
        return f"A tour of {len(steps())} steps"
    return f"{place} of {len(steps())} · {steps()[place - 1].title}"


def reading_seconds(text: str, pace: float = 1.0) -> float:
    """Return how many seconds a text stays; a `pace` of 2 doubles it."""
    return pace * (PAUSE + len(text) / CHARACTERS_A_SECOND)
