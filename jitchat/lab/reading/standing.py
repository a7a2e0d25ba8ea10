"""How an answer means a value that it names: as what holds, as what held before, or not at all.

What decides is the nearest cue ahead of the value in its sentence, or one that follows at once.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitchat.lab.reading.mentions import Mention


class Standing(IntEnum):
    """The higher, the more it is asserted."""

    DENIED = 0
    """`not 7443`."""
    PAST = 1
    """`previously 7443`: it was replaced."""
    FAINT = 2
    """`it was 7443`, `7443?`: counts where nothing is said with more weight."""
    SAID = 3
    NOW = 4
    """`now 7443`."""


_DENIED_BEFORE = re.compile(
    r"(?:\bnot|\bcannot|n't|\bnever|\bneither|\bnor|\brather than|\binstead of|\bas opposed to"
    r"|\bunlike|\bnothing about|\bno mention of|\bno longer|\bexcept|\bother than)\b"
    r"(?!(?: \w+)? (?:only|just|sure|certain|clear|forget|hesitate)\b)"
    r"(?:(?! (?:but|and|so|because|since|until|though|although|however)\b)[^,;:.!?()\n]){0,40}\Z"
)
_OTHERWISE = re.compile(
    r"\bdon't forget\b|\bnot (?:only|sure)\b|\bno doubt\b|\bnever changed\b"
    r"|(?:\bnot|\bcannot|n't|\bnever)(?: be| serve)? (?:eat\w*|tolerate|stand|touch|you)\b"
)
"""What looks like a denial of the value and is none: `you cannot eat walnuts`."""
_DENIED_AFTER = re.compile(
    r"\A\)?,? ?(?:(?:which|that|this|it) )?"
    r"(?:(?:is|was|are|were|does|did)(?: not|n't)"
    r"(?= (?:the|it|what|that|correct|right|valid|true|current|accurate|mentioned|apply|yours"
    r"|his|hers|theirs)\b)"
    r"|(?:is|was)[^.;,]{0,24} (?:something|someone|somebody) else\b"
    r"|(?:is|was) (?:wrong|incorrect|false|mistaken|a mistake|an error)\b"
    r"|(?:is|was|are|were) no longer\b(?! (?:in|at|on|where|with)\b))"
)
_CUE = re.compile(
    r"\b(?:(?P<past>used to(?: be)?|previous(?:ly)?|former(?:ly)?|old(?:er)?|original(?:ly)?"
    r"|initial(?:ly)?|first|at 1st|earlier|before|prior|no longer|outdated|superseded|until"
    r"|replac(?:es|ed|ing)(?! (?:by|with))|overrid(?:es|ing)|instead of|started (?:out )?(?:as|at)"
    r"|began (?:as|at)|had (?:been|said|told|given|mentioned|set|planned|chosen|picked)"
    r"|(?:i|you|he|she|it|they|we)'d (?:said|told|been|given|mentioned|set|planned|chosen|picked)"
    r"|(?:up|down|changed|moved|switched|away|over|updated|revised) from|back (?:when|then))"
    r"|(?P<now>now|currently|current|new(?:er|est)?|latest|most recent(?:ly)?|recently|last"
    r"|final(?:ly)?|later|afterwards|subsequent(?:ly)?|updated|corrected|correction|became|becomes"
    r"|as of today|ended up|in the end)"
    r"|(?P<said>then|to|by|with|instead|actually|but|however)"
    r"|(?P<faint>was|were|had))\b"
)
_SOURCE = re.compile(
    r"\bas (?:you|we|i)(?:'ve| have|'d| had)? (?:\w+ ){0,2}"
    r"(?:earlier|before|previously|initially)\b"
    r"|\b(?:you|we)(?:'ve| have)? (?:\w+ ){1,2}(?:earlier|before|previously) that\b"
    r"|\b(?:you|we)(?:'ve| have)? (?:previously|earlier|first|already) (?:\w+ ){1,2}that\b"
    r"|\b(?:earlier|previous|prior)(?= (?:in|chat|conversation|messages?|discussion|turns?)\b)"
)
"""Says where the answer is from, not that it is old."""
_BY_CUE = {"past": Standing.PAST, "said": Standing.SAID, "now": Standing.NOW}
_FROM = re.compile(
    r"\b(?:from|out of|after|(?:rescheduled|moved|changed|replaced|cancelled|dropped)(?= the))"
    r"(?: (?:the|an?|its|your|being|room|number|old|original))* ?\Z"
)
_CUE_MARK = re.compile(r"(?:->|→|=>|⇒) ?\Z")
_PAST_AFTER = re.compile(
    r"\A,? ?[(\[](?:that is |which is |now )?(?:the )?(?:old|previous|former|outdated|before"
    r"|earlier|superseded|no longer|original|initial|until|replaced|first)[^()\[\]]*[)\]]"
    r"|\A,? ?(?:which |that |and )?(?:was|were|had been|has been|have been|is|are|got)"
    r"(?: (?:since|later|then|now|just|the|your|an|my|our))*"
    r" (?:old|previous|former|outdated|superseded|replaced|changed|updated|corrected|overridden"
    r"|original|initial|earlier|first|obsolete|given up|abandoned|dropped|cancelled|scrapped"
    r"|revised|moved|postponed|rescheduled|void)\b"
    r"|\A,? ?(?:originally|initially|at first|earlier|previously|before|beforehand|back then"
    r"|until)\b(?= ?(?:[,;:.!?)\n]|\Z|but\b|and\b|then\b|that\b|you\b|it\b|the\b))"
)
_PAST_IN_REST = re.compile(
    r"\b(?:earlier|before|previous(?:ly)?|old|original(?:ly)?|initial(?:ly)?|at first|outdated"
    r"|superseded|no longer|(?:was|been|then|later|since) (?:changed|replaced|updated|corrected)"
    r"|until (?:it|that|you))\b"
)
_ASKED = re.compile(r"\A ?\?")


def standing(mention: Mention) -> Standing:
    """Read how a value is meant."""
    before = _SOURCE.sub(" ", mention.before.lower())
    after = mention.after.lower()
    if _is_denied(before, after):
        return Standing.DENIED
    if _PAST_AFTER.search(after):
        return Standing.PAST
    if not mention.is_accepted and not mention.leads and _PAST_IN_REST.search(after):
        return Standing.PAST
    found = _by_cue(before)
    return min(found, Standing.FAINT) if _ASKED.match(after) else found


def _is_denied(before: str, after: str) -> bool:
    denied = _DENIED_BEFORE.search(before)
    is_denied = denied and not _OTHERWISE.search(before, max(0, denied.start() - 12))
    return bool(is_denied or _DENIED_AFTER.search(after))


def _by_cue(before: str) -> Standing:
    """Read the nearest cue; a faint one gives way to any other."""
    if _FROM.search(before):
        return Standing.PAST
    if _CUE_MARK.search(before):
        return Standing.NOW
    cues = [found.lastgroup for found in _CUE.finditer(before)]
    clear = [each for each in cues if each != "faint"]
    if clear:
        return _BY_CUE[clear[-1] or "said"]
    return Standing.FAINT if cues else Standing.SAID
