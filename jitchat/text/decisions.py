"""Whether a text commits to something: a decision is made, confirmed or changed.

Fires on what was decided ("we agreed on", "let's lock that in", "change of plan"), not on
wishes, duties, guesses, reports of others' opinions or questions ("that must be fun", "should
we decide?"). A sign commits, unless a word ahead of it in its clause takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from jitchat.text.sentences import is_question, marked_sentences

_WHO = r"\b(?:we|i|they|you|he|she|the team|everyone|everybody|(?:both|all) of us)"
_WE_WILL = r"\b(?:we|i)(?:'re|'m|'ll| are| am| will)(?: definitely| now| just| then)?"
_HAVE = r"(?:'ve|'d|'s|'re| have| had| has| are| were| was)?"
_ADVERB = r"(?: (?:all|just|finally|already|now|both|then|officially|firmly|also))?"
_IS = r"(?:\b(?:is|are|was|were|been|got|gets)|'s)(?: (?:now|been|finally|officially|all)){0,4}"
_HERE = r"(?! (?:in|into|down|here|there)\b)"
_NOT_A_PERSON = r"(?! (?:my|his|her|him|them|you|us|me|friends|family|it)\b)"
_NOT_A_PLACE = r"(?! (?:the|a|an|my|his|her|our|their)\b)"
_NOT_AN_OPINION = (
    r"(?! (?:not|hard|up to|yours|still|bad|good|great|to be|pending|easy|tough|difficult"
    r"|unclear|whether|so)\b)"
)
_WHEN = (
    r"(?:\d|q[1-4]\b|next|later|early|late|mid|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)

_SIGNS: tuple[tuple[tuple[str, ...], str], ...] = (
    # somebody decided
    (("decided", "settled", "opted", "ruled out"),
     rf"{_WHO}{_HAVE}{_ADVERB} (?:decided|opted|ruled out|settled{_HERE})\b"
     r"(?! (?:yet|whether|if)\b)"),
    (("agreed",), rf"{_WHO}{_HAVE}{_ADVERB} agreed\b(?! (?:yet|whether|if|to disagree)\b)"),
    (("committed to", "resolved to", "signed off on"),
     rf"{_WHO}(?:'ve| have|'d| had)?{_ADVERB} (?:committed to|resolved to|signed off on)\b"),
    (("agreed ", "decided "),
     r"\b(?:agreed|decided) (?:on|upon|to|not to|that|against)\b(?! disagree)"),
    (("chose", "picked"),
     rf"(?:\b(?:we|both of us|the team){_HAVE}{_ADVERB}|\bi(?:'ve| have)|\bfinally)"
     r" (?:chose|chosen|picked)\b(?! (?:up|out|at|on|apart|me|him|us)\b)"),
    (("made ",),
     r"\bmade (?:up )?(?:a|the|my|our|his|her|their) (?:final )?(?:decision|minds?|choice)\b"),
    (("went with", "gone with"),
     r"\b(?:went|gone) with\b.{0,60}\b(?:instead|in the end|after all|eventually)\b"
     r"|\bin the end,? (?:we|i|they) went with\b"),
    (("a deal", "an agreement", "a decision"),
     r"\bwe(?:'ve| have)(?: got)?(?: finally)? (?:a deal|an agreement|a decision)\b"),
    # it is decided
    (("decided", "settled", "agreed", "locked in", "signed off", "set in stone", "finali",
      "approved", "ruled out"),
     rf"{_IS} (?:decided|settled{_HERE}|agreed|locked in{_NOT_A_PLACE}|signed off|set in stone"
     r"|finali[sz]ed|approved|ruled out)\b"),
    (("final", "a deal", "settles it"),
     r"\b(?:it|that|this)(?:'s| is) (?:final|a deal)(?=[.!,;:]|$)|\bthat settles it\b"),
    (("plan ", "decision ", "choice ", "deal ", "agreement ", "verdict "),
     r"\bthe (?:plan|decision|choice|deal|agreement|verdict) (?:is|was|stands|remains)\b"
     rf"{_NOT_AN_OPINION}|\b(?:my|our) (?:final )?(?:decision|choice|pick) (?:is|was)\b"
     rf"{_NOT_AN_OPINION}"),
    (("set ", "fixed "), rf"{_IS} (?:set|fixed) (?:for|at|to) {_WHEN}"),
    (("agreed", "deal", "decided", "settled", "approved"),
     r"^(?:(?:ok(?:ay)?|right|yes|so|then|and),? |(?:good|great|fine|perfect), )*"
     r"(?:agreed|deal|done deal|decided|settled|approved)(?: then)?"
     r"(?:[.!]|, (?:let's|we|then|so)\b|$)"),
    (("decision", "verdict", "agreed", "settled", "decided", "approved", "locked", "plan"),
     r"\b(?:decision|verdict|agreed|settled|decided|approved|locked(?: in)?|change of plans?)"
     r"(?:\s?[:—–]| - )"),
    # let us have it so
    (("let's", "let us"),
     r"\blet(?:'s| us)(?: (?:just|all|both|now|then|officially))? (?:"
     rf"lock|go with{_NOT_A_PERSON}|go for (?:option|plan|version|the \w+ (?:one|option|version))"
     r"|go ahead with|stick (?:with|to)|settle (?:on|for)|commit to|adopt|finali[sz]e|ship|choose"
     r"|make (?:it|that) (?!happen|count|work|through|up|clear|fun|special)"
     r"|call it (?!a day|a night|quits)|use|switch (?!gears|topics)|postpone|cancel|schedule"
     r"|pick (?!(?:it |this |that )?up)|drop (?!by|in|off)|move (?:it|that|the|this)"
     r"|keep (?:to|it (?:at|on)|using|the (?!conversation|momentum|energy|spirit))"
     r"|set (?:it|the|that))\b"),
    (("go with", "going with", "go ahead", "going ahead", "stick", "settle", "settling", "switch",
      "drop", "postpon", "cancel"),
     rf"{_WE_WILL} (?:go(?:ing)? with{_NOT_A_PERSON}|go(?:ing)? ahead with|stick(?:ing)? (?:with"
     r"|to)|settl(?:e|ing) (?:on|for)|switch(?:ing)? to|drop(?:ping)? (?!by|off|in|out)"
     r"|postpon(?:e|ing)|cancel(?:l?ing)?)\b"),
    (("we'll", "we will", "we now"),
     r"\bwe(?:'ll| will| now) (?:use|adopt|deploy|launch|release|ship|freeze|meet (?:on|at)"
     r"|keep (?:using|it (?:at|on)|the (?!conversation|momentum)))\b"),
    (("lock",),
     r"\block(?:ing|ed)? (?:it|that|this|those|them|the [\w -]{1,30}?) in\b"
     rf"|\blocked in\b{_NOT_A_PLACE}"),
    (("from now on", "going forward", "as of ", "starting "),
     r"\b(?:from now on|going forward|as of (?:today|now)|starting (?:today|now)),?"
     r" (?:we|it|the|all|every|everyone|nobody|no)\b"),
    # otherwise than before
    (("change of plan", "changed ", "changing "),
     r"\bchange of plans?\b"
     r"|\bchang(?:ed|ing) (?:my|our|the|his|her|their) (?:minds?|plans?|decision)\b"),
    (("moved", "postponed", "rescheduled", "cancel", "called off", "pushed", "brought", "delayed"),
     rf"{_IS} (?:postponed|rescheduled|cancel+ed|called off|brought forward|(?:moved|pushed"
     rf"(?: back)?|delayed)(?: from [^.!?]{{1,20}})? (?:to|until) )\b"
     rf"|{_WHO}{_HAVE}{_ADVERB} (?:postponed|rescheduled|cancel+ed|called off|(?:moved|pushed)"
     rf" (?:it|that|the [\w -]{{1,30}}?|our \w+)(?: back)? to {_WHEN})"),
    (("scrap ", "forget ", "make it", "make that", "instead of"),
     r"\bscrap (?:that|it|this|the (?:old|plan|earlier))\b|\bforget (?:the (?:old|earlier)|what i"
     rf" said)\b|\bmake (?:it|that) {_WHEN}|\binstead of [^.!?]{{1,40}}, (?:we|it|the) "),
)  # fmt: skip
"""Each sign needs one of its words to stand in the sentence; most sentences have none."""

_EVERY_HINT = frozenset(chain.from_iterable(hints for hints, _ in _SIGNS))
_HINTS = tuple(
    hint for hint in _EVERY_HINT if not any(each != hint and each in hint for each in _EVERY_HINT)
)
"""Without those that another one is part of."""
_PATTERNS = {re.compile(pattern): hints for hints, pattern in _SIGNS}
_TAKEN_BACK = re.compile(
    r"\b(?:not|never|\w+n't|cannot|hardly|without|nothing|nobody|no one|none|yet to"
    r"|before|until|unless|if|whether|once|when|what|how|why|which|who|where"
    r"|could|should|might|(?<!in )may|would|maybe|perhaps|wish|hope|hoping|used to"
    r"|(?:need|needs|needed|want|wants|have|has|had|like|try|trying|ready|time|hard|supposed) to)"
    r"\b[^.;!?]{0,40}$"
)
_REACH = 60
_UNMARKED = str.maketrans({"’": "'", "*": None, "_": None, "`": None})


def is_decision(text: str) -> bool:
    """Whether some sentence of `text` commits to something; code never does."""
    plain = _plain(text)
    likely = _patterns_hinted(plain) if any(map(plain.__contains__, _HINTS)) else ()
    return bool(likely) and any(
        _commits(sentence, _plain(sentence), likely)
        for sentence, is_code in marked_sentences(text)
        if not is_code
    )


def commits(sentence: str) -> bool:
    """Whether one sentence does; a question never does."""
    plain = _plain(sentence)
    return _commits(sentence, plain, _patterns_hinted(plain))


def _commits(sentence: str, plain: str, likely: Sequence[re.Pattern[str]]) -> bool:
    if not likely or is_question(sentence):
        return False
    bare = plain.strip("\"'“” ")
    return any(_is_meant(bare, sign) for pattern in likely for sign in pattern.finditer(bare))


def _plain(text: str) -> str:
    """In lower case, without marks, and with a blank where a line breaks."""
    return " ".join(text.lower().translate(_UNMARKED).split())


def _patterns_hinted(plain: str) -> list[re.Pattern[str]]:
    return [pattern for pattern, hints in _PATTERNS.items() if any(map(plain.__contains__, hints))]


def _is_meant(sentence: str, sign: re.Match[str]) -> bool:
    return not _TAKEN_BACK.search(sentence[max(0, sign.start() - _REACH) : sign.start()])
