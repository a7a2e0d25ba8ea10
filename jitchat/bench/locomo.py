"""Each question of a labelled conversation put to the app: import → index → retrieve → plan."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from jitchat.bench.questions import Cases, LabelledTalk, OpenTalk, Question, held
from jitchat.bench.scores import Outcome
from jitchat.errors import BenchFailed, WindowOverflow
from jitchat.index.embedder import Embedder
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.transfer.formats import store_found
from jitchat.transfer.report import FileConversation
from jitchat.values import Mode, Retrieval
from jitchat.window.budget import Budget
from jitchat.window.parts import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow

_WIDER = "Give the model's context size with --limit, or leave that mode out of --modes."


class AskedTalk:
    """A conversation, imported and indexed, that questions can be put to."""

    def __init__(
        self, memory: Memory, counter: TokenCounter, budget: Budget, cases: Cases | None = None
    ) -> None:
        """`cases` takes each window as the request that will be sent."""
        self._talk, self._cases = OpenTalk(memory, counter, budget), cases
        self._id = memory.conversation.id

    def ask(self, question: Question, modes: Sequence[Mode]) -> dict[Mode, Outcome]:
        """Plan the window for a question in each mode; nothing is sent."""
        return {mode: self._outcome(question, mode) for mode in modes}

    def _outcome(self, question: Question, mode: Mode) -> Outcome:
        begun = time.perf_counter()
        retrieval = self._talk.retrieve(question.text) if mode is Mode.JIT else Retrieval()
        retrieved = time.perf_counter()
        window = self._window(mode, question, retrieval)
        planned = time.perf_counter()
        if self._cases is not None:
            self._cases.take(self._id, question, window)
        return Outcome(
            question,
            tuple(row.turn for row in retrieval.candidates),
            held(window),
            window.used / window.full_tokens,
            (retrieved - begun) * 1000,
            (planned - retrieved) * 1000,
        )

    def _window(self, mode: Mode, question: Question, retrieval: Retrieval) -> ContextWindow:
        system = self._cases.system(question) if self._cases is not None else SYSTEM_PROMPT
        try:
            return self._talk.window(mode, question.text, retrieval, system)
        except WindowOverflow as error:
            raise BenchFailed(f"Mode {mode.value}: {error.what}", _WIDER) from error


@contextmanager
def imported(
    talk: LabelledTalk,
    embedder: Embedder,
    counter: TokenCounter,
    budget: Budget,
    cases: Cases | None = None,
) -> Iterator[AskedTalk]:
    """Import and index one conversation that questions can be put to."""
    with indexed(talk.found, embedder) as memory:
        yield AskedTalk(memory, counter, budget, cases)


@contextmanager
def indexed(found: FileConversation, embedder: Embedder) -> Iterator[Memory]:
    """Import and index one conversation into a database that is gone afterwards."""
    with TemporaryDirectory(prefix="jitchat-bench-") as folder:
        database = Database(Path(folder) / "bench.db")
        try:
            store = ColdStore(database)
            memory = Memory(store, store_found(store, found), embedder)
            for _ in memory.catch_up():
                pass
            if memory.failure:
                raise memory.failure
            yield memory
        finally:
            database.close()
