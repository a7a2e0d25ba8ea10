"""Counters for tests: one that never changes, and ones that no tokenizer would resemble."""

from __future__ import annotations

from jitchat.window.tool_prices import Style


class Characters:
    """Four characters a token, rounded up: a price of its own for every text, never additive."""

    name = "characters"
    exact = False
    style = Style.LISTED

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


class Words:
    """A token a word, and one more a text that has any: dearer alone than joined."""

    name = "words"
    exact = True
    style = Style.LISTED

    def count(self, text: str) -> int:
        return len(text.split()) + bool(text)


class Lines:
    """The square of the lines, so that joined texts cost far more than each alone."""

    name = "lines"
    exact = False
    style = Style.LISTED

    def count(self, text: str) -> int:
        return min(5_000, (text.count("\n") + 1) ** 2) if text else 0
