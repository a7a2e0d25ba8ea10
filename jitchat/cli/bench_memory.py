"""`jitchat bench memory`: compares a document per project with an entry per message."""

from dataclasses import dataclass, replace
from pathlib import Path

import click

from jitchat import models
from jitchat.bench import report
from jitchat.bench.memory import Measuring
from jitchat.bench.memory_runners import Ingestion, RunnerName
from jitchat.cli import bench_options, cold_store, options, output
from jitchat.cli.bench_answers import AnswerFlags
from jitchat.settings import Settings, small_models
from jitchat.synthesis.document_writer import ExtractiveWriter
from jitchat.text.figures import plural

_BOTH = "both"


@dataclass(frozen=True, slots=True)
class MemoryFlags(bench_options.MeasureFlags):
    runner: str | None = options.option(
        "Kind of memory.  [default: document, or entries if agent.context_only is false]",
        type=click.Choice([*(name.value for name in RunnerName), _BOTH]),
        metavar="document|entries|both",
    )

    def runners(self, settings: Settings) -> list[RunnerName]:
        if self.runner == _BOTH:
            return list(RunnerName)
        by_setting = RunnerName.DOCUMENT if settings.agent.context_only else RunnerName.ENTRIES
        return [RunnerName(self.runner) if self.runner else by_setting]


@click.command("memory", cls=options.SharingCommand)
@bench_options.data_option(f"File {bench_options.ANY_FORMAT}")
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
    flags = answering.with_answerer(measuring.with_embedder(flags))
    measuring.require_writable()
    settings, paths = flags.settings(), flags.paths()
    file = drawn.read(data)
    talks = [talk for talk in file.talks if talk.questions or talk.abstentions]
    model = models.resolve_model(settings)
    asks = small_models.address_of(settings, "writer") is not None
    ingestions = {name: Ingestion() for name in measuring.runners(settings)}
    with (
        cold_store.usage_log(paths, wanted=asks) as database,
        output.progress("conversations", len(talks) * len(ingestions)) as advance,
    ):
        metering = replace(model, database=database).metering()
        measure = Measuring(
            models.make_embedder(settings, paths),
            model.counter,
            model.asked_budget,
            lambda: model.document_writer(metering) or ExtractiveWriter(),
            answering.cases(settings),
        )
        for name, ingestion in ingestions.items():
            for talk in talks:
                measure.run(talk, name, ingestion)
                advance(1)
    measured = measure.measured
    file.require_fitting(measured, model.asked_budget.limit)
    title = f"{file.name}: {plural(len(talks), 'conversation')}, {plural(file.asked, 'question')}"
    output.print_tables(
        [report.ingestion_table(title, ingestions), report.held_table(measured.outcomes)]
    )
    output.emit("")
    runners = {
        name: report.memory_fields(ingestion, measured.outcomes.get(name, []), measured.unfit[name])
        for name, ingestion in ingestions.items()
    }
    result: dict[str, object] = {"data": file.fields, "runners": runners}
    if measure.cases is not None:
        run = answering.send(flags, measure.cases, file.fields, measuring.json)
        shares = report.answered_shares(list(run.results()), judged=run.judge is not None)
        title = answering.title if run.judge is not None else f"{answering.title}, mean F1"
        output.print_tables([report.answered_table(title, shares)])
        output.emit("")
        result["answered"] = shares
    measuring.write(settings, result)
