"""Every fact there is, by kind and number."""

from __future__ import annotations

from collections.abc import Mapping

from jitchat.rot.book.absences import ABSENT
from jitchat.rot.book.counts import COUNTING
from jitchat.rot.book.direct import DIRECT
from jitchat.rot.book.distractions import DISTRACTED
from jitchat.rot.book.everyday import everyday
from jitchat.rot.book.exact import EXACT
from jitchat.rot.book.making import Maker
from jitchat.rot.book.paraphrased import PARAPHRASED
from jitchat.rot.book.updates import UPDATED
from jitchat.rot.fact import Fact
from jitchat.rot.kinds import Kind
from jitchat.text.words import stems

__all__ = ["MAKERS", "Maker", "avoided"]

MAKERS: Mapping[Kind, tuple[Maker, ...]] = {
    Kind.DIRECT: DIRECT,
    Kind.PARAPHRASED: PARAPHRASED,
    Kind.UPDATED: UPDATED,
    Kind.DISTRACTED: DISTRACTED,
    Kind.EXACT: EXACT,
    Kind.COUNTING: COUNTING,
    Kind.ABSENT: ABSENT,
}
"""At least twelve of each kind; none shares words with another that would mislead a search."""


def avoided(fact: Fact) -> frozenset[str]:
    """Name the stems that no filler may have beside this fact: those that matter in it.

    They are the stems of the content words of its question, its values and what the user says
    of it, but for those of `everyday`: talk of anything needs them, and they say nothing alone.
    """
    said = [saying.text for saying in fact.sayings]
    every = stems(" ".join((fact.question, *said, *fact.accepted, *fact.wrong)))
    return frozenset(every) - everyday()
