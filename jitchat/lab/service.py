"""Runs of the rot lab, made from the settings: the answering model, an embedder and a judge.

The user's conversations are not changed: each run has its own file. What is learnt about a
server's model is stored in the user's database, as in the chat.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from jitchat import __version__, errors, models
from jitchat.bench.output import settings_fields, without_login
from jitchat.bench.workers import reply_to
from jitchat.index.embedder import Embedder
from jitchat.lab import costs, grade, planting, run_file
from jitchat.lab.experiment import Experiment
from jitchat.lab.lab import Lab
from jitchat.memory import Memory
from jitchat.paths import Paths
from jitchat.providers.provider import Options, Provider
from jitchat.session import Session
from jitchat.settings import profiles, small_models
from jitchat.store.requests import Purpose
from jitchat.store.store import ColdStore, local_now
from jitchat.text.sanitize import one_line, shorten
from jitchat.tools.offering import Asking
from jitchat.values import Message, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import message_tokens

_QUESTION = 32
"""Approximate tokens of a question of the lab."""
_USUAL = "openai"
"""The judge's provider if the reader answers and only a model is named."""
_ELSEWHERE = "cloud"
"""Suffix of a tag that Ollama serves from its own servers: `gpt-oss:120b-cloud`."""

_UNSET = "not set"
_LONGEST = 60
"""Maximum characters of a value."""
_SHAPING = ("window.", "picker.", "reranker.", "chat.system")
"""Prefixes of settings that windows and answers depend on."""
_SAMPLING = frozenset(
    ("base_url", "protocol", "temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
)
"""A provider's settings on which answers depend."""


class LabService:
    """Makes runs. All except `runs` are slow, called in a thread, and raise `JitchatError`."""

    def __init__(
        self, resolve: Callable[[], models.ResolvedModel], paths: Paths, store: ColdStore
    ) -> None:
        """`resolve` returns the model in use; `store` is the user's."""
        self._resolve, self._paths, self._store = resolve, paths, store
        self.runs = run_file.Runs(paths.rot)
        """The folder of runs."""

    def answerer(self) -> costs.Answerer:
        """Return the model that would answer now."""
        model = self._resolve()
        budget, prices = model.asked_budget, model.prices
        picker = small_models.address_of(model.settings, "picker")
        system = models.system_text(model.settings, grade.contract(()))
        return costs.Answerer(
            provider=model.profile.name,
            model=model.name,
            limit=budget.limit,
            reserve=budget.reserve,
            size=budget.most,
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
        """Return the model's speed in its latest run that shows it; None if no run does."""
        if model.profile.is_reader:
            return None
        for run, _ in self.runs.all():
            if (run.provider, run.model) == (model.profile.name, model.name):
                with suppress(errors.StoreError), closing(self.runs.open(run.id)) as file:
                    if speed := costs.speed_of(file.results()):
                        return speed
        return None

    def probe(self) -> costs.Speed | None:
        """Measure the model's speed with one short question; None if it reports no usage.

        The reader is not asked. Slow; must not be called from a running event loop.
        """
        model = self._resolve()
        if model.profile.is_reader or models.lacks_key(model.profile):
            return None
        provider = models.make_provider(model.profile, model.name, model.counter, model.learnt)
        provider = model.metered(provider, Purpose.LAB)
        try:
            speed = asyncio.run(probe_speed(provider, model.profile.sampling))
        except (errors.ProviderError, errors.SpendingLimitReached):
            return None  # the run itself reports the error
        return speed and replace(speed, answer=float(answer_cap(model)))  # small models ramble

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        """Return the experiment that `begin` would run, and check early whether it can be started.

        Lengths beyond the user's conversation are left out, and the conversation is given by id;
        an experiment with generated filler is unchanged. Nothing is sent or created.
        """
        model = self._resolve()
        require_key(model.profile)
        if judge:
            require_key(judge_model(model, judge).profile)
        return self._fitted(experiment, model)[0]

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        """Create the file of a new run and the lab that runs it.

        The run is locked until its file is closed: no other process can run or delete it.
        """
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
                temperature=sampling.temperature or 0.0,
                sampling_seed=experiment.seed if sampling.seed is None else sampling.seed,
            )
        file = self.runs.create(run)
        return _lab(file, model, embedder, budget, judging, parallel, turns)

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        """Open a run to ask the cells without an answer; it is locked like a new one.

        Limit and reserve are those that the run was started with. Everything else that affects
        windows and answers must be unchanged.
        """
        file = self.runs.open(wanted, to_ask=True)
        try:
            return self._resumed(file, parallel)
        except BaseException:  # close on any failure
            file.close()
            raise

    def _resumed(self, file: run_file.RunFile, parallel: int) -> Lab:
        """Check that the model, embedder and settings are the run's own, and make its lab."""
        run, model = file.run, self._resolve()
        named = f"{model.profile.name} {model.name}"
        _require_same(run, "", f"{run.provider} {run.model}", named)
        require_key(model.profile)
        embedder = models.make_embedder(model.settings, self._paths)
        _require_same(run, "jitchat ", run.version, __version__)
        _require_same(run, "the embedder ", run.embedder, embedder.id)
        _require_same(run, "tokens counted by ", run.counter, model.counter.name)
        if changes := list(_changed_settings(run, settings_fields(model.settings))):
            them = "it" if len(changes) == 1 else "them"
            raise errors.UsageError(" ".join(changes), f"Set {them} back, or start a new run.")
        judging = _make_judge(model, run.judge) if run.judge else None
        budget = replace(model.budget(), limit=run.limit, reserve=run.reserve)
        title, turns = self._conversation(run.experiment)
        if run_file.source_of(turns) != run.source:
            what = f"{title} has changed since {run.id} was started."
            raise errors.UsageError(what, "Start a new run.")
        return _lab(file, model, embedder, budget, judging, parallel, turns)

    def title(self, experiment: Experiment) -> str:
        """Return the title of the user's conversation; empty for generated filler."""
        return self._conversation(experiment)[0]

    def _conversation(self, experiment: Experiment) -> tuple[str, Sequence[Turn]]:
        """Load the title and turns of the user's conversation; both empty for generated filler."""
        if experiment.conversation is None:
            return "", ()
        conversation = self._store.conversation(experiment.conversation)
        return one_line(conversation.title), self._store.turns(conversation.id)

    def _fitted(
        self, experiment: Experiment, model: models.ResolvedModel
    ) -> tuple[Experiment, Sequence[Turn]]:
        """Leave out lengths that the user's conversation does not reach.

        Return the experiment and the conversation's turns, empty for generated filler.
        """

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
            raise errors.UsageError(
                f"{one_line(conversation.title)} has {tokens:,} tokens, but the shortest length is"
                f" {experiment.lengths[0]:,}.",
                "Choose a shorter length, or a longer conversation.",
            )
        return replace(experiment, conversation=conversation.id, lengths=reached), turns


_PROBE = " ".join(f"Line {number}: nothing to note." for number in range(60))
"""A text of several hundred tokens."""
_PROBE_ANSWER = 16


async def probe_speed(provider: Provider, sampling: Options) -> costs.Speed | None:
    """Measure a model's speed with one question; None if it reports no usage."""
    asked = replace(sampling, max_tokens=_PROBE_ANSWER, temperature=0.0)
    try:
        await _speed_at("Are you there?", provider, asked)  # loads the model if necessary
        return await _speed_at(f"{_PROBE}\nHow many lines are there?", provider, asked)
    finally:
        await provider.aclose()


async def _speed_at(text: str, provider: Provider, asked: Options) -> costs.Speed | None:
    start = time.monotonic()
    reply = await reply_to((Message(Role.USER, text),), provider, asked)
    ended, usage = time.monotonic(), reply.usage
    if usage is None or reply.first is None or not (usage.input_tokens and usage.output_tokens):
        return None
    return costs.Speed(
        (usage.input_tokens - (usage.cached_tokens or 0)) / (reply.first - start),
        usage.output_tokens / max(ended - reply.first, 0.001),
        usage.output_tokens,
    )


def _lab(  # noqa: PLR0913, PLR0917  the parts of a lab
    file: run_file.RunFile,
    model: models.ResolvedModel,
    embedder: Embedder,
    budget: Budget,
    judge: grade.Judge | None,
    parallel: int,
    turns: Sequence[Turn],
) -> Lab:
    def open_session(memory: Memory) -> Session:
        """Open a session of the run; the server is not asked again for the context size."""
        session = model.open_session(
            memory,
            instructions=grade.contract(file.run.experiment.kinds),
            asking=Asking.ON if file.run.experiment.asks else Asking.OFF,
        )
        session.take_budget(budget)
        run = file.run
        if run.is_reader:
            return session
        session.provider = model.metered(session.provider, Purpose.LAB)
        request = session.options.request
        request = replace(request, temperature=run.temperature, seed=run.sampling_seed)
        if run.longest is not None:
            request = replace(request, max_tokens=run.longest)
        session.options = replace(session.options, request=request)
        return session

    counter = model.counter
    return Lab(file, open_session, embedder, counter, judge=judge, parallel=parallel, own=turns)


def _require_same(run: run_file.Run, what: str, then: str, now: str) -> None:
    if then != now:
        raise errors.UsageError(
            f"{run.id} was started with {what}{one_line(then)}; now it would be {one_line(now)}.",
            "Use what it was started with, or start a new run.",
        )


def _changed_settings(run: run_file.Run, settings: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings that affect windows or answers and differ from a run's, a sentence each.

    Limit and reserve are not included: a run keeps those that it was started with.
    """
    was = dict(run.settings)
    for name in was | dict(settings):
        before = was.get(name, _UNSET)
        now = settings.get(name, _UNSET)
        if before != now and _shapes(name, run):
            value = before if before == _UNSET else f"= {shorten(before, _LONGEST)}"
            changed = shorten(now, _LONGEST)
            yield f"{run.id} was started with {name} {value}; now it is {changed}."


def _shapes(setting: str, run: run_file.Run) -> bool:
    section, _, name = setting.rpartition(".")
    picks = dict(run.settings).get("picker.provider", "").strip('"')
    tables = ("provider", f"providers.{run.provider}", f"providers.{picks}")
    return setting.startswith(_SHAPING) or (section in tables and name in _SAMPLING)


def answer_cap(model: models.ResolvedModel) -> int:
    """Return the maximum tokens of an answer in the lab if max_tokens is not set."""
    usual = costs.ENGINE_ANSWER_TOKENS if model.profile.is_engine else costs.ANSWER_TOKENS
    return model.settings.lab.answer or usual


def is_here(model: models.ResolvedModel) -> bool:
    """Whether all requests are known to be free and to stay on this machine."""
    prices, picker = model.prices, small_models.address_of(model.settings, "picker")
    if prices is None or not prices.is_free:
        return False
    stays = _stays(model.profile, model.name)
    return stays and (picker is None or _stays(picker.profile, picker.model))


def _stays(profile: profiles.Profile, model: str) -> bool:
    return profile.stays_here and not model.endswith(_ELSEWHERE)


def judge_model(model: models.ResolvedModel, name: str) -> models.ResolvedModel:
    """Resolve the judge: a model of the answering provider or, for the reader, `provider/model`."""
    if name == "reader":
        raise errors.UsageError(
            "--judge: the reader only quotes and cannot judge.", "Name a provider's model."
        )
    profile = model.profile
    if profile.is_reader:
        provider, _, rest = name.partition("/")
        if not (rest and provider in model.settings.provider_names()):
            provider, rest = _USUAL, name
        profile, name = model.settings.profile(provider), rest
    return models.ResolvedModel(model.settings, profile, name, model.database)


def _make_judge(model: models.ResolvedModel, name: str) -> grade.Judge:
    """Make the judge of answers which no rule finds right. Slow."""
    judge = judge_model(model, name)
    require_key(judge.profile)
    provider = models.make_provider(judge.profile, judge.name, judge.counter, judge.learnt)
    return grade.Judge(judge.metered(provider, Purpose.LAB), judge.profile.sampling)


def require_key(profile: profiles.Profile) -> None:
    """Refuse a provider that is known to require a key if none is set. Slow."""
    if models.lacks_key(profile):
        raise errors.KeyRefused(
            f"Nothing was sent: {without_login(profile.base_url)} requires a key, but none is set.",
            profile.key_help,
        )
