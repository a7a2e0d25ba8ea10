"""Counting exactly, by the provider, for who asks: it takes a request, and sends no message."""

import asyncio
from collections.abc import Sequence

from jitchat.cli.answerers import endpoint_of
from jitchat.errors import UsageError
from jitchat.providers.catalogue.limits import count_exactly
from jitchat.settings.profiles import Profile
from jitchat.values import Message


async def count_by(profile: Profile, model: str, messages: Sequence[Message]) -> int:
    """Have a provider count; its key is looked for in a thread.

    Raises:
        ProviderError: It cannot count, or did not.
        UsageError: It is the reader, who has no server.
        SettingsError: Its key cannot be had.

    """
    if profile.is_reader:
        raise UsageError(
            "The reader reports what is counted here: there is nobody to ask.",
            "Ctrl+L or --model picks a model.",
        )
    endpoint = await asyncio.to_thread(endpoint_of, profile, model)
    return await count_exactly(endpoint, profile.protocol, messages)
