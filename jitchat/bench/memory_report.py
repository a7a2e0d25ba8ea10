"""The results of `bench memory` as JSON and as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean

from rich.table import Table

from jitchat.bench.f1 import answer_f1
from jitchat.bench.memory import MODE_OF, QuestionType, RunnerResult, shares, type_of
from jitchat.bench.memory_runners import Ingestion, RunnerName
from jitchat.bench.output import plain_table
from jitchat.bench.scores import Answer
from jitchat.text.figures import duration, less
from jitchat.text.stance import disclaims

Results = Mapping[RunnerName, RunnerResult]
HELD = (
    "Held: the window has the words of all evidence. For questions that no turn answers, only an"
    " answerer shows whether they are left unanswered (--answerer). ±: 95 % interval (Wilson)."
)


def ingestion_table(title: str, results: Results) -> Table:
    """Compare the costs of ingesting the sessions."""
    rows = [_ingestion_row(name, result.ingestion) for name, result in results.items()]
    ratios = _ratios(results)
    note = [f"document, compared with entries: {ratios}."] if ratios else []
    return plain_table(title, _INGESTED, rows, *note)


_INGESTED = (
    "runner", "sessions", "messages", "store\noperations", "model\ncalls", "tokens\nin", "\nout",
    "time", "stored\nbytes", "words\nmaximum",
)  # fmt: skip


def _ingestion_row(name: RunnerName, took: Ingestion) -> Sequence[str]:
    return [
        name.value,
        f"{took.sessions:,}",
        f"{took.messages:,}",
        f"{took.operations:,}",
        f"{took.model_calls:,}",
        f"{took.input_tokens:,}",
        f"{took.output_tokens:,}",
        duration(took.seconds),
        f"{took.bytes_stored:,}",
        f"{max(took.words):,}" if took.words else "",
    ]


def _ratios(results: Results) -> str:
    if len(results) < len(RunnerName):
        return ""
    document, entries = (results[name].ingestion for name in RunnerName)
    fewer = less(1 - document.operations / max(1, entries.operations), ".1%", "fewer")
    stored = less(1 - document.bytes_stored / max(1, entries.bytes_stored), ".1%")
    faster = entries.seconds / max(document.seconds, 1e-9)
    return f"{fewer} store operations, {faster:.1f} × as fast, {stored} stored"


def held_table(results: Results) -> Table:
    """Compare the shares of questions of each type whose answers the windows hold."""
    by_runner = {name: shares(result.held) for name, result in results.items()}
    kinds = [kind for kind in QuestionType if any(kind in each for each in by_runner.values())]
    rows: list[Sequence[str]] = []
    for kind in kinds:
        asked = next(each[kind].n for each in by_runner.values() if kind in each)
        cells = []
        for reached in by_runner.values():
            share = reached.get(kind)
            low, high = share.interval if share is not None else (0.0, 0.0)
            cells.append(f"{share.value:.1%} ± {(high - low) / 2:.1%}" if share else "–")
        rows.append([kind.value, f"{asked:,}", *cells])
    if unanswerable := _abstentions(results):
        rows.append([QuestionType.ABSTENTION.value, f"{unanswerable:,}", *["–"] * len(results)])
    tokens = [f"{_tokens(result):,.0f}" for result in results.values()]
    rows.append(["tokens of a window", "", *tokens])
    columns = ("question", "n", *(name.value for name in results))
    return plain_table("evidence held by the final window", columns, rows, HELD)


def _abstentions(results: Results) -> int:
    counts = [
        sum(type_of(each.question) is QuestionType.ABSTENTION for each in result.held)
        for result in results.values()
    ]
    return max(counts, default=0)


def _tokens(result: RunnerResult) -> float:
    return fmean(each.tokens for each in result.held) if result.held else 0.0


def answered_table(title: str, scores: Mapping[RunnerName, Mapping[QuestionType, float]]) -> Table:
    kinds = [kind for kind in QuestionType if any(kind in each for each in scores.values())]
    rows = [
        [kind.value, *(f"{each[kind]:.1%}" if kind in each else "–" for each in scores.values())]
        for kind in kinds
    ]
    return plain_table(title, ("question", *(name.value for name in scores)), rows)


def answered_scores(
    answers: Sequence[Answer], *, judged: bool
) -> dict[RunnerName, dict[QuestionType, float]]:
    """Return the score of each type: by the judge or, without one, by LoCoMo's F1.

    For a question that no turn answers, the right answer is to say that it is not known.
    """
    found: dict[RunnerName, dict[QuestionType, float]] = {}
    for name, mode in MODE_OF.items():
        own = [each for each in answers if each.mode is mode and each.text is not None]
        for kind in QuestionType:
            group = [each for each in own if type_of(each.question) is kind]
            right = [value for each in group if (value := _right(each, judged)) is not None]
            if right:
                found.setdefault(name, {})[kind] = fmean(right)
    return found


def _right(answer: Answer, judged: bool) -> float | None:
    text = answer.text or ""
    if type_of(answer.question) is QuestionType.ABSTENTION:
        return float(disclaims(text))
    if judged:
        return None if answer.correct is None else float(answer.correct)
    return answer_f1(answer.question.category, text, answer.question.answer)


def result_fields(results: Results) -> dict[str, object]:
    return {
        name.value: {
            **asdict(result.ingestion),
            "does_not_fit": result.unfit,
            "window_tokens": _tokens(result),
            "held": {kind.value: asdict(share) for kind, share in shares(result.held).items()},
        }
        for name, result in results.items()
    }
