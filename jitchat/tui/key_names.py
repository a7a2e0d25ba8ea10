"""How keys are written for the user, who may have changed them in `[keys]`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from jitchat.tui.actions import BY_ID, keys_by_id, spelled

_SIGNS = {"shift+tab": "⇧⇥", "enter": "⏎"}
_NOT_EVERYWHERE = re.compile(r"alt\+|f\d+$")
"""Keys that some terminals keep for themselves, or send only once they are told to."""


@dataclass(frozen=True, slots=True)
class KeyNames:
    """The keys as they are in use, by the ids of their actions."""

    changed: Mapping[str, str] = field(default_factory=dict)
    """Comma-separated, by id, as the configuration has them."""

    def all_of(self, identity: str) -> tuple[str, ...]:
        """List the keys of an action, as Textual names them; none where it has none."""
        listed = self.changed.get(identity) or keys_by_id().get(identity, "")
        return tuple(key.strip() for key in listed.split(",") if key.strip())

    def spell_all(self, identity: str) -> str:
        """Spell all of them: `Shift+Enter, Ctrl+J`; empty where there is none."""
        return ", ".join(map(spelled, self.all_of(identity)))

    def __getitem__(self, identity: str) -> str:
        """Spell the first of them, else what leads there from the menu: `Ctrl+L`, `Ctrl+O D`."""
        first = next(iter(self.all_of(identity)), "")
        return spelled(first) if first else self.in_menu(identity)

    def in_menu(self, identity: str) -> str:
        """Spell what does it in the menu, whatever the terminal: `Ctrl+O D`; empty for nothing."""
        letter = BY_ID[identity].letter if identity in BY_ID else ""
        return f"{self['menu']} {spelled(letter)}" if letter else ""

    def anywhere(self, identity: str) -> str:
        """Spell a key of it that the user gave it, or that each terminal sends; else the menu's."""
        is_own = identity in self.changed
        keys = self.all_of(identity)
        every = (key for key in keys if is_own or not _NOT_EVERYWHERE.match(key))
        first = next(every, "")
        return spelled(first) if first else self.in_menu(identity)

    def short(self, identity: str) -> str:
        """Write the first of them as shortly as can be read: `^L`, `⇧⇥`, `F2`."""
        first = next(iter(self.all_of(identity)), "")
        control, _, letter = first.rpartition("ctrl+")
        if not control and letter != first and len(letter) == 1:
            return f"^{letter.upper()}"
        return _SIGNS.get(first) or spelled(first)

    def tell(self, sentence: str) -> str:
        """Write a sentence of ours, in which `{models}` stands for the key of that action."""
        return sentence.format_map(self)
