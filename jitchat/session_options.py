"""The options of a session: everything that it does not decide by itself."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from jitchat.observing import ObserveRules
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options
from jitchat.small_models.reranker import Reranker
from jitchat.small_models.small_model import SmallModel
from jitchat.spending import SpendingLimits
from jitchat.statements import Proposing
from jitchat.store.models import ModelLessons
from jitchat.synthesis.document_writer import DocumentWriter
from jitchat.synthesis.observer import Observer
from jitchat.tools.compacting import Compactor
from jitchat.tools.gate import LARGE_RESULT
from jitchat.tools.offering import OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import Reach
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.parts import SYSTEM_PROMPT


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The model's facts, the small models, and the user's settings for one session."""

    budget: Budget = field(default_factory=Budget)
    system: str = SYSTEM_PROMPT
    system_reason: str = reasons.INSTRUCTIONS
    """Where the system prompt comes from, as its segment shows it."""
    request: Options = field(default_factory=Options)
    picker: SmallModel | None = None
    """Chooses the turns to recall; None for the heuristic."""
    reranker: Reranker | None = None
    """Ranks the shortlist again before picking; None for the fused score alone."""
    summariser: SmallModel | None = None
    """Writes index lines in the background; None for the heuristic."""
    prices: Prices | None = None
    """Prices of the model in use; None if unknown."""
    prices_of: Callable[[str, str], Prices | None] = lambda _provider, _model: None
    """Prices of another model, by the names of its provider and its own; None if unknown."""
    learnt: ModelLessons | None = None
    """What was learnt of the model between runs; None if nothing is kept."""
    toolbox: Toolbox = field(default_factory=Toolbox)
    """The tools that the model may call, in addition to jitchat's own."""
    offers: OfferRules = field(default_factory=OfferRules)
    """Which tools are offered with a message."""
    large_result: int = LARGE_RESULT
    """Tokens from which a tool result is held at the gate."""
    compactor: Compactor | None = None
    """Compacts results held at the gate; None for the built-in extractor."""
    proposing: Proposing = Proposing.OFF
    """What happens to facts found in the user's messages."""
    reach: Reach = Reach.CONVERSATION
    """The conversations from which turns are recalled."""
    observer: Observer | None = None
    """Makes observations and finds facts; None for the built-in observer."""
    observing: ObserveRules = field(default_factory=ObserveRules)
    writer: DocumentWriter | None = None
    """Writes the memory document; None for the built-in writer."""
    spending: SpendingLimits = field(default_factory=SpendingLimits)
    sees: bool | None = None
    """Whether the model accepts pictures; None if unknown."""
    cache_life: timedelta | None = None
    """How long the provider's prompt cache keeps what was sent; None: as long as it is used."""
    takes_tools: bool | None = None
    """Whether the model supports tools; None if unknown, until a refusal teaches it."""
