"""What the user is told about a defect of ours."""

from __future__ import annotations

import os

from jitchat import __version__
from jitchat.cli.output import say
from jitchat.crash import crash_report, place_of
from jitchat.paths import locate


def tell_defect(error: BaseException) -> int:
    """Write the report, say where it is; the exit code."""
    path = locate(os.environ).crash
    where = place_of(path, crash_report(error, __version__))
    say(
        f"jitchat: a defect stopped it ({type(error).__name__}). What is stored is safe.{where}",
        err=True,
    )
    return 1
