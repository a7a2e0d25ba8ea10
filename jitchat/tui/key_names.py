"""Format keys for the user, who may have remapped them in `[keys]`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from jitchat.tui.actions import BY_ID, keys_by_id, spelled

_SIGNS = {"shift+tab": "⇧⇥", "enter": "⏎"}
_NOT_EVERYWHERE = re.compile(r"alt\+|f\d+$")
"""Keys that some terminals reserve, or send only if configured to."""
_NO_KEY = "unbound"
"""A key that no terminal sends."""


@dataclass(frozen=True, slots=True)
class KeyNames:
    """The current keys, by the ids of their actions."""

    changed: Mapping[str, str] = field(default_factory=dict)
    """Remapped keys from the configuration: comma-separated, by id; empty for no key."""

    def all_of(self, identity: str) -> tuple[str, ...]:
        """Return the keys of an action by their Textual names; empty if it has none."""
        own = self.changed.get(identity)
        listed = keys_by_id().get(identity, "") if own is None else own
        return tuple(key.strip() for key in listed.split(",") if key.strip())

    def is_unbound(self, identity: str) -> bool:
        """Whether the user removed the keys of an action."""
        return identity in self.changed and not self.all_of(identity)

    def keymap(self) -> dict[str, str]:
        """Return the remapped keys for Textual, which ignores an empty one."""
        return {identity: keys.strip() or _NO_KEY for identity, keys in self.changed.items()}

    def spell_all(self, identity: str) -> str:
        """Format all keys of an action: `Shift+Enter, Ctrl+J`; empty if it has none."""
        return ", ".join(map(spelled, self.all_of(identity)))

    def __getitem__(self, identity: str) -> str:
        """Format the first key of an action, or its menu key: `Ctrl+L`, `Ctrl+O D`."""
        first = next(iter(self.all_of(identity)), "")
        return spelled(first) if first else self.in_menu(identity)

    def in_menu(self, identity: str) -> str:
        """Format the menu key of an action, `Ctrl+O D`; empty if the menu does not have it.

        If the user removed the menu's keys, the action's command is returned instead.
        """
        action = BY_ID.get(identity)
        if action is None or not action.letter:
            return ""
        if menu := self["menu"]:
            return f"{menu} {spelled(action.letter)}"
        return f"/{action.name}" if action.name else ""

    def anywhere(self, identity: str) -> str:
        """Format a key that the user set or that every terminal sends, or the menu key."""
        is_remapped = identity in self.changed
        keys = self.all_of(identity)
        reliable = (key for key in keys if is_remapped or not _NOT_EVERYWHERE.match(key))
        first = next(reliable, "")
        return spelled(first) if first else self.in_menu(identity)

    def short(self, identity: str) -> str:
        """Format the first key of an action in its shortest form: `^L`, `⇧⇥`, `F2`."""
        first = next(iter(self.all_of(identity)), "")
        control, _, letter = first.rpartition("ctrl+")
        if not control and letter != first and len(letter) == 1:
            return f"^{letter.upper()}"
        return _SIGNS.get(first) or spelled(first)

    def tell(self, sentence: str) -> str:
        """Fill in a sentence's placeholders: `{models}` becomes the key of that action."""
        return sentence.format_map(self)
