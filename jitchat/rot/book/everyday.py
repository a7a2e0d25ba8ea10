"""Words that talk of anything needs."""

from __future__ import annotations

from functools import cache

from jitchat.text.words import stems

_WORDS = """
    time day night week month year today tonight tomorrow yesterday morning afternoon evening hour
    minute early late later last next first ago already always never often again soon still since
    until while past moment date

    one two three four five six seven eight nine ten half pair number another many few whole each
    rest enough

    good bad great nice fine kind small little big large long short old new young right wrong sure
    well better best worse worst hard easy quick slow free full empty open close same different
    possible nearly hardly exactly straight back away around along across near far left here there
    ahead together alone else instead even quite rather too only just

    be have do go come get give take put make let keep leave stay stand hold bring turn move set
    run walk sit lie look see watch hear listen feel think believe know mean guess wonder say tell
    ask answer talk speak call write read show find lose try help need want like love hope wish
    seem appear start begin end stop finish happen change work play use pay buy cost send wait
    meet follow carry remember forget mention notice decide agree plan expect matter mind care

    thing something way part place side point end beginning bit piece lot people person man woman
    somebody friend family child kid parent home house room door hand head word line list page
    idea reason case question problem fact story matter job world euro

    really maybe perhaps probably almost usually sometimes however because though although unless
    whether otherwise therefore anyway indeed besides of course okay yes no please thanks
"""


@cache
def everyday() -> frozenset[str]:
    """Give their stems: each says too little alone to be taken for a word of a fact."""
    return frozenset(stems(_WORDS))
