"""A model that is asked about answers that no rule finds right. Optional."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.providers.provider import Options, Provider
from jitchat.rot.fact import Fact
from jitchat.rot.judging import Ruling


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judges."""

    provider: Provider
    options: Options

    async def ruling(self, fact: Fact, answer: str, ruled: Ruling) -> Ruling:
        """Ask about an answer that the rule found wrong; the rule stands where it does not say.

        Raises:
            ProviderError: It cannot be asked.

        """
        raise NotImplementedError
