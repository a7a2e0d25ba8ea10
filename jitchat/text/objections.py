"""Whether a message says that the reply before it is wrong.

It has to say so of "that", "it" or "you" and at its beginning: "what is wrong with the port?"
asks, "the port is wrong" tells of a port.
"""

from __future__ import annotations

import re

from jitchat.text.sentences import sentences

_SENTENCES = 2
_LONGEST = 2_000
"""Characters that are looked at."""
_OPENING = (
    r"(?:(?:no|nope|nah|hm+|um+|uh|oh|wait|sorry|actually|well|but|ok(?:ay)?|hey|look|again|still"
    r"|i(?:'m| am) afraid|i'm sorry|i(?: still)? (?:think|believe)|i(?:'m| am) (?:pretty |quite )?"
    r"sure)\b[\s,.!:;–—-]*)*"
)
_IT = r"(?:that|this|it|your (?:answer|reply|response|last answer|last reply)|the (?:answer|reply))"
_IS = r"(?:'s| is| was|'re)"
_VERY = (
    r"(?: (?:just|simply|still|completely|totally|all|also|clearly|plainly|definitely|quite|very"
    r"|again|absolutely|entirely|actually|really|partly|so|obviously))*"
)
_WRONG = (
    r" (?:wrong|incorrect|false|untrue|inaccurate|mistaken|nonsense|rubbish|made up|a mistake"
    r"|an error|the wrong (?:one|answer|turn|number|date|day|time|name|place|person|port))"
)
_RIGHT = r" (?:right|correct|true|accurate|so|it|the case|what)"
_NOT = rf"(?:{_IS}{_VERY} not| isn't| wasn't)"
_WE = r"(?:we|i|you|he|she|they)"
_SAID = (
    r"(?:said|told|decided|agreed|settled|chose|picked|meant|asked|wanted|wrote|discussed"
    r"|talked|went|met|moved|did|planned|promised)"
)
_OVER = (
    r"(?=\s*(?:$|[.,;:!–—-]|again\b|about\b|because\b|since\b|and\b|but\b|as\b|though\b|sorry\b))"
)
_SIGNS = re.compile(
    rf"{_OPENING}(?:"
    rf"{_IT}{_IS}{_VERY}{_WRONG}{_OVER}"
    rf"|{_IT}{_NOT}{_VERY}(?: (?:right|correct|true|accurate|so|it|the case){_OVER}"
    rf"|(?: at all)? (?:what|when|where|how|who|the \w+(?: \w+)?(?: that)?) {_WE}"
    rf"(?: all| both| had|'d)? {_SAID}\b)"
    rf"|{_IT} (?:can't|cannot|can not|doesn't sound|does not sound|doesn't look|does not look)"
    rf"(?: be)? (?:right|correct|true){_OVER}"
    rf"|i (?:don't|do not) (?:think|believe)(?: that)? (?:{_IT}{_IS}|you're|you are){_RIGHT}{_OVER}"
    rf"|you(?:'re| are| were){_VERY}(?:{_WRONG}| not (?:right|correct)){_OVER}"
    rf"|you(?:'ve)? (?:got|get|have|had|remembered)(?: all of)? (?:that|this|it|them)"
    rf"{_VERY} wrong\b"
    rf"|you (?:made (?:that|this|it) up|misremember\w*|misread|misunderst\w+|mixed (?:that|this|it"
    r"|them|something) up|forgot (?:what|that|about|to mention|the)"
    r"|(?:missed|overlooked) (?:that|the|what|something|one))\b"
    rf"|(?:wrong|incorrect|not (?:true|right|correct|quite right|quite)|false|untrue|falsch"
    rf"|das (?:ist|stimmt) (?:falsch|nicht)|that's not it){_OVER}"
    r")"
    rf"|no\b[\s,.!:;–—-]+{_WE} (?:never |already |all |both )?{_SAID}\b",
    re.IGNORECASE,
)


def objects(text: str) -> bool:
    """Whether one of the first sentences says that what was answered is wrong."""
    plain = text[:_LONGEST].replace("’", "'")
    return any(_SIGNS.match(each) for each in (plain.strip(), *sentences(plain)[:_SENTENCES]))
