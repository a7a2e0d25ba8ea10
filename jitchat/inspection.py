"""A conversation in use, as far as it can be looked into without sending.

What a window would be, why it is so, and what was sent before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from jitchat.memory import Memory
from jitchat.planning import Meter, Planned, Planning, Question, Reader
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Posted, Provider, Wire
from jitchat.replay import window_of
from jitchat.small_models.picker import ModelPicker
from jitchat.small_models.small_model import SmallModel
from jitchat.small_models.summariser import Summariser
from jitchat.store.models import LearntModel
from jitchat.store.windows import Ending, Sends
from jitchat.values import Mode, Role, Turn, Usage
from jitchat.why import Explained
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration
from jitchat.window.parts import SYSTEM_PROMPT
from jitchat.window.steering import NO_MORE, Hold, HoldChange, Once, Steering
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a session does not decide by itself."""

    budget: Budget = field(default_factory=Budget)
    system: str = SYSTEM_PROMPT
    request: Options = field(default_factory=Options)
    picker: SmallModel | None = None
    """Chooses what is recalled; the heuristic does where there is none."""
    summariser: SmallModel | None = None
    """Writes index lines behind the chat; the heuristic's are used where there is none."""
    prices: Prices | None = None
    """Of the model that answers; None where nobody knows them."""
    learnt: LearntModel | None = None
    """What is kept of that model between runs; None where nothing is."""


