"""Times the app's stages on synthetic talk: store → index → open → retrieve → plan.

Building and asking run in separate processes, so that the measured memory is that of a process
which only has the conversation open, without the screen. Times are in milliseconds.

Such a process reads the name of a function and its arguments as JSON from standard input, writes
its progress and its result to standard output, one line of JSON each, and exits.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jitchat.bench.asking import OpenConversation, ms_since, opened_store, turns_held
from jitchat.bench.haystack import NEEDLE, PHRASINGS, Haystack, Length, other_questions
from jitchat.bench.scores import embedder_name, spread
from jitchat.children import end_piped, own_python, start_piped
from jitchat.errors import BenchFailed, JitchatError, WindowOverflow
from jitchat.index import indexer, search
from jitchat.index.conversation_index import WORTH_PACKING
from jitchat.index.embedder import Embedder
from jitchat.index.load_embedder import load_embedder
from jitchat.index.narrowing import NARROWED_FROM
from jitchat.index.retrieve import SHORTLIST, make_query
from jitchat.index.tables import IndexTables
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.text.search_tokens import terms
from jitchat.text.words import content_words
from jitchat.values import USUAL_MODES, Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.carriers import lines_on
from jitchat.window.tokens import TokenCounter, counter_for

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Fields = Mapping[str, Any]
"""A JSON object."""
Report = Callable[[int], object]
"""Called with the progress since the last call."""
_CHILD = own_python("-c", "from jitchat.bench.scaling import serve; serve()")


def run_in_child(function: str, arguments: Fields, report: Report) -> Any:  # noqa: ANN401  any JSON
    """Call `module:function` in a child process; its progress is passed to `report`."""
    child = start_piped(_CHILD, Path(tempfile.gettempdir()))
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  for mypy
    try:
        with child.stdin:
            child.stdin.write(json.dumps([function, arguments]).encode())
        while isinstance(line := json.loads(child.stdout.readline()), int):
            report(line)
    except (OSError, ValueError) as error:
        code = child.wait()
        raise BenchFailed(
            f"The measuring process ended early (exit code {code}).",
            "It may have run out of memory: try fewer turns.",
        ) from error
    finally:
        end_piped(child)
    made, failure = line
    if failure is not None:
        raise BenchFailed(*failure)
    return made


def serve() -> None:
    """Call the function named on standard input; write progress, then (result, failure)."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep the function's prints out of it

        def send(value: object) -> None:
            print(json.dumps(value), file=output, flush=True)

        function, arguments = json.load(sys.stdin)
        module, name = function.split(":")
        try:
            send((getattr(import_module(module), name)(**arguments, report=send), None))
        except JitchatError as error:  # its texts are passed on to the parent process
            send((None, (error.what, error.remedy)))
        except Exception as error:  # noqa: BLE001  the user gets a sentence for any error
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            send((None, (f"Internal error ({type(error).__name__} at {place}).",)))


_TALK = "talk"
QUESTIONS = 40
"""Number of questions per talk; the first ones are the phrasings for the needle."""


@dataclass(frozen=True, slots=True)
class BuildTimes:
    """Mean times for storing and indexing a turn."""

    store_turn_ms: float
    index_turn_ms: float
    """Without embedding."""
    embed_turn_ms: float
    embedder: str
    first_open_ms: float | None = None
    """Time until the first question can be asked, when every turn has to be counted."""


@dataclass(frozen=True, slots=True)
class ModeResult:
    tokens: int
    """Mean tokens of the window over the phrasings for the needle."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1; mean over the phrasings."""
    least_saved: float
    """The minimum over all questions."""
    found: int
    """Number of phrasings with the needle in the window, in its turn."""


@dataclass(frozen=True, slots=True)
class QuestionResults:
    counter: str
    full_tokens: int
    """Tokens that `full` would send, whether they fit or not; mean over the phrasings."""
    modes: dict[str, ModeResult | None]
    """None for a mode in which a question does not fit."""
    open_ms: float
    """Time until a question can be asked: turns read and counted, the index loaded."""
    embed_ms: dict[str, float]
    """Time to embed one question."""
    retrieve_ms: dict[str, float]
    """Time without embedding the question."""
    plan_ms: dict[str, float]
    """Time in `jit`."""
    both_ms: dict[str, float]
    """Total of `retrieve_ms` and `plan_ms`."""
    matrix_ms: float
    """A bound: numpy reads the matrix of the turns' vectors once."""
    fts5_ms: float
    """A bound: SQLite's full-text search for the same words."""
    times_bounds: float
    """The median of `both_ms` divided by the sum of the bounds."""
    resident_mb: float | None
    """Resident memory after the last question."""
    peak_mb: float | None


