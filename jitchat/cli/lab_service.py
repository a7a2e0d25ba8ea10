"""Runs of the rot lab, made from the settings: the model that answers, an embedder and a judge.

No conversation of the user's is touched: a run has a file of its own. What a server teaches
about its model is kept where the chat keeps it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing, closing, suppress
from dataclasses import replace

from jitchat import __version__, models
from jitchat.bench.output import settings_fields, without_login
from jitchat.errors import (
    KeyRefused,
    ProviderError,
    SpendingLimitReached,
    StoreError,
    UsageError,
)
from jitchat.index.embedder import Embedder
from jitchat.lab import compare, costs, grade, planting, run_file
from jitchat.lab.experiment import Experiment
from jitchat.lab.lab import Lab
from jitchat.memory import Memory
from jitchat.paths import Paths
from jitchat.providers.provider import Options, Provider, ReasoningDelta, ReplyDelta
from jitchat.session import Session
from jitchat.settings import profiles, small_models
from jitchat.store.requests import Purpose
from jitchat.store.store import ColdStore, local_now
from jitchat.text.sanitize import one_line
from jitchat.tools.offering import Asking
from jitchat.values import Message, Role, Turn, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import message_tokens

_QUESTION = 32
"""Tokens of a question of the lab, about."""
_USUAL = "openai"
"""Who judges where the reader answers, and only a model is named."""
_ELSEWHERE = "cloud"
"""How a tag ends that Ollama answers by its own servers: `gpt-oss:120b-cloud`."""


class LocalLabService:
    """See `LabService`; the model that answers now is asked."""

    def __init__(
        self, resolve: Callable[[], models.ResolvedModel], paths: Paths, store: ColdStore
    ) -> None:
        """`resolve` gives the model that answers now; `store` is the user's."""
        self._resolve, self._paths, self._store = resolve, paths, store
        self.runs = run_file.Runs(paths.rot)

    def answerer(self) -> costs.Answerer:
        model = self._resolve()
        budget, prices = model.asked_budget, model.prices
        picker = small_models.address_of(model.settings, "picker")
        system = models.system_text(model.settings, grade.CONTRACT)
        return costs.Answerer(
            provider=model.profile.name,
            model=model.name,
            limit=budget.limit,
            reserve=budget.reserve,
            retrieved=budget.retrieved + budget.index,
            recent=budget.recent,
            input_price=prices.input if prices else None,
            output_price=prices.output if prices else None,
            is_here=is_here(model),
            is_assumed=budget.is_assumed,
            around=message_tokens(model.counter, system) + _QUESTION,
            picker=picker.model if picker else "",
            answer=model.profile.sampling.max_tokens or answer_cap(model),
            speed=self._measured(model),
        )

    def _measured(self, model: models.ResolvedModel) -> costs.Speed | None:
        """Find how fast the model was in the latest of its runs that tells; None: in none."""
        if model.profile.is_reader:
            return None
        for run, _ in self.runs.all():
            if (run.provider, run.model) == (model.profile.name, model.name):
                with suppress(StoreError), closing(self.runs.open(run.id)) as file:
                    if speed := costs.speed_of(file.results()):
                        return speed
        return None

    def probe(self) -> costs.Speed | None:
        """Ask the model one short question, to see how fast it is; None where it does not tell.

        The reader is not asked. Slow; no event loop may run.
        """
        model = self._resolve()
        if model.profile.is_reader or models.lacks_key(model.profile):
            return None
        provider = models.make_provider(model.profile, model.name, model.counter, model.learnt)
        provider = model.metered(provider, Purpose.LAB)
        try:
            speed = asyncio.run(probe_speed(provider, model.profile.sampling))
        except (ProviderError, SpendingLimitReached):
            return None  # the run itself says why
        return speed and replace(speed, answer=float(answer_cap(model)))  # small models ramble

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        model = self._resolve()
        require_key(model.profile)
        if judge:
            require_key(judge_model(model, judge).profile)
        return self._fitted(experiment, model)[0]

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        model = self._resolve()
        require_key(model.profile)
        experiment, turns = self._fitted(experiment, model)
        judging = _make_judge(model, judge) if judge else None
        embedder, budget = models.make_embedder(model.settings, self._paths), model.asked_budget
        run = run_file.Run(
            id="",
            experiment=experiment,
            provider=model.profile.name,
            model=model.name,
            embedder=embedder.id,
            limit=budget.limit,
            reserve=budget.reserve,
            counter=model.counter.name,
            version=__version__,
            begun_at=local_now(),
            judge=judge,
            settings=tuple(settings_fields(model.settings).items()),
            source=run_file.source_of(turns),
        )
        if not run.is_reader:
            sampling = model.profile.sampling
            run = replace(
                run,
                answer=None if sampling.max_tokens else answer_cap(model),
                temperature=0.0 if sampling.temperature is None else sampling.temperature,
                sampling_seed=experiment.seed if sampling.seed is None else sampling.seed,
            )
        file = self.runs.create(run)
        return _lab(file, model, embedder, budget, judging, parallel, turns)

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        """Open a run to ask what has no answer yet.

        The model's limit and the reserve are what they were when it was begun, whatever they are
        now; all else that shapes windows and answers must be so.
        """
        file = self.runs.open(wanted, to_ask=True)
        try:
            return self._resumed(file, parallel)
        except BaseException:  # closed whatever it was, and passed on
            file.close()
            raise

    def _resumed(self, file: run_file.RunFile, parallel: int) -> Lab:
        """Find what a run was begun with, or refuse what would be used now instead."""
        run, model = file.run, self._resolve()
        named = f"{model.profile.name} {model.name}"
        _require_same(run, "", f"{run.provider} {run.model}", named)
        require_key(model.profile)
        embedder = models.make_embedder(model.settings, self._paths)
        _require_same(run, "jitchat ", run.version, __version__)
        _require_same(run, "the embedder ", run.embedder, embedder.id)
        _require_same(run, "tokens counted by ", run.counter, model.counter.name)
        if changes := list(compare.changed_settings(run, settings_fields(model.settings))):
            them = "it" if len(changes) == 1 else "them"
            raise UsageError(" ".join(changes), f"Set {them} back, or begin a new run.")
        judging = _make_judge(model, run.judge) if run.judge else None
        budget = replace(model.budget(), limit=run.limit, reserve=run.reserve)
        title, turns = self._conversation(run.experiment)
        if run_file.source_of(turns) != run.source:
            what = f"{title} has changed since {run.id} was begun."
            raise UsageError(what, "Begin a new run.")
        return _lab(file, model, embedder, budget, judging, parallel, turns)

    def title(self, experiment: Experiment) -> str:
        """Name the user's conversation that is the filler; empty for made-up talk."""
        return self._conversation(experiment)[0]

    def _conversation(self, experiment: Experiment) -> tuple[str, Sequence[Turn]]:
        """Load the user's conversation: its title and turns; none where talk is made up."""
        if experiment.conversation is None:
            return "", ()
        conversation = self._store.conversation(experiment.conversation)
        return one_line(conversation.title), self._store.turns(conversation.id)

    def _fitted(
        self, experiment: Experiment, model: models.ResolvedModel
    ) -> tuple[Experiment, Sequence[Turn]]:
        """Fit an experiment to the user's conversation; its turns, none where talk is made up."""

        def price(text: str) -> int:
            return message_tokens(model.counter, text)

        planting.require_room(experiment, price)
        if experiment.conversation is None:
            return experiment, ()
        conversation = self._store.conversation(experiment.conversation)
        turns = self._store.turns(conversation.id)
        tokens = sum(price(turn.content) for turn in turns)
        reached = tuple(length for length in experiment.lengths if length <= tokens)
        if not reached:
            raise UsageError(
                f"{one_line(conversation.title)} has {tokens:,} tokens, and the shortest length is"
                f" {experiment.lengths[0]:,}.",
                "Choose a shorter length, or a longer conversation.",
            )
        return replace(experiment, conversation=conversation.id, lengths=reached), turns


