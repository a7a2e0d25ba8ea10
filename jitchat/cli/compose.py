"""The composition root: from settings to the objects that do the work."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jitchat.cli.answerers import key_in_the_open, lacks_key, make_provider, make_small_model
from jitchat.cli.who import Who, who_answers
from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder, load_embedder
from jitchat.memory import Memory
from jitchat.paths import Paths, absolute
from jitchat.session import Session, SessionOptions
from jitchat.settings import Settings
from jitchat.settings.profiles import same_server
from jitchat.settings.small_models import SmallModelSection, address_of
from jitchat.small_models.small_model import SmallModel
from jitchat.window.budget import Budget
from jitchat.window.parts import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter, counter_for

__all__ = [
    "key_in_the_open", "lacks_key", "make_budget", "make_counter", "make_embedder",
    "make_provider", "make_small_model", "session_with",
]  # fmt: skip


def make_embedder(
    settings: Settings,
    paths: Paths,
    warn: Callable[[EmbedderUnavailable], object] = lambda _: None,
) -> Embedder:
    """Load the embedder of the settings, as far as it is on this machine; see `load_embedder`."""
    wanted = settings.embedder
    folder = absolute(Path(wanted.path)) if wanted.path else None
    return load_embedder(wanted.name, wanted.model, folder, paths.models, warn)


def make_counter(settings: Settings) -> TokenCounter:
    """Choose the best counter for the model that answers."""
    return counter_for(settings.model_name(), os.environ)


def make_budget(settings: Settings) -> Budget:
    """Say what a window may spend; a server may be asked, which no running loop allows. Slow.

    Raises:
        SettingsError: The reserve leaves nothing of the limit.

    """
    return who_answers(settings).asked_budget


def session_with(
    who: Who,
    memory: Memory,
    counter: TokenCounter | None = None,
    *,
    asking: bool = False,
    instructions: str = "",
) -> Session:
    """Start a session in which a certain model answers. Slow, as `make_provider`.

    With `asking`, its limit is asked for first where it is open, which no running loop allows.
    `instructions` follow the system text of the settings.

    Raises:
        SettingsError: See `make_provider`, or the reserve leaves nothing of the limit.

    """
    settings, counter, learnt = who.settings, counter or who.counter(), who.learnt
    options = SessionOptions(
        budget=who.asked_budget if asking else who.budget(),
        system=system_text(settings, instructions),
        request=replace(who.profile.sampling, longest=who.longest_answer),
        picker=_small_model(who, "picker"),
        summariser=_small_model(who, "summariser"),
        prices=who.prices(),
        learnt=learnt,
    )
    return Session(memory, make_provider(who.profile, who.model, counter, learnt), counter, options)


def system_text(settings: Settings, instructions: str = "") -> str:
    """Give the instructions of the settings, or else the built-in ones, and then further ones."""
    return "\n\n".join(filter(None, (settings.chat.system or SYSTEM_PROMPT, instructions)))


def _small_model(who: Who, section: SmallModelSection) -> SmallModel | None:
    """Make the model of a section: what it costs, and whether it is the one that answers."""
    found = address_of(who.settings, section)
    if found is None:
        return None
    made = make_small_model(found, section)
    helper = replace(who, profile=found.profile, model=found.model)
    return replace(made, prices=helper.prices(), answers=_is_one(who, helper))


def _is_one(one: Who, other: Who) -> bool:
    """Whether both are one model of one server."""
    return one.model == other.model and same_server(one.profile.base_url, other.profile.base_url)
