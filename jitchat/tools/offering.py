"""Which tools are offered with a message, and why the others are not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jitchat.tools.approvals import BETWEEN, has_tool
from jitchat.tools.choosing import SHARE, chosen
from jitchat.tools.toolbox import Toolbox
from jitchat.values import EPHEMERAL, HANDLE_LARGE_RESULTS, REQUEST_CONTEXT, Mode, Tool
from jitchat.window import reasons
from jitchat.window.parts import ToolOffer
from jitchat.window.tokens import TokenCounter
from jitchat.window.tool_prices import tool_prices


class Asking(StrEnum):
    """When `request_context` is offered."""

    OFF = "off"
    AUTO = "auto"
    """Offered in the modes that retrieve or distil; the others stay baselines."""
    ON = "on"


@dataclass(frozen=True, slots=True)
class OfferRules:
    asking: Asking = Asking.OFF
    offers_all: bool = False
    """Whether all tools are offered, whatever they cost; if not, those that fit the message."""
    globs: tuple[str, ...] | None = None
    """The servers' tools that can be offered, as in `Rules`; None for all."""

    def allow(self, tool: Tool) -> bool:
        server, _, name = tool.name.partition(BETWEEN)
        return self.globs is None or has_tool(self.globs, server, name)


@dataclass(frozen=True, slots=True)
class OfferContext:
    """A message, with the mode and budget of its window."""

    message: str
    mode: Mode
    budget: int
    """Maximum tokens of the message's window."""
    is_first: bool
    """Whether it is the conversation's first message: nothing is stored before it."""
    may_ask: bool | None = None
    """Whether `request_context` is offered; None to follow the rules."""
    takes_tools: bool = True
    """Whether the model supports tools, as far as is known."""


class Offering:
    """Chooses among the tools of one conversation."""

    def __init__(self, toolbox: Toolbox, rules: OfferRules, counter: TokenCounter) -> None:
        self._toolbox, self._rules, self._counter = toolbox, rules, counter
        self._priced: tuple[Sequence[Tool], Mapping[str, int]] = (), {}
        """The tools that were priced most recently, and the price of each."""

    def of(self, context: OfferContext) -> tuple[ToolOffer, ...]:
        """Judge every tool, in order of name."""
        tools = self._toolbox.tools()
        others = self._others([tool for tool in tools if tool.name not in EPHEMERAL], context)
        has_others = any(offer.is_offered for offer in others)
        own = (tool for tool in tools if tool.name in EPHEMERAL)
        offers = [*others, *self._own(own, context, has_others=has_others)]
        if not context.takes_tools:
            offers = [self._refused(offer) for offer in offers if offer.is_offered]
        return tuple(sorted(offers, key=lambda offer: offer.tool.name))

    def _refused(self, offer: ToolOffer) -> ToolOffer:
        tokens = offer.tokens or self._prices_of([offer.tool])[offer.tool.name]
        return ToolOffer(offer.tool, reasons.NO_TOOLS, is_offered=False, tokens=tokens)

    def _own(
        self, tools: Iterator[Tool], context: OfferContext, *, has_others: bool
    ) -> Iterator[ToolOffer]:
        for tool in tools:
            if tool.name == HANDLE_LARGE_RESULTS and has_others:
                yield ToolOffer(tool, reasons.GATE)
            if tool.name == REQUEST_CONTEXT and self._may_ask(tool, context):
                in_full = self._asking(context) is Asking.ON
                yield ToolOffer(tool, reasons.CAN_ASK, in_full=in_full)

    def _asking(self, context: OfferContext) -> Asking:
        if context.may_ask is None:
            return self._rules.asking
        return Asking.ON if context.may_ask else Asking.OFF

    def _may_ask(self, tool: Tool, context: OfferContext) -> bool:
        asking = self._asking(context)
        if context.is_first or asking is not Asking.AUTO:
            return asking is Asking.ON and not context.is_first
        price = tool_prices([tool], self._counter.count, self._counter.style).total
        return not context.mode.is_baseline and price <= SHARE * context.budget

    def _others(self, tools: Sequence[Tool], context: OfferContext) -> list[ToolOffer]:
        prices = self._prices(tools)
        budget = None if self._rules.offers_all else context.budget
        priced = [(tool, prices[tool.name]) for tool in tools]
        allowed = [each for each in priced if self._rules.allow(each[0])]
        refused = (
            ToolOffer(tool, reasons.NOT_OF_PERSONA, is_offered=False, tokens=tokens)
            for tool, tokens in priced
            if not self._rules.allow(tool)
        )
        return [*chosen(allowed, context.message, budget), *refused]

    def _prices(self, tools: Sequence[Tool]) -> Mapping[str, int]:
        """Price the tools; unchanged tools are not counted again."""
        known, prices = self._priced
        if known != tools:
            prices = self._prices_of(tools)
            self._priced = tools, prices
        return prices

    def _prices_of(self, tools: Sequence[Tool]) -> Mapping[str, int]:
        return dict(tool_prices(tools, self._counter.count, self._counter.style).by_tool)
