"""Which tools are offered with a message: all of them, or those whose description fits it. Pure.

All are offered while they take little of the budget. Beyond that, `auto` offers the tools that
share words with the message, the best first, as many as fit. The offered tools are ordered by name,
so that the start of a window stays the same.
"""

from collections.abc import Mapping, Sequence

from jitchat.text.figures import plural
from jitchat.text.words import content_words, stem, weight_of, words
from jitchat.values import Tool
from jitchat.window.parts import ToolOffer

SHARE = 0.1
"""Share of the budget up to which all tools are offered."""


def chosen(
    tools: Sequence[tuple[Tool, int]], message: str, budget: int | None
) -> tuple[ToolOffer, ...]:
    """Judge tools with their prices in tokens; without a budget, all are offered.

    The result is in order of name.
    """
    listed = sorted(tools, key=lambda priced: priced[0].name)
    left = None if budget is None else int(budget * SHARE)
    if left is None or sum(tokens for _, tokens in listed) <= left:
        why = "all tools are offered" if left is None else "all tools take little of the budget"
        return tuple(ToolOffer(tool, why, tokens=tokens) for tool, tokens in listed)
    asked = {stem(word): word for word in content_words(message)}
    shared = {tool.name: _shared(tool, asked) for tool, _ in listed}
    ranked = sorted(listed, key=lambda priced: -sum(map(weight_of, shared[priced[0].name])))
    made: dict[str, ToolOffer] = {}
    for tool, tokens in ranked:
        made[tool.name] = offer = _judged(tool, tokens, shared[tool.name], left)
        left -= tokens if offer.is_offered else 0
    return tuple(made[tool.name] for tool, _ in listed)


def _shared(tool: Tool, asked: Mapping[str, str]) -> tuple[str, ...]:
    """Return the message's words, given by their stems, that the name or description has, too."""
    text = f"{tool.name.replace('_', ' ').replace('-', ' ')}. {tool.description}"
    has = {stem(word) for word in words(text)}
    return tuple(word for stemmed, word in asked.items() if stemmed in has)


def _judged(tool: Tool, tokens: int, shared: Sequence[str], left: int) -> ToolOffer:
    if not shared:
        return ToolOffer(tool, "its description does not fit", is_offered=False, tokens=tokens)
    if tokens > left:
        price = plural(tokens, "token")
        why = f"it fits, but {price} exceed what is left for tools"
        return ToolOffer(tool, why, is_offered=False, tokens=tokens)
    return ToolOffer(tool, f'its description fits on "{", ".join(shared)}"', tokens=tokens)
