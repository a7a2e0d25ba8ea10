"""Say in one sentence what matters of a window: `adds #9 and #31 to the 5,200 tokens sent before`.

A window sends everything, or goes on from the one before, or is composed anew.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from math import inf

from jitchat.text.figures import enumerated, percent, plural
from jitchat.text.follow_up import is_about_everything
from jitchat.values import Role
from jitchat.window import reasons
from jitchat.window.window import ContextWindow, Kind, Segment, Verdict, tokens_of

_OLD = (Kind.PINNED, Kind.RETRIEVED, Kind.REQUESTED)
_HEADS = {Kind.OBSERVATIONS: "the observations", Kind.DOCUMENT: "the memory document"}
_NAMED, _NAMED_IN_SHORT = 8, 3
"""Maximum turns that are named, in the longer and the shorter variants."""
_PRICED = 3
"""Number of variants that include the price; in shorter ones the turns matter more."""
_FITTING = (reasons.EXCLUDED, reasons.DROPPED, reasons.SAME_UNIT, reasons.AWAITING)
"""Why turns are left out for which there is room."""
_ARTEFACT = re.compile(r"\bthe (\w+) that (“|the message|is being)")
"""The reason for what is worked on, as `window/artefacts.py` gives it."""


def plain_sentences(window: ContextWindow, cost: str = "", *, sent: bool) -> tuple[str, ...]:
    """Describe what is sent with the message, in several variants, the longest first.

    `cost` comes from `Comparison.cost`; empty if nothing is charged.
    """
    out = [row for row in window.ledger if row.verdict in (Verdict.LEFT_OUT, Verdict.INDEX)]
    never = window.never_candidates
    left_out = len(out) + (never.turns if never is not None else 0)
    if left_out == sum(row.reason in _FITTING for row in out):
        forms = _everything(window, left_out, "sent" if sent else "sends")
    elif not sent and _can_be_sent_in_full(window):
        return _offers_full(window, left_out)
    elif window.since is not None:
        forms = _added(window, "added" if sent else "adds")
    elif not window.mode.recalls:
        forms = _recent(window, "sent" if sent else "sends")
    else:
        forms = _composed(window, left_out)
    variants = (f"{forms[0]}{_less(window)}", *forms)
    priced = (f"{variant} · {cost}" for variant in variants[:_PRICED] if cost)
    return tuple(dict.fromkeys((*priced, *variants)))


def _can_be_sent_in_full(window: ContextWindow) -> bool:
    """Whether the message is about the whole conversation, and the model can take all of it."""
    fits = window.full_tokens <= window.budget.budget
    return fits and is_about_everything(window.draft.text)


def _offers_full(window: ContextWindow, left_out: int) -> tuple[str, ...]:
    offer = "@full sends everything"
    short = f"{plural(left_out, 'turn')} left out · {offer}"
    return f"{short} ({window.figure(window.full_tokens)} tokens)", short, offer


def _everything(window: ContextWindow, left_out: int, verb: str) -> list[str]:
    has_turns = any(segment.kind is Kind.RECENT for segment in window.segments)
    what = "everything" if has_turns else "only your message"
    what += f" but {plural(left_out, 'turn')}" if left_out else ""
    with_tokens = f"{verb} {what} ({window.figure(window.used)} tokens)"
    also = "".join(f" and {name}" for name in _names(window, window.segments, _NAMED))
    return [f"{with_tokens}{also}", with_tokens, f"{verb} {what}"]


def _added(window: ContextWindow, verb: str) -> list[str]:
    """Say what is new, and how many tokens are sent again."""
    before = f"{window.figure(_sent_before(window))} tokens sent before"
    new = window.segments[len(window.stable) :]
    named = [enumerated(_names(window, new, most)) for most in (_NAMED, _NAMED_IN_SHORT)]
    turns = len({segment.turn for segment in new if segment.kind in _OLD})
    named.append(plural(turns, "turn") if turns else named[-1])
    return [f"{verb} {names or 'only your message'} to the {before}" for names in named]


def _sent_before(window: ContextWindow) -> int:
    """Sum up the tokens of all that is repeated but the reply to the message before."""
    since = takewhile(lambda segment: segment.role is Role.ASSISTANT, reversed(window.stable))
    return window.stable_tokens - tokens_of(since)


def _composed(window: ContextWindow, left_out: int) -> list[str]:
    out = f"{plural(left_out, 'turn')} left out"
    longer, short = (_names(window, window.segments, most) for most in (_NAMED, _NAMED_IN_SHORT))
    if not short:
        return [f"composed anew: {out}", out]
    verb = "are" if len(longer) > 1 or longer[0].endswith("s") else "is"
    shorter = f"{out}; {enumerated(short)} {verb} in"
    longest = f"composed anew: {out}; {enumerated(longer)} {verb} in"
    return [longest, f"composed anew: {shorter}", shorter, out]


def _recent(window: ContextWindow, verb: str) -> list[str]:
    recent = plural(sum(segment.kind is Kind.RECENT for segment in window.segments), "recent turn")
    names = _names(window, window.segments, _NAMED_IN_SHORT)
    return [f"{verb} {enumerated(named)}" for named in ([recent, *names], [recent])]


def _names(window: ContextWindow, segments: Sequence[Segment], most: int) -> list[str]:
    """Name statements, at most `most` earlier turns, the facts and the earlier files of segments.

    What the message is about comes first, as `the code of #4` if there is room, then the matches.
    """
    ranks = {row.turn: row.rank for row in window.ledger if row.rank is not None}
    found = {
        segment.turn or segment.source: segment for segment in segments if segment.kind in _OLD
    }

    def place(segment: Segment) -> tuple[bool, float]:
        artefact = _ARTEFACT.search(segment.reason)
        is_meant = artefact is not None and artefact[2] != "is being"
        return not is_meant, ranks.get(segment.turn or 0, inf)

    names = [_name(segment, most) for segment in sorted(found.values(), key=place)]
    facts = sum(segment.kind is Kind.FACTS for segment in segments)
    refs = [segment.file for segment in segments if segment.file is not None]
    files = len({ref.digest for ref in refs if ref.turn != window.draft.turn})
    more = len(names) - most
    counted = [f"{more:,} more"] * (more > 0)
    counted += [plural(facts, "fact")] * bool(facts) + [plural(files, "file")] * bool(files)
    heads = [_HEADS[segment.kind] for segment in segments if segment.kind in _HEADS]
    return [*heads, *names[:most], *counted]


def _name(segment: Segment, most: int) -> str:
    if segment.source is not None:
        return segment.source.name
    artefact = _ARTEFACT.search(segment.reason) if most > _NAMED_IN_SHORT else None
    return f"the {artefact[1]} of #{segment.turn}" if artefact else f"#{segment.turn}"


def _less(window: ContextWindow) -> str:
    is_worth_saying = round(window.saving * 100) > 0
    return f"; {percent(window.saving)} less than everything" if is_worth_saying else ""
