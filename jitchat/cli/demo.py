"""`jitchat demo`: the guided tour."""

from __future__ import annotations

import click

from jitchat.cli.options import Flags, SharingCommand, tour_options


@click.command("demo", cls=SharingCommand)
@click.option("--record", is_flag=True, help="Play by itself, at reading speed, and end.")
@click.option(
    "--pace",
    type=click.FloatRange(0.1, 10),
    metavar="FACTOR",
    help="With --record: 2 is twice as slow as reading takes, 0.5 twice as fast.",
)
@tour_options
def demo_command(flags: Flags, record: bool, pace: float | None) -> int:
    """Show the same question in full, recency and jit: a tour of five steps, in the chat.

    One key goes on: Space, →, PgDn or Enter, as presentation clickers send. Esc ends the tour
    and leaves a chat like any other.

    It is on the demo conversation, in a database of its own that is gone afterwards: none of your
    conversations is read or changed. The embedded reader answers, whatever the configuration
    says, so that nothing leaves this machine; --model, --provider or --base-url has a model
    answer in its place. Theme, keys and the window's sizes are as you set them.

    For a recording, have the recorder's terminal at a fixed size, 120 by 36 for example:

    asciinema rec -c "jitchat demo --record" tour.cast
    """
    if pace is not None and not record:
        raise click.UsageError("--pace is for --record: without it, you set the pace.")
    from jitchat.cli.touring import run_tour  # noqa: PLC0415  loads the terminal app

    return run_tour(flags, (pace or 1.0) if record else None)
