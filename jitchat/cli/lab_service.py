"""What a run of the rot lab is asked with: a model, its windows, an embedder and a judge.

No conversation of the user's is touched: a run has a file of its own. What a server teaches
about its model is kept where the chat keeps it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jitchat import __version__
from jitchat.bench.output import settings_fields, without_login
from jitchat.cli import compose
from jitchat.cli.answerers import key_of, make_provider
from jitchat.cli.compose import session_with, system_text
from jitchat.cli.who import Who
from jitchat.errors import KeyRefused, UsageError
from jitchat.index.embedder import Embedder
from jitchat.lab.compare import changed_settings
from jitchat.lab.costs import Answerer
from jitchat.lab.experiment import Experiment
from jitchat.lab.grade import CONTRACT
from jitchat.lab.judge import Judge
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import Run, RunFile, source_of
from jitchat.lab.runs import Runs
from jitchat.memory import Memory
from jitchat.paths import Paths
from jitchat.session import Session
from jitchat.settings import Settings
from jitchat.settings.profiles import Profile
from jitchat.settings.small_models import address_of
from jitchat.store.store import ColdStore, local_now
from jitchat.text.sanitize import one_line
from jitchat.values import Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter, message_tokens


@dataclass(frozen=True, slots=True)
class Setup:
    """All that a run is asked with."""

    who: Who
    counter: TokenCounter
    embedder: Embedder
    budget: Budget
    judge: Judge | None
    """None where rules alone judge."""

    def run(self, experiment: Experiment, judge: str, own: Sequence[Turn]) -> Run:
        """Describe a new run; who keeps it gives it an id. `own` are the user's turns in it."""
        return Run(
            id="",
            experiment=experiment,
            provider=self.who.profile.name,
            model=self.who.model,
            embedder=self.embedder.id,
            limit=self.budget.limit,
            reserve=self.budget.reserve,
            counter=self.counter.name,
            version=__version__,
            begun_at=local_now(),
            judge=judge,
            settings=tuple(settings_fields(self.who.settings).items()),
            source=source_of(own),
        )

    def lab(self, file: RunFile, own: Sequence[Turn], parallel: int) -> Lab:
        """Make what asks a run."""
        counter, judge = self.counter, self.judge
        return Lab(
            file, self.session, self.embedder, counter, judge=judge, parallel=parallel, own=own
        )

    def session(self, memory: Memory) -> Session:
        """Open a session of the run; its server is not asked again how much its model takes."""
        session = session_with(self.who, memory, self.counter, instructions=CONTRACT)
        session.take_budget(self.budget)
        return session


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
    told = list(changed_settings(run, settings_fields(settings)))
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
    system = system_text(who.settings, CONTRACT)
    return message_tokens(who.counter(), system) + _QUESTION


class LocalLabService:
    """Makes runs that whoever answers now is asked in."""

    def __init__(self, who: Callable[[], Who], paths: Paths, store: ColdStore) -> None:
        """`who` says who answers now; `store` is the user's."""
        self._who, self._paths, self._store = who, paths, store
        self._runs = Runs(paths.rot)

    @property
    def runs(self) -> Runs:
        """The folder of runs."""
        return self._runs

    def answerer(self) -> Answerer:
        """Say who would answer now. Slow: a server may be asked how much its model takes.

        Raises:
            JitchatError: What the settings ask for cannot be had.

        """
        return answerer_of(self._who())

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        """Fit it to the user's conversation, and find out early whether it can be begun. Slow.

        Lengths that the conversation has not are left out.

        Raises:
            KeyRefused: A key is missing.
            UsageError: There is no such conversation, or it is shorter than every length.

        """
        who = self._who()
        require_key(who.profile)
        if judge:
            require_key(judge_of(who, judge).profile)
        return self._with_own(experiment, who.counter())[0]

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        """Make the file of a new run, and what asks it. Slow.

        Raises:
            JitchatError: It cannot be: no key, no room on the disk, no such conversation.

        """
        who = self._who()
        require_key(who.profile)
        counter = who.counter()
        asked, own = self._with_own(experiment, counter)
        judging = make_judge(who, judge) if judge else None
        embedder, budget = compose.make_embedder(who.settings, self._paths), who.asked_budget
        setup = Setup(who, counter, embedder, budget, judging)
        return setup.lab(self._runs.create(setup.run(asked, judge, own)), own, parallel)

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        """Open a run to ask what has no answer yet. Slow.

        The model's limit and the reserve are what they were when it was begun, whatever they are
        now; all else that shapes windows and answers must be so.

        Raises:
            StoreBusy: It is being asked.
            JitchatError: There is no such run, or something else would be asked now.

        """
        file = self._runs.open(wanted, to_ask=True)
        try:
            setup = self._setup_of(file.run)
            title, own = self._own(file.run.experiment)
            require_unchanged(file.run, title, own)
            return setup.lab(file, own, parallel)
        except BaseException:  # closed whatever it was, and passed on
            file.close()
            raise

    def _setup_of(self, run: Run) -> Setup:
        """Set up what a run was begun with.

        Raises:
            UsageError: It is not what would be used now.

        """
        who = self._who()
        require_same_model(run, who)
        require_key(who.profile)
        embedder, counter = compose.make_embedder(who.settings, self._paths), who.counter()
        require_same(run, who.settings, embedder, counter)
        judging = make_judge(who, run.judge) if run.judge else None
        budget = replace(who.budget(), limit=run.limit, reserve=run.reserve)
        return Setup(who, counter, embedder, budget, judging)

    def title(self, experiment: Experiment) -> str:
        """Name the user's conversation that is the filler; empty for made-up talk.

        Raises:
            UnknownConversation: It is not there any more.

        """
        return self._own(experiment)[0]

    def _own(self, experiment: Experiment) -> tuple[str, Sequence[Turn]]:
        """Load the user's conversation: its title and turns; none where talk is made up."""
        if experiment.conversation is None:
            return "", ()
        found = self._store.conversation(experiment.conversation)
        return one_line(found.title), self._store.turns(found.id)

    def _with_own(
        self, experiment: Experiment, counter: TokenCounter
    ) -> tuple[Experiment, Sequence[Turn]]:
        """Fit an experiment to the user's conversation; its turns, none where talk is made up."""
        if experiment.conversation is None:
            return experiment, ()
        found = self._store.conversation(experiment.conversation)
        turns = self._store.turns(found.id)
        tokens = sum(message_tokens(counter, turn.content) for turn in turns)
        reached = tuple(length for length in experiment.lengths if length <= tokens)
        if not reached:
            raise UsageError(
                f"{one_line(found.title)} has {tokens:,} tokens, and the shortest length is"
                f" {experiment.lengths[0]:,}.",
                "Choose a shorter length, or a longer conversation.",
            )
        return replace(experiment, conversation=found.id, lengths=reached), turns
