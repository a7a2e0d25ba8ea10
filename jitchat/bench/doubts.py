"""What a labelled file holds that cannot be measured, or not as it stands: told, never dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitchat.bench.labels import LabelledTalk
from jitchat.transfer.formats import left_out


def doubts(talks: Sequence[LabelledTalk]) -> Iterator[str]:
    """Say what was left out and what is missed in any case; nothing where the file is whole."""
    asked = [question for talk in talks for question in talk.questions]
    of_all = f"of {len(asked):,} questions"
    if told := left_out([talk.found for talk in talks]):
        yield f"left out of the conversations: {told}"
    if unreadable := sum(talk.unreadable for talk in talks):
        yield f"questions left out, without a turn, a text or a category 1 to 5: {unreadable:,}"
    if unfounded := sum(not question.evidence for question in asked):
        yield f"without evidence that is a turn, missed in any case: {unfounded:,} {of_all}"
    if unknown := sum(question.strict is None for question in asked):
        yield f"with an evidence id that no turn has, missed if strict: {unknown:,} {of_all}"
