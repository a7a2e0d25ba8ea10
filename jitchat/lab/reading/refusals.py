"""Whether an answer says that what was asked for is not known, or was never said."""

from __future__ import annotations

import re

_ADVERBS = (
    r"(?: (?:actually|really|just|honestly|currently|yet|ever|explicitly|directly|specifically"
    r"|anywhere|been|previously|so far|in fact|clearly|also|even|quite|able to)){0,3}"
)
_NOT = (
    r"(?:(?:do|does|did|have|has|had|is|are|was|were|could|would|will|am)(?: not|n't)"
    r"|cannot|can't|can not|won't|never|not|nobody|no 1)"
)
_SAID = (
    r"(?:sa(?:y|id)|h[eo]ld|mention(?:ed)?|tell|told|contain(?:ed)?|includ(?:e|ed)|stated?|g[ai]ven?"
    r"|specif(?:y|ied)|show(?:n|ed)?|provided?|shared?|discuss(?:ed)?|talk(?:ed)?|named?"
    r"|cover(?:ed)?|reveal(?:ed)?|record(?:ed)?|list(?:ed)?|noted?|indicated?|appear(?:ed)?"
    r"|c[ao]me up|bring|brought|known?|available|present|disclosed|documented|established|found"
    r"|clear|answer(?:ed)?|addressed|written|spoken?|describ(?:e|ed)|referenced|determined?"
    r"|identif(?:y|ied)|something|anything|any|part of|someone|somebody|got|get into"
    r"|touch(?:ed)? on|go into)"
)
_FOUND = (
    r"(?:know|recall|remember|have|find|seen?|tell|say|answer|determine|locate|identify|confirm"
    r"|retrieve|spot|think|believe|possess|provide|give|work out|figure|able|aware|sure|certain"
    r"|help|got|finding|seeing|getting)"
)
_NOTHING = (
    r"(?:information|info|mentions?|records?|indications?|idea|details?|data|references?|trace"
    r"|answer|notes?|statements?|word|memory|recollection|knowledge|clue|evidence|entry|sign|way"
    r"|such|explicit|messages?|context|turn)"
)
_SOURCE = (
    r"(?:conversation|context|window|chat|history|messages?|transcript|records?|memory|notes?|text"
    r"|information|excerpts?|discussion|exchange|thread|log|passages?)"
)
_TOLD = (
    r"\b(?:told|mention\w*|said|talk\w*|know|knew|have|gave|give|noted|shared|given|hold|only|chat"
    r"|conversation)"
)
_SIGNS = re.compile(
    "|".join(
        (
            rf"\bi(?:'m|'ve)?{_ADVERBS} ?{_NOT}{_ADVERBS} {_FOUND}\b(?! (?:why|any other)\b)",
            r"\bi(?:'m| am)(?: (?:afraid|sorry|really|still|just)){0,2},? (?:unsure|unable|unaware"
            r"|uncertain|lacking|missing|drawing a blank|coming up (?:blank|empty))\b",
            r"\bi lack\b|\bin what (?:i|we|you)\b|\bthere(?:'s| is| are) only\b",
            r"\bi(?:'ve| have| had|'d| see| find| found| know| could| can)"
            r" (?:no|nothing|only|none)\b",
            rf"\b{_NOT}{_ADVERBS} {_SAID}\b",
            r"\b(?:you|we) (?:haven't|didn't|have not|did not|never did)\b ?(?:[.!,]|\Z)",
            r"\bonly (?:\w+ )?(?:mention|say|said|told|tell|cover|talk|refer|list|gave|give|know"
            r"|knew|see|saw|find|found|have|has|had|about|for|1|thing|value|figure|number)\w*\b",
            r"\b(?:isn't|not|nothing|nowhere|none)\b[^.!?;\n]{0,30} (?:in|from|within|of)"
            rf" (?:our|the|this|my|your|what)\b[^.!?;\n]{{0,20}} ?{_SOURCE}\b",
            rf"\bno (?:\w+ )?{_NOTHING}\b",
            rf"\bno (?:\w+ ){{1,4}}(?:was|is|were|has been|have been){_ADVERBS} {_SAID}\b",
            r"(?:\A|[,;:(\n-] ?|\bbut |\band )no (?:\w+ ){0,4}\w+ ?(?:[.!\n]|\Z)",
            r"\bthere(?:'s| is| are| was| were| has been)(?: simply| just)?"
            r" (?:no|nothing|not|none)\b(?! (?:need|other|doubt|hurry|rush|reason|else)\b)"
            r"|\bthere (?:isn't|aren't|wasn't|hasn't been)\b",
            r"\b(?:g[ai]ven?|have|find|found|see|saw|is|are|was|provided?|mention(?:s|ed)?|lists?)"
            r" (?:none|no)\b(?! (?:need|other|doubt|longer|more)\b)",
            r"\bnowhere\b|\bnone (?:for|of|about|in|is|was|has)\b",
            r"\bnothing (?:about|on|regarding|concerning|for|here|to that effect|like that"
            r"|in (?:our|the|this|my|here|what)|that (?:says|tells|mentions|answers|fits))\b",
            rf"\bnothing (?:was|is|has been|had been){_ADVERBS} {_SAID}\b",
            rf"{_TOLD}\b[^.!?\n]{{0,80}}\b(?:nothing|never)\b(?! (?:else|more|other)\b)",
            rf"{_TOLD}\b[^.!?\n]{{0,60}} only ?(?:[.!\n]|\Z)",
            r"\b(?:unknown|unspecified|unmentioned|undisclosed|unstated|unclear|undetermined"
            r"|missing|absent|n/a|not applicable|left out|left open|remains open|no clue|beats me"
            r"|dunno|impossible to (?:say|tell|know)|(?:has|have) yet to)\b",
            rf"{_TOLD}\b[^.!?\n]{{0,80}}(?: but|,|;| -) (?:and )?not\b",
            rf"\bwithout (?:any )?(?:more|further|that|this|additional) (?:{_SOURCE}|details?)\b",
            rf"\b(?:need|require) (?:\w+ )?(?:more|further|additional) (?:{_SOURCE}|details?)\b",
            r"\b(?:could|can|would) you (?:please )?(?:tell|remind|share|provide|clarify|specify)",
            r"\A\W*(?:none|never|nope)\b|\bnot that i\b",
        )
    )
)


def refuses(plain: str) -> bool:
    """Whether a plain text says so."""
    return bool(_SIGNS.search(plain))
