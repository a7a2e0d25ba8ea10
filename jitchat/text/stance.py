"""What a statement does: it decides, disclaims knowledge, or objects to what was said.

Fires on what was decided ("we agreed on", "let's lock that in", "change of plan"), not on
wishes, duties, guesses, reports of others' opinions or questions ("that must be fun", "should
we decide?"). A sign commits, unless a word ahead of it in its clause takes it back.

Such an answer repeats the words of its question, and so matches it better than the fact does.

It has to say so of "that", "it" or "you" and at its beginning: "what is wrong with the port?"
asks, "the port is wrong" tells of a port.
"""

import re
from collections.abc import Sequence
from itertools import chain

from jitchat.text.sentences import is_question, marked_sentences, sentences

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


_LONGEST = 400
"""Characters; what is longer says more than that."""
_NOT = r"(?:do(?:es)? ?n[o']t|did ?n[o']t|can(?:not|'t| not)|could ?n[o']t|is ?n[o']t|was ?n[o']t)"
_SOURCE = (
    r"(?:conversation|context|window|transcript|chat|history|message|record|memory|text|index"
    r"|information|excerpt)s?"
)
_DISCLAIMER = re.compile(
    rf"\bi(?: really| just| honestly)? {_NOT}(?: really)? (?:know|recall|remember|have (?:any |that"
    r"|the |enough |access)|find|see (?:any|that|where|it|a)|tell from)"
    rf"|\bi(?:'m| am) (?:not sure|afraid i|unable to|not able to|not aware)"
    rf"|\b{_SOURCE}(?: here| above| so far)? (?:{_NOT}|never)"
    r" (?:say|hold|mention|tell|contain|include|state|give|specify|show|provide)"
    rf"|\b(?:not|never|n't) (?:been )?(?:mentioned|stated|said|specified|given|discussed)\b"
    rf".{{0,40}}\b{_SOURCE}\b"
    rf"|\bno (?:information|mention|record|indication)\b|\bno idea\b|^\W*dunno\b",
    re.IGNORECASE,
)


def disclaims(text: str) -> bool:
    """Whether the text is short and says so. A question does not."""
    plain = text.strip().replace("’", "'")
    return len(plain) <= _LONGEST and not plain.endswith("?") and bool(_DISCLAIMER.search(plain))


_SENTENCES = 2
_LONGEST_OBJECTION = 2_000
"""Characters that are looked at."""
_OPENING = (
    r"(?:(?:no|nope|nah|hm+|um+|uh|oh|wait|sorry|actually|well|but|ok(?:ay)?|hey|look|again|still"
    r"|i(?:'m| am) afraid|i'm sorry|i(?: still)? (?:think|believe)|i(?:'m| am) (?:pretty |quite )?"
    r"sure)\b[\s,.!:;–—-]*)*"
)
_IT = r"(?:that|this|it|your (?:answer|reply|response|last answer|last reply)|the (?:answer|reply))"
_BE = r"(?:'s| is| was|'re)"
_VERY = (
    r"(?: (?:just|simply|still|completely|totally|all|also|clearly|plainly|definitely|quite|very"
    r"|again|absolutely|entirely|actually|really|partly|so|obviously))*"
)
_WRONG = (
    r" (?:wrong|incorrect|false|untrue|inaccurate|mistaken|nonsense|rubbish|made up|a mistake"
    r"|an error|the wrong (?:one|answer|turn|number|date|day|time|name|place|person|port))"
)
_RIGHT = r" (?:right|correct|true|accurate|so|it|the case|what)"
_BE_NOT = rf"(?:{_BE}{_VERY} not| isn't| wasn't)"
_WE = r"(?:we|i|you|he|she|they)"
_SAID = (
    r"(?:said|told|decided|agreed|settled|chose|picked|meant|asked|wanted|wrote|discussed"
    r"|talked|went|met|moved|did|planned|promised)"
)
_OVER = (
    r"(?=\s*(?:$|[.,;:!–—-]|again\b|about\b|because\b|since\b|and\b|but\b|as\b|though\b|sorry\b))"
)
_OBJECTION = re.compile(
    rf"{_OPENING}(?:"
    rf"{_IT}{_BE}{_VERY}{_WRONG}{_OVER}"
    rf"|{_IT}{_BE_NOT}{_VERY}(?: (?:right|correct|true|accurate|so|it|the case){_OVER}"
    rf"|(?: at all)? (?:what|when|where|how|who|the \w+(?: \w+)?(?: that)?) {_WE}"
    rf"(?: all| both| had|'d)? {_SAID}\b)"
    rf"|{_IT} (?:can't|cannot|can not|doesn't sound|does not sound|doesn't look|does not look)"
    rf"(?: be)? (?:right|correct|true){_OVER}"
    rf"|i (?:don't|do not) (?:think|believe)(?: that)? (?:{_IT}{_BE}|you're|you are){_RIGHT}{_OVER}"
    rf"|you(?:'re| are| were){_VERY}(?:{_WRONG}| not (?:right|correct)){_OVER}"
    rf"|you(?:'ve)? (?:got|get|have|had|remembered)(?: all of)? (?:that|this|it|them)"
    rf"{_VERY} wrong\b"
    rf"|you (?:made (?:that|this|it) up|misremember\w*|misread|misunderst\w+|mixed (?:that|this|it"
    r"|them|something) up|forgot (?:what|that|about|to mention|the)"
    r"|(?:missed|overlooked) (?:that|the|what|something|one))\b"
    rf"|(?:wrong|incorrect|not (?:true|right|correct|quite right|quite)|false|untrue"
    rf"|that's not it){_OVER}"
    r")"
    rf"|no\b[\s,.!:;–—-]+{_WE} (?:never |already |all |both )?{_SAID}\b",
    re.IGNORECASE,
)


def objects(text: str) -> bool:
    """Whether one of the first sentences says that what was answered is wrong."""
    plain = text[:_LONGEST_OBJECTION].replace("’", "'")
    return any(_OBJECTION.match(each) for each in (plain.strip(), *sentences(plain)[:_SENTENCES]))
