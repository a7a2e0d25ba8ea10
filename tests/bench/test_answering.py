"""From the windows of a run to answers, judgements and their scores."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.bench import prompt
from jitchat.bench.answers import ASSUMED_ANSWER, Answering, Model, opened_log
from jitchat.bench.asking import Case, Cases, OpenConversation, indexed
from jitchat.bench.questions import ABSTENTION, Question, read_labelled
from jitchat.bench.scores import Answer, answer_scores
from jitchat.errors import RequestRefused
from jitchat.index.embedder import NoEmbedder
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Piece, ReplyDelta
from jitchat.settings import Settings
from jitchat.values import Message, Mode, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter, request_tokens
from tests.bench.support import labelled_sample, question
from tests.support import ScriptedProvider
from tests.transfer.files import written

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

KITE = question("What is on the photo?", ["D1:2"]) | {"answer": "a red kite"}
BREAD = question("When did Ann bake bread?", ["D2:1"], 2) | {"answer": 2022}
UNKNOWN = question("What is not known?", ["D2:1"]) | {"answer": None}


def planned(folder: Path, *modes: Mode, budget: Budget | None = None) -> list[Case]:
    """The requests for three questions, one of which has no gold answer."""
    sample = labelled_sample(KITE, BREAD, UNKNOWN)
    (talk,) = read_labelled(written(folder, "f.json", [sample]))
    cases = Cases("Be kind.")
    with indexed(talk.found, NoEmbedder()) as memory:
        conversation = OpenConversation(memory, EstimateCounter(), budget or Budget())
        for each in talk.questions:
            for mode in modes or [Mode.JIT]:
                conversation.ask(each, mode, cases)
    return cases.planned


class Talking(ScriptedProvider):
    """Says what it is told to say where a question has this word; fails at the others."""

    def __init__(self, **known: str) -> None:
        super().__init__()
        self.known = known

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.requests.append(tuple(messages))
        asked = messages[-1].content
        asked = asked if asked.startswith("{") else asked.splitlines()[-1]
        said = [text for word, text in self.known.items() if word in asked]
        if not said:
            raise RequestRefused("No.", "")
        yield ReplyDelta(said[0])
        yield Usage(100, 10)


def model(provider: ScriptedProvider, name: str = "m") -> Model:
    price = Prices(1.0, 2.0)
    identity = {"provider": "x", "model": name}
    return Model(provider, EstimateCounter(), Options(), price, identity, Settings().in_use())


async def answered(
    cases: Sequence[Case], path: Path, answerer: Talking, judge: Talking | None = None
) -> tuple[Answering, list[Answer]]:
    """A whole run."""
    with ExitStack() as stack:
        log = stack.enter_context(opened_log(path))
        judging_model = model(judge, "judge") if judge is not None else None
        made = Answering(cases, model(answerer), judging_model, {"sha256": "hash"}, log)
        await made.answers().run(2, lambda _: None)
        judging = made.judgements()
        if judging is not None:
            await judging.run(2, lambda _: None)
        return made, list(made.results())


def test_what_is_sent_is_the_window_with_the_bare_question_as_its_draft(tmp_path: Path):
    kite, bread = planned(tmp_path)
    for case, last in ((kite, "What is on the photo?"), (bread, "When did Ann bake bread?")):
        assert case.messages[-1].content.endswith(last)
        assert case.tokens == request_tokens(EstimateCounter(), case.messages)
    system = kite.messages[0].content.partition("\n\n")[0]
    assert system == f"Be kind. {prompt('briefly')}"
    system = bread.messages[0].content.partition("\n\n")[0]
    assert system == f"Be kind. {prompt('briefly')} {prompt('by_date')}"


def test_retrieval_finds_the_same_whether_it_is_to_be_answered_or_not(tmp_path: Path):
    (talk,) = read_labelled(written(tmp_path, "f.json", [labelled_sample(KITE)]))
    found = []
    for cases in (None, Cases("Be kind.")):
        with indexed(talk.found, NoEmbedder()) as memory:
            conversation = OpenConversation(memory, EstimateCounter(), Budget())
            outcome = conversation.ask(talk.questions[0], Mode.JIT, cases)
            found.append((outcome.ranked, outcome.held))
    assert found[0] == found[1]


def test_a_question_whose_window_does_not_fit_is_left_out(tmp_path: Path):
    assert planned(tmp_path, Mode.FULL, budget=Budget(limit=2_500)) == []


async def test_an_answer_is_scored_and_judged(tmp_path: Path):
    judge = Talking(kite='{"label": "CORRECT"}', bread="I cannot tell.")
    answerer = Talking(photo="a kite", bread="in 2022")
    made, found = await answered(planned(tmp_path), tmp_path / "a", answerer, judge)
    assert [(each.text, each.correct) for each in found] == [("a kite", True), ("in 2022", None)]
    both = answer_scores(found, judged=True)[Mode.JIT]
    assert both["all"] == {
        "answered": 2, "failed": 0, "f1": (2 / 3 + 2 / 3) / 2, "f1_interval": None,
        "judged": 1, "not_judged": 1, "correct": 1.0,
    }  # fmt: skip
    assert (both["temporal"]["judged"], both["temporal"]["correct"]) == (0, None)
    assert "multi-hop" not in both
    assert made.answers().usage() == Usage(200, 20)
    asked = [json.loads(messages[-1].content) for messages in judge.requests]
    assert asked[0]["gold answer"] == "a red kite"


async def test_a_question_that_failed_is_in_no_mean_and_is_not_judged(tmp_path: Path):
    judge = Talking(kite='{"label": "WRONG"}')
    answerer = Talking(photo="a red kite")
    _, found = await answered(planned(tmp_path), tmp_path / "a", answerer, judge)
    scores = answer_scores(found, judged=True)[Mode.JIT]
    everything, temporal = scores["all"], scores["temporal"]
    assert (everything["answered"], everything["failed"], everything["f1"]) == (1, 1, 1.0)
    assert (everything["judged"], everything["not_judged"], everything["correct"]) == (1, 0, 0.0)
    assert (temporal["answered"], temporal["failed"], temporal["f1"]) == (0, 1, None)
    assert (temporal["judged"], temporal["not_judged"], temporal["correct"]) == (0, 0, None)
    assert len(judge.requests) == 1


async def test_the_next_run_asks_only_what_is_missing_or_different(tmp_path: Path):
    path, cases = tmp_path / "a", planned(tmp_path, Mode.JIT, Mode.FULL)
    await answered(cases, path, Talking(photo="a kite"), Talking(kite='{"label": "WRONG"}'))

    again, judge = Talking(photo="other", bread="2022"), Talking(bread='{"label": "CORRECT"}')
    made, found = await answered(cases, path, again, judge)
    assert [each[-1].content[-15:] for each in again.requests] == ["Ann bake bread?"] * 2
    assert {each.text for each in found} == {"a kite", "2022"}
    assert {each.correct for each in found} == {False, True}
    assert [asked.loads() for asked in made.rounds(ASSUMED_ANSWER)] == [{}, {}]

    smaller = planned(tmp_path, Mode.JIT, budget=Budget(size=1_000))
    narrow = Talking(photo="a", bread="b")
    await answered(smaller, path, narrow)
    assert len(narrow.requests) == 2


async def test_what_is_still_to_be_sent_is_counted_from_the_windows(tmp_path: Path):
    cases = planned(tmp_path, Mode.FULL, Mode.JIT)
    judge = Talking()
    with opened_log(tmp_path / "a") as log:
        made = Answering(cases, model(Talking()), model(judge), {"sha256": "hash"}, log)
        loads, judging = (asked.loads() for asked in made.rounds(ASSUMED_ANSWER))
    sent = {mode: [each.tokens for each in cases if each.mode is mode] for mode in Mode}
    assert loads == {"full": sent[Mode.FULL], "jit": sent[Mode.JIT]}
    assert len(judging["judgements"]) == 4
    assert sum(judging["judgements"]) > 4 * 150


async def test_no_judge_is_asked_whether_an_answer_says_that_nothing_is_known(tmp_path: Path):
    kite = planned(tmp_path)[0]
    nothing = Question("What moon?", ABSTENTION, frozenset(), None, "It was never said.")
    judge = Talking(kite='{"label": "CORRECT"}')
    cases = [kite, replace(kite, question=nothing)]
    _, found = await answered(cases, tmp_path / "a", Talking(photo="I don't know."), judge)
    assert [each.correct for each in found] == [True, None]
    assert found[1].f1 == 1.0
    assert len(judge.requests) == 1
