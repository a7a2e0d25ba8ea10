"""What an error of a server means: in any protocol's shape, for nobody knows who answers.

Between the app and the model there may be a proxy that speaks another dialect than the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.overflow import overflow_in
from jitchat.providers.protocols.said import (
    codes,
    message_of,
    searchable,
    status_of,
    told,
    value_of,
)
from jitchat.providers.protocols.values import parsed
from jitchat.text.safe import shortened

CHECK_URL = "Check provider.base_url (it usually ends in /v1), and that no login page is between."
SAY_OTHERWISE = "Say it in other words, or choose another model."
_CHECK_KEY = "Check the provider's key."
_ABOUT_THE_KEY = re.compile(
    r"\b(?:api[ _-]?key|no connected db|authentication|invalid (?:proxy )?token)\b", re.IGNORECASE
)
"""Some servers refuse a key with 400: litellm, Gemini."""
_SPENT_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "exceeded_current_quota_error"}
)
_SPENT = re.compile(
    r"credit balance is too low|insufficient (?:balance|credits?|quota|funds)"
    r"|reached your specified api usage limits|used all available credits|monthly spending limit",
    re.IGNORECASE,
)
"""Gemini's `exceeded your current quota` is not among them: it says so of each minute's, too."""
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,200}(?:not (?:be )?found|does not exist|not exist)|invalid model"
    r"|^model: |no models? (?:is )?loaded",
    re.IGNORECASE,
)
_OTHER_API = re.compile(
    r"only supported in v1/(?P<api>responses)"
    r"|not a chat model|not supported (?:in|with|by) the (?:/?v1/)?chat/completions",
    re.IGNORECASE,
)
_PULL = re.compile(r"model ['\"]([\w./:@-]{1,200})['\"] not found, try pulling it first")
_BLOCKED = re.compile(r"requires moderation|\binput was flagged|content policy", re.IGNORECASE)
"""OpenRouter says so with 403."""
_SPENT_REMEDY = "Add credit to the account, or raise its limit; or choose another model."
"""What to do, and no more: that the money is spent, the provider's own words say."""
_ANOTHER_API = (
    "This model answers only on {}, which jitchat does not speak: choose another model"
    " (`jitchat models`, Ctrl+L)."
)
_NO_ACCESS = "Access was refused (HTTP 403) with something that is not this protocol."
_CHECK_WAY = (
    "A firewall or a proxy on the way may have answered in the provider's place, or the address is"
    " blocked. Check provider.base_url, and try from another network."
)
_LATER = "Send again in a while."
_REMEDIES = {
    402: _SPENT_REMEDY,
    404: "Check provider.model and provider.base_url (it usually ends in /v1).",
    408: "Send again.",
    409: "Send again.",
    429: "It is asked too often. Wait, and send again.",
} | dict.fromkeys((500, 502, 503, 504, 529), _LATER)


def refusal(
    status: int, body: str, key_help: str = "", headers: Mapping[str, str] | None = None
) -> ProviderError:
    """Say what status and body mean, in the provider's own words where it has some.

    `key_help` is what to do about a refused key; `headers` are the response's, by names in
    small letters. No redirect is followed, for it would take the key to another server.
    """
    headers = headers or {}
    if 300 <= status < 400 and (target := headers.get("location")):
        what = f"The server redirects to {shortened(target, 200)}, which was not followed."
        return NotAnAnswer(what, "If that is right, set provider.base_url to it.")
    if overflow := overflow_in(status, body):
        return overflow
    value = parsed(body)
    said = message_of(value)
    if status == 403 and (no_access := _without_access(said)):
        return no_access
    if status in (401, 403) or (status == 400 and _ABOUT_THE_KEY.search(said)):
        return _key_refused(status, body, key_help)
    remedy = _remedy(status, value, headers)
    if said:
        what = told(f"The provider refused the request (HTTP {status})", said)
        return RequestRefused(what, remedy or "Check provider.model and provider.base_url.")
    what = f"The server answered HTTP {status} with something that is not this protocol."
    return NotAnAnswer(what, remedy or CHECK_URL)


def stopped(event: object) -> ProviderError:
    """Make the error that an event of a stream reports, after the response began."""
    status, said = status_of(event), message_of(event)
    if overflow := overflow_in(status, event):
        return overflow
    what = told("The provider stopped", said)
    if status in (401, 403):
        return KeyRefused(what, _CHECK_KEY)
    return RequestRefused(what, _remedy(status, event, {}) or "Send again.")


def is_quota_spent(body: str) -> bool:
    """Whether an error is about money, so that sending again later does not help."""
    value = value_of(body)
    return bool(_SPENT_CODES & codes(value) or _SPENT.search(searchable(value)))


def _without_access(said: str) -> ProviderError | None:
    """Make the error of a 403 that is not about the key; None where it is."""
    if not said:
        return NotAnAnswer(_NO_ACCESS, _CHECK_WAY)
    if _BLOCKED.search(said):
        return RequestRefused(told("The provider blocked the message", said), SAY_OTHERWISE)
    return None


def _key_refused(status: int, body: str, key_help: str) -> KeyRefused:
    refused = "access" if status == 403 else "the key"
    what = told(f"The provider refused {refused} (HTTP {status})", message_of(parsed(body)))
    return KeyRefused(what, _SPENT_REMEDY if is_quota_spent(body) else key_help or _CHECK_KEY)


def _remedy(status: int | None, value: object, headers: Mapping[str, str]) -> str:
    """Say what to do; empty where neither the status nor the words tell."""
    text = searchable(value)
    if other := _OTHER_API.search(text):
        return _ANOTHER_API.format("OpenAI's Responses API" if other["api"] else "another API")
    if pull := _PULL.search(text):
        return f"Run `ollama pull {pull[1]}`, or choose another model."
    if _SPENT_CODES & codes(value) or _SPENT.search(text):
        return _SPENT_REMEDY
    if "model_not_found" in codes(value) or _NO_MODEL.search(text):
        return "Check provider.model: the server does not have a model of that name."
    seconds = headers.get("retry-after", "").strip()
    if status == 429 and seconds.isdecimal() and len(seconds) < 6:
        return f"It is asked too often. Send again in {int(seconds)} s."
    return _REMEDIES.get(status or 0, "")