@dataclass(frozen=True, slots=True)
class Exactness:
    """The accuracy of a packed index that scores only likely rows.

    Shares, over all questions, of the hits of a search that scores every row with exact vectors.
    """

    of_6: float = 1.0
    """The share of its first six hits that are among the first six."""
    of_50: float = 1.0
    """The share of its first 50 hits that are among the first 50."""


@dataclass(frozen=True, slots=True)
class SizeResult:
    turns: int
    needle: int
    """The position of the turn that states the fact."""
    built: BuildTimes
    asked: QuestionResults
    exactness: Exactness = Exactness()


_READS, _ROWS_AT_ONCE = 15, 2_048
_BY_WORDS = "SELECT rowid FROM search_tokens WHERE search_tokens MATCH ? ORDER BY rank LIMIT ?"


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The options of a measurement, as passed to the child process."""

    embedder: str
    embedding_model: str
    folder: str | None
    cache: str
    model: str
    """The model whose tokens are counted."""
    budget: Budget
    modes: tuple[Mode, ...]

    @classmethod
    def read(cls, fields: Fields) -> MeasureOptions:
        modes = tuple(map(Mode, fields["modes"]))
        return cls(**{**fields, "budget": Budget(**fields["budget"]), "modes": modes})

    def make_embedder(self) -> Embedder:
        folder = Path(self.folder) if self.folder else None
        return load_embedder(self.embedder, self.embedding_model, folder, Path(self.cache))


def steps(size: int) -> int:
    return 2 * size + QUESTIONS


def measure(wanted: MeasureOptions, talk: Haystack, report: Report) -> SizeResult:
    """Build a talk and ask about it, in a temporary database.

    Raises:
        BenchFailed: One of the processes ended early.

    """
    with tempfile.TemporaryDirectory(prefix="jitchat-bench-") as folder:
        path = str(Path(folder) / "bench.db")
        arguments = {"wanted": asdict(wanted), "talk": asdict(talk), "path": path}
        built = run_in_child(f"{__name__}:build_apart", arguments, report)
        asked = run_in_child(f"{__name__}:ask_apart", arguments, report)
        same = run_in_child(f"{__name__}:compare_apart", arguments, report)
    modes = {mode: ModeResult(**sent) if sent else None for mode, sent in asked["modes"].items()}
    return SizeResult(
        talk.size,
        talk.needle,
        BuildTimes(**built),
        QuestionResults(**{**asked, "modes": modes}),
        Exactness(**same),
    )


def build_apart(wanted: Fields, talk: Fields, path: str, report: Report) -> Fields:
    options, made = MeasureOptions.read(wanted), Haystack(talk["size"], Length(talk["length"]))
    embedder, counter = options.make_embedder(), counter_for(options.model, os.environ)
    built = build(embedder, made, Path(path), report)
    first_open_ms = opening_ms(embedder, counter, options.budget, Path(path))
    return asdict(replace(built, first_open_ms=first_open_ms))


def ask_apart(wanted: Fields, talk: Fields, path: str, report: Report) -> Fields:
    options, made = MeasureOptions.read(wanted), Haystack(talk["size"], Length(talk["length"]))
    embedder, counter = options.make_embedder(), counter_for(options.model, os.environ)
    return asdict(ask(embedder, counter, options.budget, made, Path(path), report, options.modes))


def compare_apart(wanted: Fields, talk: Fields, path: str, report: Report) -> Fields:  # noqa: ARG001
    is_packed = talk["size"] > WORTH_PACKING
    embedder = MeasureOptions.read(wanted).make_embedder()
    return asdict(exactness(embedder, Path(path)) if is_packed else Exactness())


def opening_ms(embedder: Embedder, counter: TokenCounter, budget: Budget, path: Path) -> float:
    """Return the time to open a conversation and retrieve for its first question."""
    with opened_store(path) as store:
        begun = time.perf_counter()
        memory = Memory(store, store.conversation(_TALK), embedder)
        OpenConversation(memory, counter, budget).retrieve(PHRASINGS[0])
        return ms_since(begun)


def _questions() -> list[str]:
    return [*PHRASINGS, *other_questions(QUESTIONS - len(PHRASINGS))]


def exactness(embedder: Embedder, path: Path) -> Exactness:
    """Compare a search of every row with exact vectors and a search as in the app."""
    with opened_store(path) as store:
        talk = store.conversation(_TALK)
        tables = IndexTables(store.database, talk.id)
        index = search.HotIndex(embedder, entries_of=tables.entries, narrowed_from=talk.turns)
        turns = Memory(store, talk).turns
        for start in range(0, len(turns), _ROWS_AT_ONCE):
            index.add(tables.rows(turns[start : start + _ROWS_AT_ONCE], embedder))
        queries = [make_query(each, "", index.speakers) for each in _questions()]

        def found(count: int) -> list[set[int]]:
            rows = (index.search(query, talk.turns + 1)[:count] for query in queries)
            return [{row.turn for row in each} for each in rows]

        exact = {count: found(count) for count in (6, 50)}
        index.pack(talk.turns)
        index.narrowed_from = NARROWED_FROM
        shares = []
        for count, wanted in exact.items():
            both = [len(one & other) for one, other in zip(wanted, found(count), strict=True)]
            shares.append(sum(both) / max(1, sum(map(len, wanted))))
    return Exactness(*shares)


def build(embedder: Embedder, talk: Haystack, path: Path, report: Report) -> BuildTimes:
    """Store and index a talk in a new database; report each turn when stored and when indexed."""
    embedding, turns = TimedEmbedder(embedder), list(talk.turns())

    def reported() -> Iterator[Turn]:
        for start in range(0, len(turns), indexer.BATCH):  # reporting takes time, too
            yield from (batch := turns[start : start + indexer.BATCH])
            report(len(batch))

    with opened_store(path) as store:
        made = store.create(_TALK, _TALK)
        begun = time.perf_counter()
        store.append(made.id, reported())
        stored = time.perf_counter()
        memory = Memory(store, made, embedding)
        for entries in memory.index.catch_up():
            report(len(entries))
        if memory.index.failure:
            raise memory.index.failure
        indexed = time.perf_counter()
    per_turn = 1000 / talk.size
    return BuildTimes(
        (stored - begun) * per_turn,
        (indexed - stored - embedding.seconds) * per_turn,
        embedding.seconds * per_turn,
        embedder_name(embedding.id),
    )


def ask(  # noqa: PLR0913, PLR0917  what it is measured with
    embedder: Embedder,
    counter: TokenCounter,
    budget: Budget,
    talk: Haystack,
    path: Path,
    report: Report,
    modes: Collection[Mode] = USUAL_MODES,
) -> QuestionResults:
    """Open the database that `build` made, and ask the questions, reporting each."""
    embedding = TimedEmbedder(embedder)
    questions = _questions()
    with opened_store(path) as store:
        begun = time.perf_counter()
        memory = Memory(store, store.conversation(_TALK), embedding)
        conversation = OpenConversation(memory, counter, budget)
        conversation.retrieve(questions[0])
        open_ms = ms_since(begun)
        conversation.distil(modes)
        answers = []
        for question in questions:
            answers.append(_timed_question(conversation, embedding, question, talk.needle, modes))
            report(1)
        resident, peak = memory_mb()
        words = fts5_ms(store.database, questions)
    full_tokens = statistics.fmean(each.jit.full_tokens for each in answers[: len(PHRASINGS)])
    matrix = matrix_ms(talk.size, embedding.dimension)
    both = spread([each.retrieve_ms + each.jit.ms for each in answers])
    return QuestionResults(
        counter=counter.name,
        full_tokens=round(full_tokens),
        modes={mode.value: _sent([each.modes[mode] for each in answers]) for mode in modes},
        open_ms=open_ms,
        embed_ms=spread([each.embed_ms for each in answers]),
        retrieve_ms=spread([each.retrieve_ms for each in answers]),
        plan_ms=spread([each.jit.ms for each in answers]),
        both_ms=both,
        matrix_ms=matrix,
        fts5_ms=words,
        times_bounds=both["p50"] / (matrix + words),
        resident_mb=resident,
        peak_mb=peak,
    )


@dataclass(frozen=True, slots=True)
class _Planned:
    ms: float
    tokens: int
    full_tokens: int
    """Tokens that `full` would send."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1."""
    has_needle: bool


