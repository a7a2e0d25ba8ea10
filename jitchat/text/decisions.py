"""Whether a text commits to something: a decision is made, confirmed or changed.

Fires on what was decided ("we agreed on", "let's lock that in", "change of plan"), not on
wishes, duties, guesses or questions ("that must be fun", "should we decide?").
"""

from __future__ import annotations

import re

from jitchat.text.sentences import is_question, sentences

_WE = r"\b(?:we|i|they|you|he|she|the team|everyone|both of us)"
_HAVE = r"(?:'ve|'d|'s|'re| have| had| has| are| were| was)?"
_ADVERB = r"(?: (?:all|just|finally|already|now|both|then|officially|firmly))?"
_DECIDED = r"(?:decided|agreed|settled|opted|committed|resolved|signed off)"
_CHOSE = r"(?:chose|chosen|picked)(?! (?:up|out|at|me|him|us)\b)"
_NOBODY = r"(?! (?:my|him|her|them|you|us|me|friends|family|it\b))"
_THING = r"(?: (?:it|that|this|those|them|[a-z]+|the [\w -]{1,30}?))"

_COMMITMENT = re.compile(
    "|".join(
        (
            rf"{_WE}{_HAVE}{_ADVERB} {_DECIDED}\b(?! (?:yet|whether|if)\b)",
            rf"\b(?:we|both of us|the team){_HAVE}{_ADVERB} {_CHOSE}|\bfinally {_CHOSE}",
            r"\b(?:decision|final decision|final answer|verdict|resolution|agreed|settled"
            r"|decided|change of plans?)\s*[:—–]",
            r"^(?:ok(?:ay)?,? |right,? |good,? |then )?(?:agreed|deal|done deal|decided|settled)"
            r"(?: then)?(?:[.!]|, (?:let's|we|then)\b|$)",
            r"\b(?:it's|it is|that's|that is|this is|all) (?:now )?(?:decided|settled|agreed|a deal"
            r"|final|locked(?: in)?)\b",
            r"\b(?:is|are|was|were|been|got|be) (?:now )?(?:decided|settled|agreed|locked in"
            r"|signed off|set in stone|finali[sz]ed)\b",
            rf"\blet(?:'s| us) (?:just |all |both |now |then )?(?:lock|go (?:with|for){_NOBODY}"
            r"|go ahead with|stick (?:with|to)|settle (?:on|for)|commit to"
            r"|make it (?!happen|count|work|through|up)|call it|use|keep (?:to|the|this|that) "
            r"|choose|pick|adopt|finali[sz]e|drop|switch|move (?:it|that|the|this)|ship)\b",
            rf"\b(?:lock|locked|locking){_THING}? (?:in|down)\b",
            r"\b(?:we're|we are|we'll|we will|i'm|i am|i'll|i will) (?:definitely |now |just )?"
            rf"(?:go(?:ing)? with{_NOBODY}|go(?:ing)? ahead with|stick(?:ing)? (?:with|to)"
            r"|settling on|switch(?:ing)? to|dropping|moving to)\b",
            r"\b(?:went|gone) with\b.{0,60}\b(?:instead|in the end|after all)\b",
            r"\bchange of plans?\b|\b(?:changed|change) (?:my|our|the) (?:mind|plan|decision)\b",
            r"\b(?:is|are|it's|that's) (?:now )?(?:moved|postponed|rescheduled|cancel+ed"
            r"|called off|replaced by|pushed (?:back )?to|brought forward)\b",
            r"\bscrap (?:that|the old|the plan|the earlier)\b",
            r"\b(?:agreed|decided) (?:on|upon|to|that|against)\b(?! disagree)",
            r"\bthe (?:plan|decision|choice|deal|agreement|verdict) (?:is|was|stands|remains)\b",
            rf"\b(?:my|our|the) (?:final )?(?:decision|choice|pick) (?:is|was|on)\b",
            r"\bmade (?:a|the|my|our|up (?:my|our)) (?:decision|mind|minds|choice)\b",
            r"\b(?:from now on|going forward),? (?:we|it|the)\b",
        )
    ),
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:not|never|n't|hardly|without|haven't|hasn't|didn't|isn't|aren't|nothing(?: is)?"
    r"|nobody|no one|yet to|before|until|unless|if|whether|once|when|could|should|might|may"
    r"|would|maybe|perhaps|wish|hope|hoping|used to)\b[^.;!?]{0,40}$",
    re.IGNORECASE,
)
_HEDGED_AHEAD = re.compile(
    r"\b(?:haven't|have not|hasn't|has not|didn't|did not|not yet|never|isn't|is not|aren't"
    r"|nothing(?:'s)?|can't|cannot)\b",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"deci|agree|settl|chose|pick|opt|commit|resol|sign|verdict|final|let|lock|going|go |stick"
    r"|switch|drop|moving|with|plan|mind|moved|postpon|resched|cancel|called|replac|push|brought"
    r"|scrap|forget|choice|made|from now|forward|deal|stone",
    re.IGNORECASE,
)
"""Every commitment has one of these; most sentences have none and are done with."""


def is_decision(text: str) -> bool:
    """Whether some sentence of `text` commits to something."""
    return any(commits(sentence) for sentence in sentences(text))


def commits(sentence: str) -> bool:
    """Whether one sentence does; a question never does."""
    if not _HINT.search(sentence) or is_question(sentence):
        return False
    bare = sentence.replace("’", "'").replace("*", "").replace("_", "").strip("\"'“” ")
    return any(_is_meant(bare, match) for match in _COMMITMENT.finditer(bare))


def _is_meant(sentence: str, match: re.Match[str]) -> bool:
    ahead = sentence[max(0, match.start() - 60) : match.start()]
    return not _UNDECIDED.search(ahead) and not _HEDGED_AHEAD.search(match.group())
