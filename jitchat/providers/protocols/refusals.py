"""What an error of a server means: in any protocol's shape, for nobody knows who answers.

Between the app and the model there may be a proxy that speaks another dialect than the model.
"""

from __future__ import annotations

import re

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.values import at, first, parsed
from jitchat.text.safe import shortened

CHECK_URL = "Check provider.base_url (it usually ends in /v1), and that no login page is between."
_SHOWN = 300
"""Characters of a provider's own error text that are passed on."""
_ABOUT_THE_KEY = re.compile(
    r"\b(?:api[ _-]?key|no connected db|authentication|invalid (?:proxy )?token)\b", re.IGNORECASE
)
"""Some servers refuse a key with 400: litellm, Gemini."""
_LATER = "Send again in a while."
_REMEDIES = {
    402: "The account has no credit left.",
    404: "Check provider.model, and that provider.base_url ends in /v1.",
    408: "Send again.",
    413: "The window is too large for it: lower provider.limit, or switch the mode.",
    429: "It is asked too often, or the quota is used up. Wait, and send again.",
} | dict.fromkeys((500, 502, 503, 504, 529), _LATER)


def refusal(status: int, body: str, key_help: str = "") -> ProviderError:
    """Say what status and body mean, in the provider's own words where it has some."""
    said = message_of(parsed(body))
    if status in (401, 403) or (status == 400 and _ABOUT_THE_KEY.search(said)):
        what = "access" if status == 403 else "the key"
        return KeyRefused(
            _told(f"The provider refused {what} (HTTP {status})", said),
            key_help or "Check OPENAI_API_KEY, or provider.api_key in the configuration.",
        )
    if not said:
        return NotAnAnswer(
            f"The server answered HTTP {status} with something that is not this protocol.",
            _REMEDIES.get(status, CHECK_URL),
        )
    remedy = _REMEDIES.get(status, "Check provider.model and provider.base_url.")
    return RequestRefused(_told(f"The provider refused the request (HTTP {status})", said), remedy)


def stopped(event: object) -> ProviderError:
    """Make the error that an event of a stream reports, after the answer began."""
    return RequestRefused(_told("The provider stopped", message_of(event)), "Send again.")


def message_of(body: object) -> str:
    """Find the text of an error in any of the shapes that are seen; empty if there is none."""
    body = first(body)
    error = at(body, "error") or body
    for found in (at(error, "message"), at(error, "detail"), at(error, "type"), error):
        if isinstance(found, str) and found.strip():
            return shortened(found, _SHOWN)
    return ""


def _told(what: str, said: str) -> str:
    """Make a sentence that ends with the provider's own words."""
    if not said:
        return f"{what}."
    return f"{what}: {said}" if said[-1] in ".!?…" else f"{what}: {said}."
