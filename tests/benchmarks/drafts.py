"""What becomes of drafts that are no plain question: `python -m tests.benchmarks.drafts`.

Messages that need nothing, what is asked beside them (which has to pass), questions that stand in
long pastes, and questions of time alone. They are asked of talk between people and, where
`JITCHAT_SHARED` has it, of a chat with a language model; `--held-out` takes the half of the drafts
that nothing was built on.
"""

from __future__ import annotations

import argparse
import json
import random
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Any

from jitchat.bench.asking import OpenConversation, indexed, turns_held
from jitchat.bench.questions import read_labelled
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.text.needs import need_of
from jitchat.transfer.turns import FileConversation
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind
from tests.support import ROOT, SHARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from jitchat.index.embedder import Embedder
    from jitchat.window.window import ContextWindow

DATA = ROOT / "tests" / "data"
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
"""When the drafts are written; a Wednesday."""
DAYS = 30
SEED = 418
_TOKENS = ("session", "worker", "lease", "shard", "replica", "socket", "cursor", "bucket")


@dataclass(frozen=True, slots=True)
class Background:
    name: str
    turns: tuple[Turn, ...]


def backgrounds() -> Iterator[Background]:
    lines = (DATA / "crowd.jsonl").read_text("utf-8").splitlines()[:300]
    said = [json.loads(line)["content"] for line in lines]
    yield Background("talk", _dated(said))
    chats = SHARED / "data" / "beam" / "beam10.json"
    if chats.exists():
        yield Background("chat", _dated([t.content for t in _chat(chats)]))


def _chat(path: Path) -> Sequence[Turn]:
    return read_labelled(path)[0].found.turns


def _dated(texts: Sequence[str]) -> tuple[Turn, ...]:
    """Spread texts over the days before `NOW`, half in the morning, half in the evening."""
    first, per_day = NOW.replace(hour=0) - timedelta(days=DAYS), len(texts) / DAYS
    turns = []
    for at, text in enumerate(texts):
        day = int(at / per_day)
        place = at - day * per_day
        hour = 9 if 2 * place < per_day else 19
        moment = first + timedelta(days=day, hours=hour, minutes=3 * place)
        role = Role.ASSISTANT if at % 2 else Role.USER
        turns.append(Turn(at + 1, role, text, moment))
    return tuple(turns)


