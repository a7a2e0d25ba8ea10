"""What a user should know of a key that was just stored."""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.settings.key_text import CleanedKey, foreign_owner
from jitchat.settings.profile import Profile


def key_notes(profile: Profile, cleaned: CleanedKey, place: str, source: str) -> Iterator[str]:
    """Tell, a sentence each, what was taken off, whose it looks like, and what comes before it.

    `place` is where it was stored, `source` where the provider's key is now from, both as
    `key_source` says it.
    """
    if cleaned.removed:
        yield f"Taken off: {', '.join(cleaned.removed)}."
    owner = foreign_owner(cleaned.key, profile.name)
    if owner and profile.wants_key:
        yield f"It looks like a key of {owner}, not of {profile.name}."
    if source != place:
        yield f"The key in {source} comes before it."
