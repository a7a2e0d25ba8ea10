"""Whether a run of the rot lab can go on: what it was begun with must be what there is now."""

from __future__ import annotations

from collections.abc import Sequence

from jitchat import __version__
from jitchat.bench.report import settings_fields
from jitchat.cli.who import Who
from jitchat.errors import UsageError
from jitchat.memory.embedding.embedder import Embedder
from jitchat.rot.differing import changed
from jitchat.rot.run import Run, source_of
from jitchat.settings import Settings
from jitchat.text.safe import one_line
from jitchat.turn import Turn
from jitchat.window.tokens import TokenCounter


def require_same_model(run: Run, who: Who) -> None:
    """Refuse to go on with another model.

    Raises:
        UsageError: Another one would answer.

    """
    _require(run, "", f"{run.provider} {run.model}", f"{who.profile.name} {who.model}")


def require_same(run: Run, settings: Settings, embedder: Embedder, counter: TokenCounter) -> None:
    """Refuse to go on where windows or answers would come about otherwise.

    Raises:
        UsageError: They would.

    """
    _require(run, "jitchat ", run.version, __version__)
    _require(run, "the embedder ", run.embedder, embedder.id)
    _require(run, "tokens counted by ", run.counter, counter.name)
    told = list(changed(run, settings_fields(settings)))
    if told:
        them = "it" if len(told) == 1 else "them"
        raise UsageError(" ".join(told), f"Set {them} back, or begin a new run.")


def require_unchanged(run: Run, title: str, own: Sequence[Turn]) -> None:
    """Refuse to go on in a conversation of the user's that says something else by now.

    Raises:
        UsageError: It does.

    """
    if source_of(own) != run.source:
        raise UsageError(f"{title} has changed since {run.id} was begun.", "Begin a new run.")


def _require(run: Run, what: str, then: str, now: str) -> None:
    if then != now:
        raise UsageError(
            f"{run.id} was begun with {what}{one_line(then)}; now it would be {one_line(now)}.",
            "Choose what it was begun with, or begin a new run.",
        )
