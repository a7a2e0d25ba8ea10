"""`jitchat bench`: what retrieval finds, what it costs, and how questions are answered.

With --answerer a model answers LoCoMo's questions, and with --judge a model judges the answers. The
estimated cost is shown first and must be confirmed.
"""

from functools import partial
from pathlib import Path

import click

from jitchat import models
from jitchat.bench import haystack, questions, report, scaling
from jitchat.bench.observation import Replaying
from jitchat.bench.recall import in_modes, measure
from jitchat.bench.scores import answer_scores, embedder_name, paired_scores
from jitchat.cli import bench_memory, bench_options, options, output, recall
from jitchat.cli.bench_answers import AnswerFlags
from jitchat.index.load_embedder import load_embedder
from jitchat.paths import absolute
from jitchat.values import Mode


@click.group("bench")
def bench_command() -> None:
    """Measure what retrieval finds and what it costs."""


bench_command.add_command(recall.recall_command)
bench_command.add_command(bench_memory.memory_command)


@bench_command.command("locomo", cls=options.SharingCommand)
@bench_options.data_option("LoCoMo's JSON file.")
@bench_options.modes_option
@options.options_as("drawn", bench_options.SampleFlags)
@options.options_as("measuring", bench_options.MeasureFlags)
@options.options_as("answering", AnswerFlags)
@options.endpoint_options
def locomo_command(  # noqa: PLR0913, PLR0917  its options
    flags: options.Flags,
    data: Path,
    modes: tuple[Mode, ...],
    drawn: bench_options.SampleFlags,
    measuring: bench_options.MeasureFlags,
    answering: AnswerFlags,
) -> None:
    """Measure how much of LoCoMo's evidence is found in each mode.

    Sends nothing unless --answerer names a model to answer the questions.
    """
    flags = answering.with_answerer(measuring.with_embedder(flags))
    measuring.require_writable()
    settings = flags.settings()
    file = drawn.read(data, questions.LOCOMO)
    model, embedder = models.resolve_model(settings), models.make_embedder(settings, flags.paths())
    cases = answering.cases(settings)
    asking = in_modes(modes, model.counter, model.asked_budget, cases)
    with output.progress("questions", file.asked) as advance:
        measured = measure(file.talks, embedder, asking, advance)
    file.require_fitting(measured, model.asked_budget.limit)
    name = embedder_name(embedder.id)
    reached = {mode: measured.outcomes[mode] for mode in modes if mode in measured.outcomes}
    output.print_tables(
        table
        for mode, outcomes in reached.items()
        for table in report.mode_tables(mode, outcomes, name)
    )
    output.emit("")
    result: dict[str, object] = {
        "data": file.fields,
        "embedder": name,
        "modes": {mode: report.mode_fields(outcomes) for mode, outcomes in reached.items()},
        "does_not_fit": measured.unfit,
    }
    if cases is not None:
        run = answering.send(flags, cases, file.fields, measuring.json)
        results = list(run.results())
        scores = answer_scores(results, judged=run.judge is not None)
        pairs = list(paired_scores(results))
        output.print_tables(report.answer_tables(answering.title, scores, pairs))
        output.emit("")
        report.add_answers(result, scores, pairs, run.answers(), run.judgements())
    measuring.write(settings, result)


@bench_command.command("observe", cls=options.SharingCommand)
@bench_options.data_option(f"File {bench_options.ANY_FORMAT}")
@options.options_as("measuring", bench_options.ResultFlags)
@options.endpoint_options
def observe_command(flags: options.Flags, data: Path, measuring: bench_options.ResultFlags) -> None:
    """Measure how many answers observations keep.

    Each labelled conversation is replayed in the mode observe, as in the chat: a window is planned
    before each message, and turns that are due are observed after each answer, with the built-in
    rules. For each question that a single statement answers, the benchmark then checks whether that
    text is in the last window, and compares this with the most recent turns of the same total size.
    Sends nothing.
    """
    measuring.require_writable()
    settings = flags.settings()
    file = bench_options.SampleFlags(sample=None, seed=1).read(data, needs_evidence=True)
    model = models.resolve_model(settings)
    replaying = Replaying(model.counter, model.asked_budget, models.observe_rules(settings))
    with output.progress("turns", sum(len(talk.found.turns) for talk in file.talks)) as advance:
        for talk in file.talks:
            replaying.run(talk, advance)
    figures = report.observe_fields(replaying.results, model.asked_budget.limit)
    title = "{data}: {asked:,} questions of single facts, limit {limit:,}"
    title = title.format(data=data.name, **figures)
    output.print_tables([report.observe_table(title, replaying.results.kept)])
    output.say(report.OBSERVE_SUMMARY.format(**figures))
    measuring.write(settings, {"data": file.fields, "observe": figures})


_SIZES = "20,40,80,160,320,1000"
_LARGE = "10000,100000"
_MILLION = 1_000_000


@bench_command.command("scaling", cls=options.SharingCommand)
@click.option(
    "--turns",
    metavar="LIST",
    help=f"Lengths of the conversation.  [default: {_SIZES}, and {_LARGE} unless turns are long]",
)
@click.option(
    "--turn-length",
    "length",
    type=click.Choice(["short", "usual", "long"]),
    default="usual",
    show_default=True,
    help="About 2, 30 or 1,500 words per turn.",
)
@bench_options.modes_option
@options.options_as("measuring", bench_options.MeasureFlags)
@click.option(
    "--million",
    is_flag=True,
    help="Include a million turns: 3 GB of disk, 4 GB of memory, about 15 minutes.",
)
@options.location_options
def scaling_command(  # noqa: PLR0913, PLR0917  its options
    flags: options.Flags,
    turns: str | None,
    length: str,
    modes: tuple[Mode, ...],
    measuring: bench_options.MeasureFlags,
    million: bool,
) -> None:
    """Measure the cost of finding one fact as a conversation grows.

    The conversation is synthetic. Sends nothing.
    """
    usual = _SIZES if length == "long" else f"{_SIZES},{_LARGE}"
    sizes = _sizes(usual if turns is None else turns)
    if million and _MILLION not in sizes:
        sizes.append(_MILLION)
    flags = measuring.with_embedder(flags)
    measuring.require_writable()
    settings = flags.settings()
    embedder, budget = settings.embedder, models.resolve_model(settings).asked_budget
    folder = absolute(Path(embedder.path)) if embedder.path else None
    cache = flags.paths().models
    setup = scaling.Setup(
        partial(load_embedder, embedder.name, embedder.model, folder, cache),
        settings.model_name(),
        budget,
        modes,
    )
    talks = [haystack.Haystack(size, haystack.Length(length)) for size in sizes]
    with output.progress("turns", sum(scaling.steps(size) for size in sizes)) as advance:
        measured = [scaling.measure(setup, talk, advance) for talk in talks]
    output.print_tables(report.scaling_tables(measured, length, budget.limit))
    output.emit("")
    figures = report.scaling_fields(measured)
    about = {"turn_length": length, "phrasings": len(haystack.PHRASINGS)}
    measuring.write(settings, about | {"turns": figures})


def _sizes(listed: str) -> list[int]:
    """Parse the list of `--turns`: each length once, smallest first."""
    try:
        sizes = sorted({int(piece) for piece in listed.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        raise click.BadParameter(
            f"--turns: {listed!r} is not a list of positive whole numbers, such as 20,40,80."
        )
    return sizes
