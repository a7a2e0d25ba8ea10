"""Asking before requests leave that may cost something."""

from __future__ import annotations

import sys

import click

from jitchat.cli.output import is_terminal
from jitchat.errors import BenchFailed


def require_yes(*, given: bool) -> None:
    """Ask whether they may be sent; not where `--yes` was given.

    Raises:
        BenchFailed: They may not, or nobody is there to say so.

    """
    if given:
        return
    if not is_terminal(sys.stdin):
        raise BenchFailed(
            "Nothing was sent: there is no terminal to confirm the cost in.",
            "Give --yes to send without being asked.",
        )
    if not click.confirm("Send them?", err=True):
        raise BenchFailed("Nothing was sent.")