def planted(background: Background, texts: Iterable[str]) -> tuple[Turn, ...]:
    """Put texts of the user in the places of some of the first half of the turns."""
    turns, places = list(background.turns), random.Random(SEED)
    users = [turn.position for turn in turns[4 : len(turns) // 2] if turn.role is Role.USER]
    for text, position in zip(texts, places.sample(users, 20), strict=False):
        turns[position - 1] = replace(turns[position - 1], content=text)
    return tuple(turns)


class Asked:
    """A background that is indexed, and drafts that are written there."""

    def __init__(self, chat: OpenConversation) -> None:
        self._chat = chat

    def window(self, draft: str) -> ContextWindow:
        retrieval, _ = self._chat.retrieve(draft)
        return self._chat.window(Mode.JIT, draft, retrieval)[0]


def recalled_tokens(window: ContextWindow) -> int:
    return sum(each.tokens for each in window.segments if each.kind in (Kind.INDEX, Kind.RETRIEVED))


def pastes(facts: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(kind, fact, draft): each question before, after and in the middle of each paste."""
    for at, fact in enumerate(facts):
        for kind, paste in _materials(at).items():
            asked = fact["asked"]
            yield kind, fact, f"{asked} I need it because of this:\n{paste}"
            yield kind, fact, f"Look at this:\n{paste}\n{asked}"
            yield kind, fact, f"{paste}\n{asked}\n{_materials(at + 100)[kind]}"


def _materials(seed: int) -> dict[str, str]:
    draw = random.Random(seed)

    def word() -> str:
        return "".join(draw.choices("abcdefghiklmnoprstuvw", k=draw.randint(4, 9)))

    log = "\n".join(
        f"2026-03-04T11:{n % 60:02}:07Z {draw.choice(('INFO', 'WARN', 'ERROR'))} [{word()}-{n}] "
        f"{draw.choice(_TOKENS)} {word()} failed for {word()} after {draw.randint(1, 900)} ms"
        for n in range(120)
    )
    trace = "Traceback (most recent call last):\n" + "\n".join(
        f'  File "/srv/app/{word()}/{word()}.py", line {draw.randint(5, 900)}, in {word()}\n'
        f"    return self.{word()}({word()}, {word()}={draw.randint(1, 99)})"
        for _ in range(40)
    )
    trace += f"\nValueError: {word()} is not a valid {draw.choice(_TOKENS)}"
    lines = (DATA / "crowd.jsonl").read_text("utf-8").splitlines()[400:]
    prose = [json.loads(line)["content"] for line in lines]
    essay = " ".join(draw.sample(prose, 150))
    unseen = " ".join(word() for _ in range(50))
    code = "```python\n" + "\n".join(
        f"def {word()}({word()}):\n    return {word()}" for _ in range(40)
    )
    return {"log": log, "trace": trace, "essay": essay, "unseen": unseen, "code": code + "\n```"}


def wanted(turns: Sequence[Turn], probe: dict[str, Any]) -> frozenset[int]:
    """The positions of the turns that a question of time asks for."""
    who = probe["who"]
    said = [turn for turn in turns if who in ("any", turn.role.value)]
    if "turns" in probe:
        return frozenset(said[place].position for place in probe["turns"])
    low, high = probe["days"]
    first, last = probe.get("hours", (0, 24))
    return frozenset(
        turn.position
        for turn in said
        if turn.created_at is not None
        and low <= (NOW.date() - turn.created_at.date()).days <= high
        and first <= turn.created_at.hour < last
    )


def report(background: Background, embedder: Embedder, *, held_out: bool, misses: bool) -> None:
    probes = tomllib.loads((DATA / "drafts.toml").read_text("utf-8"))
    half, facts = ("second" if held_out else "first"), probes["facts"]
    turns = planted(background, (fact["said"] for fact in facts))
    places = {turn.content: turn.position for turn in turns}
    found = FileConversation("drafts", "drafts", turns)
    with indexed(found, embedder, NOW) as memory:
        asked = Asked(OpenConversation(memory, EstimateCounter(), Budget()))
        drafts = probes["needs_nothing"][half]
        tokens = [recalled_tokens(asked.window(draft)) for draft in drafts]
        _say(background, "need nothing: recall any", fmean(map(bool, tokens)), len(drafts))
        _say(background, "need nothing: tokens", fmean(tokens), len(drafts))
        _list(misses, (f"{d} ({t})" for d, t in zip(drafts, tokens, strict=True) if t))
        needed = [(f, d) for f in facts for d in (f["others"] if held_out else [f["asked"]])]
        held = [places[f["said"]] in turns_held(asked.window(d)) for f, d in needed]
        _say(background, "need something: in the window", fmean(held), len(held))
        _list(misses, (d for (_, d), is_held in zip(needed, held, strict=True) if not is_held))
        chosen = facts[4:] if held_out else facts[:4]
        alone = {
            f["asked"]: places[f["said"]] in turns_held(asked.window(f["asked"])) for f in facts
        }
        by_kind: dict[str, list[bool]] = {}
        for kind, fact, draft in pastes([f for f in chosen if alone[f["asked"]]]):
            is_held = places[fact["said"]] in turns_held(asked.window(draft))
            by_kind.setdefault(kind, []).append(is_held)
        for kind, results in by_kind.items():
            _say(background, f"in a paste, {kind}: as without it", fmean(results), len(results))
        some, share, missed = [], [], []
        for probe in probes["questions"][half]:
            targets, window = wanted(turns, probe), asked.window(probe["ask"])
            got = {each.turn for each in window.segments if each.kind is Kind.RETRIEVED}
            some.append(bool(targets & turns_held(window)))
            share.append(len(got & targets) / len(got) if got else float(some[-1]))
            missed += [] if some[-1] and share[-1] > 0.5 else [f"{probe['ask']} ({share[-1]:.2f})"]
        _say(background, "time alone: in the window", fmean(some), len(some))
        _say(background, "time alone: of what is recalled", fmean(share), len(share))
        _list(misses, missed)


def _say(background: Background, what: str, value: float, count: int) -> None:
    print(f"{background.name:<6} {what:<40} {value:7.2f}   n={count}", flush=True)


def _list(wanted: bool, lines: Iterable[str]) -> None:
    for line in lines if wanted else ():
        print(f"         {line}")


def refused() -> Iterator[str]:
    """List the questions of labelled conversations that are taken for needing nothing."""
    for path in sorted((SHARED / "data").glob("*/*.json")):
        for talk in read_labelled(path):
            speakers = frozenset(turn.speaker.lower() for turn in talk.found.turns)
            for question in talk.questions:
                need = need_of(question.text, speakers)
                if need is not None:
                    yield f"{path.stem}: {need.kind}: {question.text}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.drafts")
    parser.add_argument("--embedder", choices=["none", "builtin", "fastembed"], default="builtin")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--misses", action="store_true", help="list what went wrong")
    parser.add_argument("--questions", action="store_true", help="list labelled ones of a kind")
    given = parser.parse_args()
    if given.questions:
        print("\n".join(refused()))
        return
    from pathlib import Path

    embedder = load_embedder(given.embedder, DEFAULT_MODEL, None, Path())
    for background in backgrounds():
        report(background, embedder, held_out=given.held_out, misses=given.misses)


if __name__ == "__main__":
    main()
