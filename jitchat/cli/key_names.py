"""Whether `[keys]` names actions that there are, and gives no key to two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jitchat.errors import SettingsError
from jitchat.settings.checks import nearest
from jitchat.text.safe import shortened

if TYPE_CHECKING:
    from jitchat.settings import Settings


def require_known_keys(settings: Settings) -> None:
    """Check the user's keys.

    Raises:
        SettingsError: One is for no action, or for two.

    """
    if not settings.keys:
        return
    from jitchat.tui.keys import ACTIONS, PROMPT_ACTIONS, TURN_ACTIONS  # noqa: PLC0415  loads textual

    known = {action.id: action.keys for action in ACTIONS if action.keys} | PROMPT_ACTIONS
    known |= {name: keys for name, keys, *_ in TURN_ACTIONS}
    origin = settings.origins.get("keys", "[keys]")
    for name in settings.keys:
        if name not in known:
            raise SettingsError(
                f"{origin}: 'keys.{shortened(name, 40)}' is no action of jitchat.",
                f"[keys] may hold {', '.join(known)}.{nearest(name, known)}",
            )
    _require_distinct(known | dict(settings.keys), origin)


def _require_distinct(keys: Mapping[str, str], origin: str) -> None:
    taken: dict[str, str] = {}
    for action, listed in keys.items():
        for key in (piece.strip() for piece in listed.split(",")):
            if other := taken.get(key):
                raise SettingsError(
                    f"{origin}: {shortened(key, 40)!r} is a key of {other} and of {action}.",
                    "Give one of them another.",
                )
            taken[key] = action
