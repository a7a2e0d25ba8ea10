"""Who answers and who judges in the rot lab: where they are, what they cost, and their keys."""

from __future__ import annotations

from jitchat.bench.report import without_login
from jitchat.cli.answerers import key_of, make_provider
from jitchat.cli.who import Who
from jitchat.errors import KeyRefused, UsageError
from jitchat.rot.desk import Answerer
from jitchat.rot.judge import Judge
from jitchat.settings.profile import Profile
from jitchat.settings.small_models import address_of
from jitchat.window.plan import SYSTEM_PROMPT
from jitchat.window.tokens import message_tokens

_QUESTION = 32
"""Tokens of a question of the lab, about."""
_USUAL = "openai"
"""Who judges where the reader answers, and only a model is named."""
_ELSEWHERE = "cloud"
"""How a tag ends that Ollama answers by its own servers: `gpt-oss:120b-cloud`."""


def answerer_of(who: Who) -> Answerer:
    """Say who would answer. Slow: a server may be asked how much its model takes.

    Raises:
        JitchatError: What the settings ask for cannot be had.

    """
    budget, prices = who.asked_budget, who.prices()
    picker = address_of(who.settings, "picker")
    return Answerer(
        provider=who.profile.name,
        model=who.model,
        limit=budget.limit,
        reserve=budget.reserve,
        retrieved=budget.retrieved + budget.index,
        recent=budget.recent,
        input_price=prices.input if prices else None,
        output_price=prices.output if prices else None,
        is_here=is_here(who),
        is_assumed=budget.is_assumed,
        around=_around(who),
        picker=picker.model if picker else "",
    )


def is_here(who: Who) -> bool:
    """Whether all that is asked is known to cost nothing and to stay on this machine."""
    prices, picker = who.prices(), address_of(who.settings, "picker")
    if prices is None or not prices.is_free:
        return False
    stays = who.profile.is_reader or _stays(who.profile, who.model)
    return stays and (picker is None or _stays(picker.profile, picker.model))


def judge_of(who: Who, model: str) -> Who:
    """Say who judges: of the provider that answers; beside the reader as `provider/model`.

    Raises:
        UsageError: It is the reader.

    """
    if model == "reader":
        raise UsageError(
            "--judge: the reader cannot judge, it only quotes.", "Name a provider's model."
        )
    settings, profile = who.settings, who.profile
    if profile.is_reader:
        name, _, rest = model.partition("/")
        if not (rest and name in settings.provider_names()):
            name, rest = _USUAL, model
        profile, model = settings.profile(name), rest
    return Who(settings, profile, model, who.database)


def make_judge(who: Who, model: str) -> Judge:
    """Make the model that is asked about answers which no rule finds right. Slow.

    Raises:
        KeyRefused: It lacks the key that it needs.
        UsageError: It is the reader.

    """
    found = judge_of(who, model)
    require_key(found.profile)
    provider = make_provider(found.profile, found.model, found.counter(), found.learnt)
    return Judge(provider, found.profile.sampling)


def require_key(profile: Profile) -> None:
    """Refuse a provider that is known to answer nobody without a key, where there is none. Slow.

    Raises:
        KeyRefused: There is none.

    """
    if profile.requires_key and key_of(profile) is None:
        raise KeyRefused(
            f"Nothing was sent: {address(profile)} wants a key, and none is set.",
            profile.key_help,
        )


def address(profile: Profile) -> str:
    """Say where requests go, without the login that an address may carry."""
    return without_login(profile.base_url)


def _stays(profile: Profile, model: str) -> bool:
    return profile.is_local_preset and not model.endswith(_ELSEWHERE)


def _around(who: Who) -> int:
    """Price what a request holds beside the conversation: the system text and a question."""
    system = who.settings.chat.system or SYSTEM_PROMPT
    return message_tokens(who.counter(), system) + _QUESTION
