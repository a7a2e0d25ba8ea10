"""`jitchat bench observe`: how much of labelled conversations observations keep."""

from pathlib import Path

import click

from jitchat import models
from jitchat.bench import observation, observation_report, questions
from jitchat.bench.output import settings_fields
from jitchat.cli import bench_options, options, output


@click.command("observe", cls=options.SharingCommand)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="File in LoCoMo's, LongMemEval's or the labelled format, detected from its content.",
)
@click.option(
    "--json",
    "out",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write the figures to OUT as JSON.",
)
@options.endpoint_options
def observe_command(flags: options.Flags, data: Path, out: Path | None) -> None:
    """Measure how many answers observations keep.

    Each labelled conversation is replayed in the mode observe, as in the chat: a window is planned
    before each message, and turns that are due are observed after each answer, with the built-in
    rules. For each question that a single statement answers, the benchmark then checks whether that
    text is in the last window, and compares this with the most recent turns of the same total size.
    Sends nothing.
    """
    bench_options.require_writable(out)
    settings = flags.settings()
    talks = questions.with_evidence(questions.read_labelled(data))
    for doubt in questions.reading_warnings(talks):
        output.say(doubt, err=True)
    model = models.resolve_model(settings)
    replaying = observation.Replaying(
        model.counter, model.asked_budget, models.observe_rules(settings)
    )
    with output.progress("turns", sum(len(talk.found.turns) for talk in talks)) as advance:
        made = [replaying.run(talk, advance) for talk in talks]
    scores, limit = observation.scores_of(made), replaying.budget.limit
    title = f"{data.name}: {scores.asked:,} questions of single facts, limit {limit:,}"
    output.print_tables([observation_report.observe_table(title, scores)])
    output.say("\n".join(observation_report.observe_lines(scores, limit)))
    if out is not None:
        fields = observation_report.observe_fields(scores, limit, "the extractor")
        output.write_json(out, settings_fields(settings) | {"data": data.name, "observe": fields})
