"""`jitchat bench`: what retrieval finds, what it costs, and how questions are answered.

With --answerer a model answers LoCoMo's questions, and with --judge a model judges the answers. The
estimated cost is shown first and must be confirmed.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from jitchat import models
from jitchat.bench import asking, haystack, questions, report, scaling
from jitchat.bench.scores import Outcome, mode_scores
from jitchat.cli import bench_memory, bench_options, observed, options, output, recall
from jitchat.cli.bench_answers import AnswerFlags, answer_all
from jitchat.errors import BenchFailed
from jitchat.index.embedder import Embedder
from jitchat.paths import absolute
from jitchat.settings import Settings
from jitchat.text import figures
from jitchat.values import Mode


@click.group("bench")
def bench_command() -> None:
    """Measure what retrieval finds and what it costs."""


bench_command.add_command(recall.recall_command)
bench_command.add_command(observed.observe_command)
bench_command.add_command(bench_memory.memory_command)


@bench_command.command("locomo", cls=options.SharingCommand)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="LoCoMo's JSON file.",
)
@options.options_as("drawn", bench_options.SampleFlags)
@options.options_as("measuring", bench_options.MeasureFlags)
@options.options_as("answering", AnswerFlags)
@options.endpoint_options
def locomo_command(
    flags: options.Flags,
    data: Path,
    drawn: bench_options.SampleFlags,
    measuring: bench_options.MeasureFlags,
    answering: AnswerFlags,
) -> None:
    """Measure how much of LoCoMo's evidence is found in each mode.

    Sends nothing unless --answerer names a model to answer the questions.
    """
    flags = answering.with_answerer(measuring.with_embedder(flags))
    measuring.require_writable()
    answering.require_writable()
    settings = flags.settings()
    talks, sample = drawn.draw(questions.read_labelled(data, questions.LOCOMO))
    for doubt in questions.label_warnings(talks):
        output.say(doubt, err=True)
    embedder = models.make_embedder(settings, flags.paths())
    cases = None
    if answering.answerer is not None:  # collects the requests as they are planned
        cases = asking.Cases(models.system_text(settings))
    outcomes, unfit = _measure_recall(talks, embedder, settings, measuring.modes, cases)
    scores = {mode: mode_scores(found) for mode, found in outcomes.items() if found}
    asked = sum(len(talk.questions) for talk in talks)
    for mode, missed in unfit.items():
        total = figures.plural(asked, "question")
        output.say(
            f"{mode.value}: {missed:,} of {total} did not fit the window. {asking.WIDER}", err=True
        )
    output.print_tables(
        table
        for mode, reached in scores.items()
        for table in report.tables(mode, reached, embedder.id)
    )
    output.emit("")
    fields = report.result_fields(data, embedder.id, settings, scores, unfit, sample)
    if cases is not None:
        tables, fields = answer_all(answering, flags, cases, fields, measuring.json)
        output.print_tables(tables)
        output.emit("")
    if measuring.json is not None:
        output.write_json(measuring.json, fields)


def _measure_recall(
    talks: Sequence[questions.LabelledConversation],
    embedder: Embedder,
    settings: Settings,
    modes: Sequence[Mode],
    cases: asking.Cases | None,
) -> tuple[dict[Mode, list[Outcome]], Counter[Mode]]:
    """Plan every question in every mode. Return the outcomes and how many do not fit, by mode.

    Raises:
        BenchFailed: No question fits in any mode.

    """
    outcomes: dict[Mode, list[Outcome]] = {mode: [] for mode in modes}
    unfit: Counter[Mode] = Counter()
    model = models.resolve_model(settings)
    counter, budget = model.counter, model.asked_budget
    with output.progress("questions", sum(len(talk.questions) for talk in talks)) as advance:
        for talk in (talk for talk in talks if talk.questions):
            with asking.indexed(talk.found, embedder, talk.asked_at) as memory:
                conversation = asking.OpenConversation(memory, counter, budget)
                conversation.distil(modes)
                for question in talk.questions:
                    for mode in modes:
                        if (outcome := conversation.ask(question, mode, cases)) is None:
                            unfit[mode] += 1
                        else:
                            outcomes[mode].append(outcome)
                    advance(1)
    if not any(outcomes.values()):
        raise BenchFailed(
            f"No question fits {budget.limit:,} tokens in {', '.join(modes)}.", asking.WIDER
        )
    return outcomes, unfit


_SIZES, _LARGE, _MILLION = "20,40,80,160,320,1000", "10000,100000", 1_000_000
_WIDEST = 100
"""Maximum columns of a plot."""


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
@options.options_as("measuring", bench_options.MeasureFlags)
@click.option(
    "--million",
    is_flag=True,
    help="Include a million turns: 3 GB of disk, 4 GB of memory, about 15 minutes.",
)
@click.option("--plot", is_flag=True, help="Plot the tokens as well.")
@options.location_options
def scaling_command(  # noqa: PLR0913, PLR0917  its options
    flags: options.Flags,
    turns: str | None,
    length: str,
    measuring: bench_options.MeasureFlags,
    million: bool,
    plot: bool,
) -> None:
    """Measure the cost of finding one fact as a conversation grows.

    The conversation is synthetic. Sends nothing.
    """
    usual = _SIZES if length == "long" else f"{_SIZES},{_LARGE}"
    sizes = _sizes(usual if turns is None else turns)
    sizes += [_MILLION] * (million and _MILLION not in sizes)
    flags = measuring.with_embedder(flags)
    settings = flags.settings()
    measuring.require_writable()
    embedder, budget = settings.embedder, models.resolve_model(settings).asked_budget
    wanted = scaling.MeasureOptions(
        embedder.name,
        embedder.model,
        str(absolute(Path(embedder.path))) if embedder.path else None,
        str(flags.paths().models),
        settings.model_name(),
        budget,
        tuple(measuring.modes),
    )
    talks = [haystack.Haystack(size, haystack.Length(length)) for size in sizes]
    with output.progress("turns", sum(map(scaling.steps, sizes))) as advance:
        measured = [scaling.measure(wanted, talk, advance) for talk in talks]
    output.print_tables(report.scaling_tables(measured, length, budget.limit))
    output.emit("")
    if plot:
        width = min(output.terminal_width() or _WIDEST, _WIDEST)
        for drawn in report.plots(measured, width):
            output.emit(f"{drawn}\n")
    if measuring.json is not None:
        output.write_json(measuring.json, report.scaling_fields(measured, length, settings))


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
