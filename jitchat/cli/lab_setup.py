"""What a run of the rot lab is asked with: a model, its windows, an embedder and a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jitchat import __version__
from jitchat.bench.report import settings_fields
from jitchat.cli.compose import session_with
from jitchat.cli.who import Who
from jitchat.memory.cold.store import local_now
from jitchat.memory.embedding.embedder import Embedder
from jitchat.memory.memory import Memory
from jitchat.rot.experiment import Experiment
from jitchat.rot.judge import Judge
from jitchat.rot.lab import Lab
from jitchat.rot.run import Run, source_of
from jitchat.rot.run_file import RunFile
from jitchat.session import Session
from jitchat.turn import Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter


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
        session = session_with(self.who, memory, self.counter)
        session.take_budget(self.budget)
        return session
