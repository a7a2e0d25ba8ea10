"""Which tools are offered with a message: all of them, or those whose description fits it. Pure.

All are offered while they take little of the budget. Beyond that, `auto` offers the tools that
share words with the message, or are close to it in meaning, the best first, as many as fit.
The offered tools are ordered by name, so that the start of a window stays the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jitchat.text.figures import plural
from jitchat.text.words import content_words, stem, weight_of, words
from jitchat.values import Tool

SHARE = 0.1
"""Share of the budget up to which all tools are offered."""
CLOSE = 0.35
"""The minimum similarity at which a description fits a message that shares no word with it."""

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How similar a text is to each of several others, from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A tool, and whether it is offered."""

    tool: Tool
    tokens: int
    """The tool's price."""
    is_offered: bool
    reason: str
    """Why, as a clause."""


@dataclass(frozen=True, slots=True)
class _Fit:
    shared: tuple[str, ...]
    """Words of the message, as written."""
    weight: float
    closeness: float

    @property
    def score(self) -> float:
        return self.weight + max(0.0, self.closeness)

    @property
    def is_some(self) -> bool:
        return bool(self.shared) or self.closeness >= CLOSE


def chosen(
    tools: Sequence[tuple[Tool, int]],
    message: str,
    budget: int | None,
    *,
    always: frozenset[str] = frozenset(),
    similarity: Similarity | None = None,
) -> tuple[Choice, ...]:
    """Judge tools with their prices in tokens, in order of name.

    Without a budget, all are offered. `always` names tools that are offered in any case, such as
    the built-in ones. `similarity` comes from an embedder; without one, words decide.
    """
    listed = sorted(tools, key=lambda priced: priced[0].name)
    most = None if budget is None else int(budget * SHARE)
    if most is None or sum(tokens for _, tokens in listed) <= most:
        why = "all tools are offered" if most is None else "all tools take little of the budget"
        return tuple(Choice(tool, tokens, is_offered=True, reason=why) for tool, tokens in listed)
    fits = _fits([tool for tool, _ in listed], message, similarity)
    ranked = sorted(listed, key=lambda priced: -fits[priced[0].name].score)
    left = most - sum(tokens for tool, tokens in listed if tool.name in always)
    made: dict[str, Choice] = {}
    for tool, tokens in ranked:
        made[tool.name] = choice = _judged(tool, tokens, fits[tool.name], left, always)
        left -= tokens if choice.is_offered and tool.name not in always else 0
    return tuple(made[tool.name] for tool, _ in listed)


def _judged(tool: Tool, tokens: int, fit: _Fit, left: int, always: frozenset[str]) -> Choice:
    if tool.name in always:
        return Choice(tool, tokens, is_offered=True, reason="offered with every message")
    if not fit.is_some:
        return Choice(tool, tokens, is_offered=False, reason="its description does not fit")
    if tokens > left:
        price = plural(tokens, "token")
        why = f"it fits, but {price} exceed what is left for tools"
        return Choice(tool, tokens, is_offered=False, reason=why)
    how = f'on "{", ".join(fit.shared)}"' if fit.shared else f"by meaning ({fit.closeness:.2f})"
    return Choice(tool, tokens, is_offered=True, reason=f"its description fits {how}")


def _fits(tools: Sequence[Tool], message: str, similarity: Similarity | None) -> dict[str, _Fit]:
    texts = [_text_of(tool) for tool in tools]
    close = similarity(message, texts) if similarity and texts else [0.0] * len(texts)
    asked = {stem(word): word for word in content_words(message)}
    fits = {}
    for tool, text, closeness in zip(tools, texts, close, strict=True):
        has = {stem(word) for word in words(text)}
        shared = tuple(word for stemmed, word in asked.items() if stemmed in has)
        fits[tool.name] = _Fit(shared, sum(map(weight_of, shared)), float(closeness))
    return fits


def _text_of(tool: Tool) -> str:
    """Return the text that is compared: the words of the name, then the description."""
    return f"{tool.name.replace('_', ' ').replace('-', ' ')}. {tool.description}"
