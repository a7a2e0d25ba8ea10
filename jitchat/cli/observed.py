"""`jitchat bench observe`: what observations keep of labelled conversations."""

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
    help="In LoCoMo's form, LongMemEval's, or labelled; its content decides.",
)
@click.option(
    "--json", "out", type=click.Path(path_type=Path), metavar="OUT", help="Write the figures here."
)
@options.endpoint_options
def observe_command(flags: options.Flags, data: Path, out: Path | None) -> None:
    """Say each conversation again in `observe`, then ask what one statement answers.

    Windows are planned before each message, and what is due is observed after each answer, as in
    the chat. Asked is whether the text that answers a question stands in the window at the end,
    beside the last turns of the same size. Sends nothing: what is built in observes.
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
