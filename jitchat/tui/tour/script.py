"""The steps of the tour: what each does, and what is said of it from what was sent or measured.

Nothing is known ahead: where a reply is another one, or a window, the words are others. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass

from jitchat.lab.stats import Tallies, share_of
from jitchat.session import Session
from jitchat.text.figures import enumerated, plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.sentences import sentences
from jitchat.tui.figures import used_figure
from jitchat.tui.views.what_if import Comparison
from jitchat.values import Mode, Turn
from jitchat.why import why_by_ledger
from jitchat.window.carriers import lines_on
from jitchat.window.window import ContextWindow, Kind

_QUOTED = 80
"""Characters of a sentence that is quoted, at most."""
CHARACTERS_A_SECOND = 15
PAUSE = 1.5
"""Seconds to look at what a text is about."""


LIVE = "`jitchat demo --live` asks a real model."


@dataclass(frozen=True, slots=True)
class Needle:
    """A turn, and the question that only this turn answers."""

    turn: int
    """Its position in the demo conversation."""
    question: str
    says: tuple[tuple[str, ...], ...]
    """What a right reply has, each in one of its spellings, in lower case."""

    def is_in(self, reply: str) -> bool:
        """Whether a reply has the answer: all that it consists of."""
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
    """That was sent."""
    reply: Turn | None
    """None where no answer came."""


def describe_conversation(session: Session, needle: Needle) -> str:
    """Say what the conversation is, who answers, and what is looked for in it."""
    turns, turn = session.memory.turns, session.memory.turn_at(needle.turn)
    size, who = plural(len(turns), "turn"), one_line(session.provider.model)
    what = f"a conversation of {size}, and {who} answers."
    if turn is None:
        return what
    quoted = shorten(next(iter(sentences(turn.content)), ""), _QUOTED)
    return f"{what} #{turn.position}: “{quoted}” Is it still known at the end?"


def describe_full(asked: Asked, needle: Needle) -> str:
    """Say what everything takes, and whether it helped."""
    back = plural(asked.turn.position - needle.turn, "turn")
    sent = f"every turn is sent, {used_figure(asked.window)} tokens."
    if not _holds(asked.window, needle):
        return f"{sent} {_place(asked.window, needle)} {_outcome(asked, needle)}"
    return f"{sent} The answer is in #{needle.turn}, {back} back. {_outcome(asked, needle)}"


def describe_recency(asked: Asked, needle: Needle) -> str:
    """Say how little the last turns take, and what that costs."""
    sent = f"the same question with the last turns alone, {used_figure(asked.window)} tokens."
    return f"{sent} {_place(asked.window, needle)} {_outcome(asked, needle)}"


def describe_asking(asked: Asked, needle: Needle) -> str:
    """Say what the model asked for, what it was given, and whether that helped."""
    what = "recency again, but the model may ask for what is kept."
    requests = asked.window.requests
    told = " ".join(f"It {one_line(request.sentence)}." for request in requests)
    return f"{what} {told or 'It did not ask.'} {_outcome(asked, needle)}"


def describe_jit(asked: Asked, needle: Needle) -> str:
    """Say what was fetched, why, and what it saves."""
    window = asked.window
    saved = f", {window.saving * 100:.0f} % less than full" if window.saving > 0 else ""
    sent = f"{used_figure(window)} tokens{saved}."
    return f"{sent} {_place(window, needle)} {_outcome(asked, needle)}"


def describe_observe(asked: Asked, needle: Needle) -> str:
    """Say what stands for the earlier turns, and whether it has what the question needs."""
    window = asked.window
    saved = f", {window.saving * 100:.0f} % less than full" if window.saving > 0 else ""
    sent = f"dated observations stand for #1–#{window.distilled_through:,}, "
    sent += f"{used_figure(window)} tokens{saved}."
    lines = _lines_with(window, needle)
    quoted = f"“{shorten(lines[0].removeprefix('- '), _QUOTED)}” has it." if lines else ""
    return f"{sent} {quoted or f'None has what #{needle.turn} says.'} {_outcome(asked, needle)}"


def describe_comparison(comparison: Comparison | None, needle: Needle) -> str:
    """Say what each mode would send; None while that is being planned."""
    what = "each mode's window for the same question; nothing is sent for this."
    if comparison is None:
        return what
    sizes = [
        f"{side.mode} {side.figures[0] if side.figures else 'does not fit'}"
        for side in comparison.different
    ]
    same = [side.mode for side in comparison.sides if side.same_as is not None]
    alike = f" ({enumerated(same)} send what another does)" if same else ""
    shares = next((row.shares for row in comparison.rows if needle.turn in row.turns), {})
    holding = [mode for mode in Mode if mode in shares and shares[mode].kind is not Kind.INDEX]
    where = enumerated(holding) or "none of them"
    return f"{what} Tokens: {', '.join(sizes)}{alike}. #{needle.turn} is at full text in {where}."


def describe_rot(tallies: Tallies | None, is_running: bool) -> str:
    """Say how many answers were right in each mode; None before any came."""
    what = "the same, measured: facts at every depth of longer and longer conversations."
    if tallies is None or not tallies.whole.answered:
        return what
    tallied = [(mode, tallies.by_mode[mode]) for mode in Mode if mode in tallies.by_mode]
    right = ", ".join(f"{mode} {share_of(tally)}" for mode, tally in tallied if tally.answered)
    so_far = " so far" if is_running else ""
    live = "" if is_running else f" {LIVE}"
    return f"{what} Right{so_far}: {right}.{live}"


def _place(window: ContextWindow, needle: Needle) -> str:
    """Say whether the window has the turn, and why: as the ledger does."""
    why = why_by_ledger(window, needle.turn)
    if why is not None:
        return why.sentences[0]
    never = window.never_candidates
    because = f": {one_line(never.reason)}" if never is not None else ""
    return f"#{needle.turn} is not in the window{because}."


def _outcome(asked: Asked, needle: Needle) -> str:
    if asked.reply is None:
        return "No answer came."
    held = _holds(asked.window, needle)
    if needle.is_in(asked.reply.content):
        return "The reply has it." if held else "The reply has it all the same: a guess?"
    return "The reply misses it all the same." if held else "So the answer is lost."


def _holds(window: ContextWindow, needle: Needle) -> bool:
    """Whether the window has the turn at full text, or a statement that says the same."""
    is_whole = window.kind_of_turns().get(needle.turn, Kind.INDEX) is not Kind.INDEX
    return is_whole or bool(_lines_with(window, needle))


def _lines_with(window: ContextWindow, needle: Needle) -> list[str]:
    """List the observations of the turn that have the answer."""
    return [line for line in lines_on(window, needle.turn, "") if needle.is_in(line)]


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the question in a mode: the first time as a message, then once more beside it."""

    title: str
    mode: Mode
    says: Callable[[Asked, Needle], str]
    may_ask: bool | None = None
    """Whether the model can ask for what is kept; None as the settings say."""


