"""`jitchat bench`: how well retrieval finds what it should, and what that costs."""

from collections.abc import Sequence
from pathlib import Path

import click

from jitchat.bench import report
from jitchat.bench.locomo import imported
from jitchat.bench.questions import Cases, LabelledTalk, doubts, read_labelled
from jitchat.bench.scores import Outcome, mode_scores
from jitchat.cli import bench_answers, bench_options, output
from jitchat.cli.bench_scaling import scaling_command
from jitchat.cli.options import Flags, SharingCommand, endpoint_options
from jitchat.index.embedder import Embedder
from jitchat.models import make_embedder, resolve_model
from jitchat.settings import Settings
from jitchat.values import Mode


@click.group("bench")
def bench_command() -> None:
    """Measure what retrieval finds, and what it costs."""


@bench_command.command("locomo", cls=SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), required=True, metavar="FILE", help="LoCoMo's JSON."
)
@bench_options.measuring_options
@bench_answers.answer_options
@endpoint_options
def locomo_command(
    *,
    flags: Flags,
    data: Path,
    modes: list[Mode],
    out: Path | None,
    answering: bench_answers.AnswerFlags,
    **embedding: str,
) -> None:
    """Ask LoCoMo's questions and see whether their evidence is found.

    Sends nothing, unless --answerer names who is to answer them as well.
    """
    flags = answering.with_answerer(bench_options.with_embedder(flags, **embedding))
    if out is not None:
        output.require_writable(out)
    answering.require_writable()
    talks, settings = read_labelled(data), flags.settings()
    for doubt in doubts(talks):
        output.say(doubt, err=True)
    embedder = make_embedder(settings, flags.paths())
    cases = bench_answers.make_cases(answering, settings)
    outcomes = _measure(talks, embedder, settings, modes, cases)
    scores = {mode: mode_scores(found) for mode, found in outcomes.items()}
    output.print_tables(
        table
        for mode, reached in scores.items()
        for table in report.tables(mode, reached, embedder.id)
    )
    output.emit("")
    fields = report.result_fields(data, embedder.id, settings, scores)
    if cases is not None:
        tables, fields = bench_answers.answer_all(answering, flags, cases, fields, out)
        output.print_tables(tables)
        output.emit("")
    if out is not None:
        bench_options.write_figures(out, fields)


def _measure(
    talks: Sequence[LabelledTalk],
    embedder: Embedder,
    settings: Settings,
    modes: Sequence[Mode],
    cases: Cases | None,
) -> dict[Mode, list[Outcome]]:
    outcomes: dict[Mode, list[Outcome]] = {mode: [] for mode in modes}
    model = resolve_model(settings)
    counter, budget = model.counter, model.asked_budget
    with output.progress("questions", sum(len(talk.questions) for talk in talks)) as advance:
        for talk in (talk for talk in talks if talk.questions):
            with imported(talk, embedder, counter, budget, cases) as asked:
                for question in talk.questions:
                    for mode, outcome in asked.ask(question, modes).items():
                        outcomes[mode].append(outcome)
                    advance(1)
    return outcomes


bench_command.add_command(scaling_command)
