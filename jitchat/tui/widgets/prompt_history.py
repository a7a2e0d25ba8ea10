"""The prompts that were sent, as Up and Down walk them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class PromptHistory:
    """What is typed when the walk begins narrows it to the prompts that begin so."""

    _prompts: Sequence[str] = ()
    """The newest first, each once."""
    _place: int = 0
    """The prompt that is shown, counted from 1; 0 for what was typed."""
    _typed: str = ""

    def use(self, prompts: Sequence[str]) -> None:
        self._prompts, self._place, self._typed = list(dict.fromkeys(prompts)), 0, ""

    def add(self, prompt: str) -> None:
        self.use((prompt, *self._prompts))

    def older(self, shown: str) -> str | None:
        """Give the next older prompt than what is shown; None where there is none."""
        if self._place == 0:
            self._typed = shown
        for place in range(self._place + 1, len(self._prompts) + 1):
            if self._is_fit(place):
                return self._go(place)
        return None

    def newer(self) -> str | None:
        """Give the next newer one, at last what was typed; None where that is shown."""
        fitting = (place for place in range(self._place - 1, 0, -1) if self._is_fit(place))
        return self._go(next(fitting, 0)) if self._place else None

    def _is_fit(self, place: int) -> bool:
        return self._prompts[place - 1].casefold().startswith(self._typed.casefold())

    def _go(self, place: int) -> str:
        self._place = place
        return self._prompts[place - 1] if place else self._typed