_PROBE = " ".join(f"Line {number}: nothing to note." for number in range(60))
"""Some hundred tokens."""
_PROBE_ANSWER = 16


async def probe_speed(provider: Provider, sampling: Options) -> costs.Speed | None:
    """Measure by one question how fast a model is; None where it does not tell."""
    asked = replace(sampling, max_tokens=_PROBE_ANSWER, temperature=0.0)
    try:
        await _speed_at("Are you there?", provider, asked)  # loads the model, if need be
        return await _speed_at(f"{_PROBE}\nHow many lines are there?", provider, asked)
    finally:
        await provider.aclose()


async def _speed_at(text: str, provider: Provider, asked: Options) -> costs.Speed | None:
    usage, begun, first = None, time.monotonic(), None
    async with aclosing(provider.stream((Message(Role.USER, text),), asked)) as pieces:
        async for piece in pieces:
            if isinstance(piece, ReplyDelta | ReasoningDelta):
                first = first or time.monotonic()
            elif isinstance(piece, Usage):
                usage = piece
    ended = time.monotonic()
    if usage is None or first is None or not (usage.input_tokens and usage.output_tokens):
        return None
    return costs.Speed(
        (usage.input_tokens - (usage.cached_tokens or 0)) / (first - begun),
        usage.output_tokens / max(ended - first, 0.001),
        usage.output_tokens,
    )