class Inspection:
    """Its memory, who would answer, and how much fits. Changes nothing but what is held."""

    def __init__(
        self, memory: Memory, provider: Provider, counter: TokenCounter, options: SessionOptions
    ) -> None:
        self.memory, self.provider, self.counter = memory, provider, counter
        self.options = options
        self.model_limit = options.budget.limit
        """What the model takes, in tokens, also while the user has a smaller limit in use."""
        picker, summariser = map(self._as_it_answers, (options.picker, options.summariser))
        self.picker = ModelPicker(picker) if picker else None
        self.summariser = Summariser(summariser, memory) if summariser else None
        self._meter = Meter(counter, options.learnt)
        self.planning = Planning(memory, counter, self._reader)

    def preview(self, draft: str, mode: Mode, once: Once = NO_MORE) -> ContextWindow:
        """Plan the window that `send` would build now. Changes nothing; takes a thread's time.

        A picker's model is not asked: its choice can be another one, and the window says so.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        question = self.question(draft, mode, once)
        return self.planning.window(question, mode, self.options.budget)

    def question(self, draft: str, mode: Mode, once: Once = NO_MORE) -> Question:
        """Look a draft up once, for previews with several budgets."""
        return self.as_previewed(self.planning.question(draft, once), mode)

    def as_previewed(self, question: Question, mode: Mode) -> Question:
        """Say of a question that a picker's model is not asked, where sending would ask it."""
        if self.picker is None or mode is not Mode.JIT or not question.retrieval.candidates:
            return question
        return replace(question, retrieval=self.picker.not_asked(question.retrieval))

    def compare(self, draft: str, once: Once = NO_MORE) -> tuple[Question, Mapping[Mode, Planned]]:
        """Plan the windows of every mode for one question, each as `preview` does."""
        question, budget = self.planning.question(draft, once), self.options.budget
        planned = dict(self.planning.compare(question, budget))
        not_asked = self.as_previewed(question, Mode.JIT)
        if not_asked is not question:
            (planned[Mode.JIT],) = self.planning.sweep(not_asked, Mode.JIT, (budget,))
        return question, planned

    def sent_window(self, said: Turn, reply: Turn | None = None) -> ContextWindow | None:
        """Load the window that brought a reply, as it was; without one, the last for `said`.

        None where none was sent.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        sent = self.sent_exchange(said, reply)
        return sent[0] if sent is not None else None

    def sent_exchange(
        self, said: Turn, reply: Turn | None = None
    ) -> tuple[ContextWindow, Ending | None] | None:
        """Load the same window, and how it was answered: what was reported, and what it cost.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        database = self.memory.store.database
        identity = Sends(database).window_id(said, reply)
        if identity is None:
            return None
        return window_of(database, identity), self.memory.archive.ending(identity)

    def sent_on_path(
        self, said: Turn, chosen: Turn | None = None
    ) -> tuple[ContextWindow, Ending | None] | None:
        """Load what brought the chosen reply; of a message, what brought its reply on the path.

        Of a message whose reply came from elsewhere, or that has none, it is what was sent last.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        if chosen is not None and chosen.role is Role.ASSISTANT:
            return self.sent_exchange(said, chosen)
        pairs = pairwise(self.memory.turns)
        reply = next((after for turn, after in pairs if turn.position == said.position), None)
        sent = self.sent_exchange(said, reply) if reply is not None else None
        return sent if sent is not None else self.sent_exchange(said)

    def wire(self, window: ContextWindow, posted: Posted | None = None) -> Wire | None:
        """Make the request in which a window leaves; None where nothing does. Slow.

        `posted` has it made with the options that left then; None: with those of now.

        Raises:
            ProviderError: No request can be made: of the key or the address.

        """
        options = posted.options if posted is not None else self.request_options(window)
        is_posted = posted is not None
        return self.provider.wire(window.messages(), options, as_posted=is_posted)

    def explained(self, draft: str, mode: Mode, once: Once = NO_MORE) -> Explained:
        """Plan the window that would be sent for a draft, to ask of a turn why it is there.

        Raises:
            WindowOverflow: There is no such window: what the mode must send does not fit.

        """
        said = once.again.content if once.again is not None else draft
        return Explained(self.preview(draft, mode, once), said, None, self.keeps_out(once))

    @property
    def steering(self) -> Steering:
        """What the user decided about turns of the path, until it is taken back."""
        return self.planning.steering

    def hold(self, position: int, hold: Hold | None) -> HoldChange:
        """Pin a turn or exclude it, one in place of the other; None takes that back.

        Raises:
            LookupError: No finished turn of the path is there.

        """
        before = self.steering.of(position)
        turn = self.memory.turn_at(position)
        if turn is None:
            raise LookupError(position)
        self.memory.holding.put(turn, hold)
        self.memory.refresh()
        return HoldChange(position, before, hold)

    def toggle_hold(self, position: int, hold: Hold | None) -> HoldChange:
        """Hold a turn, or take that back where it is held so already: a key that is pressed twice.

        Raises:
            LookupError: No finished turn of the path is there.

        """
        return self.hold(position, None if self.steering.of(position) is hold else hold)

    def keeps_out(self, once: Once = NO_MORE) -> frozenset[int]:
        """Tell which turns the user keeps out of a message's window, by position."""
        return frozenset(once.without(self.steering))

    @property
    def calibration(self) -> Calibration:
        """How far the own counts are off for the model that answers."""
        return self._meter.calibration

    def cost_of(self, usage: Usage | None) -> float | None:
        """Price a reply, in US dollars; None where the usage or a price is not known.

        What the provider says that it charges stands before every table.
        """
        if usage is not None and usage.cost is not None:
            return usage.cost
        prices = self.options.prices
        if prices is None or prices.is_free:
            return 0.0 if prices is not None else None
        return prices.of(usage) if usage is not None else None

    def _as_it_answers(self, small: SmallModel | None) -> SmallModel | None:
        """Have a small model asked with the context size of the windows, where it answers, too."""
        if small is None or not small.answers:
            return small
        return replace(small, context=lambda: self.options.budget.limit)

    def _reader(self) -> Reader:
        return Reader(self.provider.model, self.options.system, self.calibration)

    def request_options(self, window: ContextWindow) -> Options:
        """Say what goes along with the window: for some servers, how large it may be."""
        limit = window.budget.limit
        return replace(self.options.request, context=limit, room=limit - window.used)
