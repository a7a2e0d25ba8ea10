"""`jitchat bench`: how well retrieval finds what it should, and what that costs."""

from collections.abc import Sequence
from pathlib import Path

import click

from jitchat.bench.asking import Cases, OpenConversation, indexed
from jitchat.bench.questions import LabelledConversation, label_warnings, read_labelled
from jitchat.bench.report import result_fields, tables
from jitchat.bench.scores import Outcome, mode_scores
from jitchat.cli.bench_answers import answer_all, make_cases, require_kept
from jitchat.cli.bench_options import (
    AnswerFlags,
    answer_options,
    measuring_options,
    modes_of,
    print_table,
    require_writable,
    with_model,
    write_figures,
)
from jitchat.cli.bench_scaling import scaling_command
from jitchat.cli.compose import make_budget, make_counter, make_embedder
from jitchat.cli.options import Flags, SharingCommand, endpoint_options
from jitchat.cli.output import emit, progress, say
from jitchat.index.embedder import Embedder
from jitchat.settings import Settings
from jitchat.values import Mode


@click.group("bench")
def bench_command() -> None:
    """Measure what retrieval finds, and what it costs."""


@bench_command.command("locomo", cls=SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), required=True, metavar="FILE", help="LoCoMo's JSON."
)
@measuring_options
@answer_options
@endpoint_options
def locomo_command(
    flags: Flags, data: Path, modes: str, out: Path | None, answering: AnswerFlags, **model: str
) -> None:
    """Ask LoCoMo's questions and see whether their evidence is found.

    Sends nothing, unless --answerer names who is to answer them as well.
    """
    wanted, flags = modes_of(modes), answering.over(with_model(flags, **model))
    require_writable(out)
    require_kept(answering)
    talks, settings = read_labelled(data), flags.settings()
    for doubt in label_warnings(talks):
        say(doubt, err=True)
    embedder, cases = make_embedder(settings, flags.paths()), make_cases(answering, settings)
    outcomes = _measure(talks, embedder, settings, wanted, cases)
    scores = {mode: mode_scores(found) for mode, found in outcomes.items()}
    for mode, reached in scores.items():
        for each in tables(mode, reached, embedder.id):
            print_table(each)
            emit("")
    fields = result_fields(data, embedder.id, settings, scores)
    if cases is not None:
        answered, fields = answer_all(answering, flags, cases, fields, out)
        for each in answered:
            print_table(each)
            emit("")
    if out is not None:
        write_figures(out, fields)


def _measure(
    talks: Sequence[LabelledConversation],
    embedder: Embedder,
    settings: Settings,
    modes: Sequence[Mode],
    cases: Cases | None,
) -> dict[Mode, list[Outcome]]:
    found: dict[Mode, list[Outcome]] = {mode: [] for mode in modes}
    counter, budget = make_counter(settings), make_budget(settings)
    with progress("questions", sum(len(talk.questions) for talk in talks)) as advance:
        for talk in (each for each in talks if each.questions):
            with indexed(talk.found, embedder) as memory:
                conversation = OpenConversation(memory, counter, budget)
                for question in talk.questions:
                    for mode in modes:
                        found[mode].append(conversation.ask(question, mode, cases))
                    advance(1)
    return found


bench_command.add_command(scaling_command)