@dataclass(frozen=True, slots=True)
class _Timed:
    embed_ms: float
    retrieve_ms: float
    """Without the embedding."""
    jit: _Planned
    modes: Mapping[Mode, _Planned | None]
    """None if the question does not fit in the mode."""


def _timed_question(
    conversation: OpenConversation,
    embedder: TimedEmbedder,
    question: str,
    needle: int,
    modes: Collection[Mode],
) -> _Timed:
    embedded = embedder.seconds
    retrieval, took = conversation.retrieve(question)
    embed_ms = (embedder.seconds - embedded) * 1000

    def planned(mode: Mode) -> _Planned:
        window, ms = conversation.window(mode, question, retrieval)
        is_said = any(NEEDLE in segment.text for segment in window.segments)
        stated = any(NEEDLE in line for line in lines_on(window, needle, _TALK))
        has_needle = stated or (is_said and needle in turns_held(window))
        return _Planned(ms, window.used, window.full_tokens, window.saving, has_needle)

    jit = planned(Mode.JIT)
    found: dict[Mode, _Planned | None] = {}
    for mode in modes:
        try:
            found[mode] = jit if mode is Mode.JIT else planned(mode)
        except WindowOverflow:
            found[mode] = None
    return _Timed(embed_ms, took - embed_ms, jit, found)


