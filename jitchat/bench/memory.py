"""Runs memories over the sessions of labelled conversations, and checks what their windows hold.

Each question has a type, which determines the memories that can answer it. A window holds the
answer if it has the words of all evidence (`evidence`); for questions that no turn answers, only an
answerer shows whether they are left unanswered.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from jitchat.bench.asking import Cases, OpenConversation, set_clock, temporary_store
from jitchat.bench.evidence import SINGLE_FACT, evidence_held
from jitchat.bench.memory_runners import (
    DocumentRunner,
    EntriesRunner,
    Ingestion,
    RunnerName,
    sessions_of,
)
from jitchat.bench.questions import ABSTENTION, LabelledConversation, Question
from jitchat.bench.scores import Measured, Outcome
from jitchat.index.embedder import Embedder
from jitchat.memory import Memory
from jitchat.synthesis.document_writer import DocumentWriter
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter


class QuestionType(StrEnum):
    SINGLE_FACT = "single fact"
    KNOWLEDGE_UPDATE = "knowledge update"
    TIMELINE = "timeline"
    COUNTING = "counting"
    """The answer needs several turns."""
    OTHER = "other"
    ABSTENTION = "abstention"


_TYPES = {
    **dict.fromkeys(SINGLE_FACT, QuestionType.SINGLE_FACT),
    **dict.fromkeys(
        ("knowledge-update", "knowledge_update", "contradiction_resolution"),
        QuestionType.KNOWLEDGE_UPDATE,
    ),
    **dict.fromkeys(
        ("temporal", "temporal-reasoning", "temporal_reasoning", "event_ordering", "timeline"),
        QuestionType.TIMELINE,
    ),
    **dict.fromkeys(
        ("multi-hop", "multi-session", "multi_session_reasoning", "counting"),
        QuestionType.COUNTING,
    ),
    ABSTENTION: QuestionType.ABSTENTION,
}
"""By category."""
_COUNTS = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)
_NOT_SAID = "The conversation does not say."
"""The gold answer to questions that no turn answers."""


def type_of(question: Question) -> QuestionType:
    """Return a question's type, by its category and by whether it asks for a count."""
    kind = _TYPES.get(question.category, QuestionType.OTHER)
    is_fixed = kind in (QuestionType.ABSTENTION, QuestionType.KNOWLEDGE_UPDATE)
    return kind if is_fixed or not _COUNTS.search(question.text) else QuestionType.COUNTING


def by_type(outcomes: Sequence[Outcome]) -> dict[QuestionType, list[Outcome]]:
    """Group outcomes by the type of their question; a type without questions is left out."""
    groups: dict[QuestionType, list[Outcome]] = {}
    for kind in QuestionType:
        group = [outcome for outcome in outcomes if type_of(outcome.question) is kind]
        if group:
            groups[kind] = group
    return groups


@dataclass(frozen=True, slots=True)
class Measuring:
    """Runs memories with one embedder, token counter, budget and document writer."""

    embedder: Embedder
    counter: TokenCounter
    budget: Budget
    writer: Callable[[], DocumentWriter]
    cases: Cases | None = None
    """Collects the windows, to be sent."""
    measured: Measured = field(default_factory=Measured)
    """By the runners' names; turns count as held if their words are in the window."""

    def run(self, talk: LabelledConversation, name: RunnerName, ingestion: Ingestion) -> None:
        """Feed a memory with a conversation, session by session, and ask it the questions."""
        with temporary_store() as store:
            memory = Memory(store, store.create(talk.found.title, talk.found.id), self.embedder)
            runner: DocumentRunner | EntriesRunner
            if name is RunnerName.DOCUMENT:
                runner = DocumentRunner(memory, self.writer(), ingestion)
            else:
                runner = EntriesRunner(memory, self.embedder, ingestion)
            asyncio.run(_ingest(talk, memory, runner, ingestion))
            set_clock(store, (), talk.asked_at)
            opened = OpenConversation(memory, self.counter, self.budget)
            texts = {turn.position: turn.content for turn in memory.turns}
            for question in (*talk.questions, *_abstentions(talk)):
                held = partial(
                    evidence_held,
                    question=question,
                    texts=texts,
                    conversation=runner.conversation,
                )
                self.measured.add(name, opened.ask(question, name.mode, self.cases, held))


async def _ingest(
    talk: LabelledConversation,
    memory: Memory,
    runner: DocumentRunner | EntriesRunner,
    ingestion: Ingestion,
) -> None:
    for session in sessions_of(talk.found.turns):
        stored = memory.store.append(memory.conversation.id, session)
        memory.refresh()
        set_clock(memory.store, stored)
        await runner.take(stored)
        ingestion.sessions += 1
        ingestion.messages += len(stored)
    runner.close()


def _abstentions(talk: LabelledConversation) -> list[Question]:
    nothing = frozenset[int]()
    return [Question(text, ABSTENTION, nothing, nothing, _NOT_SAID) for text in talk.abstentions]