@dataclass(frozen=True, slots=True)
class Compare:
    """Open the what-if view of the question."""

    title: str
    says: Callable[[Comparison | None, Needle], str]
    """Of what is compared; None while it is being planned."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Open the rot lab."""

    title: str
    says: Callable[[Tallies | None, bool], str]
    """Of what was measured, and whether more of it comes; None ahead of it."""


Step = Ask | Compare | Measure
STEPS: tuple[Step, ...] = (
    Ask("full", Mode.FULL, describe_full),
    Ask("recency", Mode.RECENCY, describe_recency, may_ask=False),
    Ask("asking", Mode.RECENCY, describe_asking, may_ask=True),
    Ask("jit", Mode.JIT, describe_jit),
    Ask("observe", Mode.OBSERVE, describe_observe),
    Compare("what if", describe_comparison),
    Measure("rot lab", describe_rot),
)


def heading(place: int) -> str:
    """`2 of 7 · recency`; what comes ahead of the first step is 0."""
    if place == 0:
        return f"A tour of {len(STEPS)} steps"
    return f"{place} of {len(STEPS)} · {STEPS[place - 1].title}"


def reading_seconds(text: str, pace: float = 1.0) -> float:
    """Tell how long a text stays; `pace` 2 is twice as slow."""
    return pace * (PAUSE + len(text) / CHARACTERS_A_SECOND)