def _sent(planned: Sequence[_Planned | None]) -> ModeResult | None:
    made = [each for each in planned if each is not None]
    if len(made) < len(planned):
        return None
    needles = made[: len(PHRASINGS)]
    return ModeResult(
        tokens=round(statistics.fmean(each.tokens for each in needles)),
        saved=statistics.fmean(each.saved for each in needles),
        least_saved=min(each.saved for each in made),
        found=sum(each.has_needle for each in needles),
    )


class TimedEmbedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> ArrayLike:
        begun = time.perf_counter()
        try:
            return self._embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - begun


def matrix_ms(turns: int, dimension: int) -> float:
    """Return the time in which numpy reads such a matrix once, for its product with a vector.

    The minimum of several runs: other programs can only add to it.
    """
    import numpy as np  # noqa: PLC0415  100 ms

    rows = np.full((turns, dimension), 0.5, dtype=np.float32)
    times = []
    for _ in range(_READS):
        begun = time.perf_counter()
        rows @ rows[0]
        times.append(ms_since(begun))
    return min(times)


def fts5_ms(database: Database, questions: Sequence[str]) -> float:
    """Return the median time of SQLite's full-text search for the words of each question.

    The database holds only this conversation; turns with any of the words are ranked.
    """
    times = []
    with database.read() as connection:
        for question in questions:
            wanted = terms(" ".join(content_words(question)))
            words = " OR ".join(f'"{term}"' for term in wanted)
            begun = time.perf_counter()
            connection.execute(_BY_WORDS, (words, SHORTLIST)).fetchall()
            times.append(ms_since(begun))
    return statistics.median(times)


_STATUS = Path("/proc/self/status")
_SIZES = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


def memory_mb() -> tuple[float | None, float | None]:
    """Return the current and the peak resident memory, in MB of 2²⁰ bytes.

    None if the system does not report it.
    """
    if _STATUS.exists():
        sizes = dict(_SIZES.findall(_STATUS.read_text(encoding="utf-8")))
        return int(sizes["VmRSS"]) / 1024, int(sizes["VmHWM"]) / 1024
    if sys.platform == "darwin":
        from resource import RUSAGE_SELF, getrusage  # noqa: PLC0415  is not on every system

        return None, getrusage(RUSAGE_SELF).ru_maxrss / 2**20
    return None, None
