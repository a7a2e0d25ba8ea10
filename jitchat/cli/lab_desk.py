"""The composition root's part on the rot lab: from settings to runs, and to who answers in them.

No conversation of the user's is touched: a run has a file of its own. What a server teaches
about its model is kept where the chat keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from jitchat.cli.compose import make_embedder
from jitchat.cli.lab_models import answerer_of, judge_of, make_judge, require_key
from jitchat.cli.lab_same import require_same, require_same_model, require_unchanged
from jitchat.cli.lab_setup import Setup
from jitchat.cli.who import Who
from jitchat.errors import UsageError
from jitchat.memory.cold.store import ColdStore
from jitchat.paths import Paths
from jitchat.rot.desk import Answerer
from jitchat.rot.experiment import Experiment
from jitchat.rot.lab import Lab
from jitchat.rot.run import Run
from jitchat.rot.runs import Runs
from jitchat.text.safe import one_line
from jitchat.turn import Turn
from jitchat.window.tokens import TokenCounter, message_tokens


class LocalLabDesk:
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

    def settled(self, experiment: Experiment, judge: str = "") -> Experiment:
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
        embedder, budget = make_embedder(who.settings, self._paths), who.asked_budget
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
        embedder, counter = make_embedder(who.settings, self._paths), who.counter()
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
