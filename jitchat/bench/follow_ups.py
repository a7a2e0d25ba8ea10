"""Follow-ups and corrections: what a message is about, or the newer of two statements, is sent.

The cases were written by hand, by several hands and in ten languages. Each is placed into other
talk of its language, and its draft is planned as the next message. A follow-up is held if the line
that it needs stands in the window, and in no outdated version; a correction, if the newer statement
does, and the older does not, or stands before it with a note. In a trap, both must stay.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from tomllib import loads
from typing import Any

from jitchat.bench.asking import OpenConversation, Setup, indexed
from jitchat.bench.proportions import wilson
from jitchat.bench.scores import ALL, Figures
from jitchat.transfer.turns import ConversationBuilder, FileConversation
from jitchat.values import Mode, Role
from jitchat.window.window import ContextWindow

DISTANCES = (0, 1, 3, 10, 30)
"""Exchanges of other talk between the subject and the draft."""
_BEFORE = 12
"""Exchanges of other talk before the subject: the conversation is not only about it."""
_APART = 6
"""Exchanges between an older and a newer statement."""

Exchange = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Case:
    language: str
    kind: str
    exchanges: tuple[Exchange, ...]
    """Those that the draft is about, in order."""
    draft: str
    needs: str
    """Stands in one of the exchanges."""
    outdated: str = ""
    """Must not stand in the window without what is needed; empty if nothing is outdated."""
    keeps_both: bool = False


def follow_ups() -> list[Case]:
    return [_follow_up(fields) for fields in _cases("followups")]


def corrections() -> list[Case]:
    return [_correction(fields) for fields in _cases("corrections")]


def _follow_up(fields: dict[str, Any]) -> Case:
    exchanges = [(fields["question"], fields["artefact"])]
    if "revision" in fields:
        exchanges.append((fields["request_revision"], fields["revision"]))
    known = fields["language"], fields["kind"], tuple(exchanges), fields["draft"]
    return Case(*known, fields["expects"], fields.get("outdated", ""))


def _correction(fields: dict[str, Any]) -> Case:
    keeps_both = fields.get("keep") == "both"
    exchanges = tuple((said, "") for said in (fields["old"], fields["new"]))
    if fields["speaker"] == "assistant":
        exchanges = tuple((answer, said) for said, answer in exchanges)
    kind = "trap" if keeps_both else "correction"
    known = fields["language"], kind, exchanges, fields["draft"]
    return Case(*known, fields["new"], fields["old"], keeps_both)


def _cases(name: str, key: str = "case") -> Iterator[dict[str, Any]]:
    folder = files(__package__).joinpath("data", "cases")
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.startswith(f"{name}-"):
            yield from loads(file.read_text(encoding="utf-8"))[key]


@cache
def talk_in(language: str) -> tuple[Exchange, ...]:
    """List the exchanges of other talk in a language."""
    talk = _cases("talk", "exchange")
    return tuple((one["question"], one["answer"]) for one in talk if one["language"] == language)


def conversation_of(case: Case, distance: int) -> FileConversation:
    """Place a case into other talk, with `distance` exchanges before the draft."""
    apart = 0 if case.kind not in ("correction", "trap") else _APART
    other = cycle(talk_in(case.language))
    exchanges = list(islice(other, _BEFORE))
    for number, own in enumerate(case.exchanges):
        exchanges += [*islice(other, apart if number else 0), own]
    exchanges += islice(other, distance)
    builder = ConversationBuilder()
    for question, answer in exchanges:
        for role, text in ((Role.USER, question), (Role.ASSISTANT, answer)):
            if text:
                builder.take(role, text, None, None)
    return builder.found("case", "case")


@dataclass(frozen=True, slots=True)
class Result:
    case: Case
    distance: int
    held: bool
    tokens: int
    full: int


def measure(
    cases: list[Case],
    setup: Setup,
    distances: tuple[int, ...] = DISTANCES,
    advance: Callable[[int], object] = lambda _: None,
) -> list[Result]:
    """Plan each case's draft in `jit`, at each distance."""
    results = []
    for case in cases:
        for distance in distances:
            with indexed(conversation_of(case, distance), setup.embedder) as memory:
                conversation = OpenConversation(memory, setup.counter, setup.budget, setup.asking)
                retrieval, _ = conversation.retrieve(case.draft)
                window, _ = conversation.window(Mode.JIT, case.draft, retrieval)
            held = is_held(case, window)
            results.append(Result(case, distance, held, window.used, window.full_tokens))
            advance(1)
    return results


def is_held(case: Case, window: ContextWindow) -> bool:
    text = _bare("\n".join(message.content for message in window.messages()))
    needed, older = _bare(case.needs), _bare(case.outdated)
    if needed not in text:
        return False
    if case.keeps_both or not older:
        return older in text
    return older not in text or text.rindex(older) < text.rindex(needed)


def _bare(text: str) -> str:
    return " ".join(text.split())


def by_kind(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Group results by the kind of their case, after all of them."""
    groups = {ALL: list(results)}
    for result in results:
        groups.setdefault(result.case.kind, []).append(result)
    return groups


def figures_of(results: Sequence[Result]) -> Figures:
    """Return the cases that are held, by distance, with intervals, and the tokens of a window."""
    held = {}
    for distance in sorted({result.distance for result in results}):
        group = [result for result in results if result.distance == distance]
        missed = [result.case.draft for result in group if not result.held]
        right = len(group) - len(missed)
        interval = wilson(right, len(group))
        held[distance] = {"n": len(group), "held": right, "interval": interval, "missed": missed}
    tokens = sum(result.tokens for result in results)
    of_full = tokens / sum(result.full for result in results)
    return {"tokens": tokens / len(results), "of_full": of_full, "held": held}
