"""The history of sent prompts, for Up and Down."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from jitchat.draft import Draft, distinct


@dataclass
class PromptHistory:
    """A history restricted to the prompts that start with the text typed before the first Up."""

    _prompts: Sequence[Draft] = ()
    """The newest first, without duplicates."""
    _place: int = 0
    """The number of the shown prompt, counted from 1; 0 for the typed text."""
    _left: dict[int, Draft] = field(default_factory=dict)
    """The drafts as they were left, edited or not, by their numbers."""

    def use(self, prompts: Sequence[Draft]) -> None:
        self._prompts, self._place, self._left = distinct(prompts), 0, {}

    def add(self, prompt: Draft) -> None:
        self.use((prompt, *self._prompts))

    def correct(self, stored: Draft) -> None:
        """Put a message as it was stored in the place of the newest prompt that has its text."""
        written = next((prompt for prompt in self._prompts if stored.text in prompt.text), None)
        self._prompts = [stored if prompt is written else prompt for prompt in self._prompts]

    def older(self, shown: Draft) -> Draft | None:
        """Return the next older prompt, or None if there is none."""
        self._left[self._place] = shown
        for place in range(self._place + 1, len(self._prompts) + 1):
            if self._is_fit(place):
                return self._go(place)
        return None

    def newer(self, shown: Draft) -> Draft | None:
        """Return the next newer prompt, finally the typed text; None if that is shown already."""
        self._left[self._place] = shown
        fitting = (place for place in range(self._place - 1, 0, -1) if self._is_fit(place))
        return self._go(next(fitting, 0)) if self._place else None

    def _is_fit(self, place: int) -> bool:
        return self._prompts[place - 1].text.casefold().startswith(self._left[0].text.casefold())

    def _go(self, place: int) -> Draft:
        self._place = place
        return self._left[place] if place in self._left else self._prompts[place - 1]
