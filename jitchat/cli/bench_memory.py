"""`jitchat bench memory`: compares a document per project with an entry per message."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from jitchat import __version__, models
from jitchat.bench import asking, memory_report, questions
from jitchat.bench.memory import Measuring, RunnerResult, with_questions
from jitchat.bench.memory_runners import RunnerName
from jitchat.bench.output import settings_fields
from jitchat.cli import bench_options, cold_store, options, output
from jitchat.cli.bench_answers import AnswerFlags, send_all
from jitchat.settings import Settings, small_models
from jitchat.synthesis.document_writer import ExtractiveWriter
from jitchat.text.figures import plural
from jitchat.weights.catalogue import sha256_of

_BOTH = "both"


@dataclass(frozen=True, slots=True)
class MemoryFlags:
    runner: str | None = options.option(
        "Kind of memory.  [default: document, or entries if agent.context_only is false]",
        type=click.Choice([*(name.value for name in RunnerName), _BOTH]),
        metavar="document|entries|both",
    )
    json: Path | None = bench_options.json_option()  # noqa: RUF009
    embedder: str | None = options.option("Embedder: lexical or a known name.", metavar="NAME")
    model_path: str | None = bench_options.model_path_option()

    def runners(self, settings: Settings) -> list[RunnerName]:
        if self.runner == _BOTH:
            return list(RunnerName)
        by_setting = RunnerName.DOCUMENT if settings.agent.context_only else RunnerName.ENTRIES
        return [RunnerName(self.runner) if self.runner else by_setting]


@click.command("memory", cls=options.SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), required=True, metavar="FILE",
    help="File in LoCoMo's, LongMemEval's or the labelled format, detected from its content.",
)  # fmt: skip
@options.options_as("drawn", bench_options.SampleFlags)
@options.options_as("measuring", MemoryFlags)
@options.options_as("answering", AnswerFlags)
@options.endpoint_options
def memory_command(
    flags: options.Flags,
    data: Path,
    drawn: bench_options.SampleFlags,
    measuring: MemoryFlags,
    answering: AnswerFlags,
) -> None:
    """Measure which questions a memory's windows can answer.

    Sessions are stored in one of two kinds of memory. document: one memory document, rewritten at
    the end of each session with three operations on the store. entries: an index entry for each
    message, embeddings in batches of ten, and retrieval. A session ends after twenty minutes
    without a message. If a model is set under [writer] in the configuration, it writes the
    document.

    Sends nothing else unless --answerer names a model to answer the questions.
    """
    flags = bench_options.with_embedder(
        answering.with_answerer(flags), measuring.embedder, measuring.model_path
    )
    bench_options.require_writable(measuring.json)
    answering.require_writable()
    settings = flags.settings()
    read = questions.read_labelled(data)
    for doubt in questions.reading_warnings(read):
        output.say(doubt, err=True)
    talks, sample = drawn.draw(read)
    talks = with_questions(talks)
    cases = asking.Cases(models.system_text(settings)) if answering.answerer is not None else None
    results = _run(settings, flags, talks, measuring.runners(settings), cases)
    asked = sum(len(talk.questions) for talk in talks)
    title = f"{data.stem}: {plural(len(talks), 'conversation')}, {plural(asked, 'question')}"
    output.print_tables(
        [memory_report.ingestion_table(title, results), memory_report.held_table(results)]
    )
    output.emit("")
    result: dict[str, Any] = {
        "version": __version__,
        "settings": settings_fields(settings),
        "data": {"path": str(data), "sha256": sha256_of(data), **sample},
        "runners": memory_report.result_fields(results),
    }
    if cases is not None:
        answered = send_all(answering, flags, cases, result["data"], measuring.json)
        scores = memory_report.answered_scores(answered.results, judged=answered.is_judged)
        how = f"judged by {answering.judge}" if answered.is_judged else "mean F1"
        heading = f"answered by {answering.answerer}, {how}"
        output.print_tables([memory_report.answered_table(heading, scores)])
        output.emit("")
        result["answered"] = {name.value: dict(each) for name, each in scores.items()}
    if measuring.json is not None:
        output.write_json(measuring.json, result)


def _run(
    settings: Settings,
    flags: options.Flags,
    talks: list[questions.LabelledConversation],
    runners: list[RunnerName],
    cases: asking.Cases | None,
) -> dict[RunnerName, RunnerResult]:
    model, paths = models.resolve_model(settings), flags.paths()
    asks = small_models.address_of(settings, "writer") is not None
    with (
        cold_store.usage_log(paths, wanted=asks) as database,
        output.progress("conversations", len(talks) * len(runners)) as advance,
    ):
        metering = replace(model, database=database).metering()
        measure = Measuring(
            models.make_embedder(settings, paths),
            model.counter,
            model.asked_budget,
            lambda: model.document_writer(metering) or ExtractiveWriter(),
        )
        results = {name: measure.run(talks, name, cases, advance) for name in runners}
    for name, result in results.items():
        if result.unfit:
            missed = f"{name}: {plural(result.unfit, 'question')} did not fit the window."
            output.say(f"{missed} {asking.WIDER}", err=True)
    return results