def _lab(  # noqa: PLR0913, PLR0917  all that a lab is made of
    file: run_file.RunFile,
    model: models.ResolvedModel,
    embedder: Embedder,
    budget: Budget,
    judge: grade.Judge | None,
    parallel: int,
    turns: Sequence[Turn],
) -> Lab:
    def open_session(memory: Memory) -> Session:
        """Open a session of the run; its server is not asked again how much its model takes."""
        session = model.open_session(
            memory,
            instructions=grade.contract(file.run.experiment.kinds),
            asking=Asking.ON if file.run.experiment.asks else Asking.OFF,
        )
        session.take_budget(budget)
        run, request = file.run, session.options.request
        if not run.is_reader:
            session.provider = model.metered(session.provider, Purpose.LAB)
        asked = replace(request, temperature=run.temperature, seed=run.sampling_seed)
        if run.longest is not None:
            asked = replace(asked, max_tokens=run.longest)
        if not run.is_reader:
            session.options = replace(session.options, request=asked)
        return session

    counter = model.counter
    return Lab(file, open_session, embedder, counter, judge=judge, parallel=parallel, own=turns)


def _require_same(run: run_file.Run, what: str, then: str, now: str) -> None:
    if then != now:
        raise UsageError(
            f"{run.id} was begun with {what}{one_line(then)}; now it would be {one_line(now)}.",
            "Choose what it was begun with, or begin a new run.",
        )


def answer_cap(model: models.ResolvedModel) -> int:
    """Say how many tokens an answer of the lab may take where the model's own settings do not."""
    usual = costs.ENGINE_ANSWER_TOKENS if model.profile.is_engine else costs.ANSWER_TOKENS
    return model.settings.lab.answer or usual


def is_here(model: models.ResolvedModel) -> bool:
    """Whether all that is asked is known to cost nothing and to stay on this machine."""
    prices, picker = model.prices, small_models.address_of(model.settings, "picker")
    if prices is None or not prices.is_free:
        return False
    stays = _stays(model.profile, model.name)
    return stays and (picker is None or _stays(picker.profile, picker.model))


def _stays(profile: profiles.Profile, model: str) -> bool:
    return profile.stays_here and not model.endswith(_ELSEWHERE)


def judge_model(model: models.ResolvedModel, name: str) -> models.ResolvedModel:
    """Resolve the judge: of the provider that answers; beside the reader as `provider/model`."""
    if name == "reader":
        raise UsageError(
            "--judge: the reader cannot judge, it only quotes.", "Name a provider's model."
        )
    profile = model.profile
    if profile.is_reader:
        provider, _, rest = name.partition("/")
        if not (rest and provider in model.settings.provider_names()):
            provider, rest = _USUAL, name
        profile, name = model.settings.profile(provider), rest
    return models.ResolvedModel(model.settings, profile, name, model.database)


def _make_judge(model: models.ResolvedModel, name: str) -> grade.Judge:
    """Make the model that is asked about answers which no rule finds right. Slow."""
    judge = judge_model(model, name)
    require_key(judge.profile)
    provider = models.make_provider(judge.profile, judge.name, judge.counter, judge.learnt)
    return grade.Judge(judge.metered(provider, Purpose.LAB), judge.profile.sampling)


def require_key(profile: profiles.Profile) -> None:
    """Refuse a provider that is known to answer nobody without a key, where there is none. Slow."""
    if models.lacks_key(profile):
        raise KeyRefused(
            f"Nothing was sent: {without_login(profile.base_url)} wants a key, and none is set.",
            profile.key_help,
        )
