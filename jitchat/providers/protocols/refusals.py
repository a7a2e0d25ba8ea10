"""Where servers put the text and the codes of an error: every shape that is seen.

An error may be an object, a plain string, flat, wrapped in a list, a list of complaints, or a
text that holds another server's error.

No two servers say it alike; the texts were collected from each of them.

Between the app and the model there may be a proxy that speaks another dialect than the model.
"""

import re
from collections.abc import Iterator, Mapping

from jitchat.errors import ContextOverflow, KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.responses import at, count, first, parsed
from jitchat.text.sanitize import both_ends, shorten

_SHOWN = 300
"""Characters of a provider's own error text that are passed on."""
_REACH = 4_000
"""Characters that are searched at either end; templates of local models come as a whole."""
_CODES = ("code", "type", "status", "reason")
_STATUS_OF = {
    "authentication_error": 401,
    "UNAUTHENTICATED": 401,
    "billing_error": 402,
    "permission_error": 403,
    "PERMISSION_DENIED": 403,
    "not_found_error": 404,
    "NOT_FOUND": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "RESOURCE_EXHAUSTED": 429,
    "api_error": 500,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What Anthropic and Gemini call an error that comes after the response has begun."""


def message_of(body: object) -> str:
    """Find the text of an error, shortened to show it; empty if there is none."""
    return shorten(whole_message(body), _SHOWN)


def whole_message(body: object) -> str:
    """Find the text of an error with all of its lines; empty if there is none."""
    error = _error(body)
    return next((text for text in _texts(error) if text.strip()), "")


def value_of(body: object) -> object:
    """Parse a body; what is no JSON is its own text, for a proxy may pass on that alone."""
    value = parsed(body) if isinstance(body, str) else body
    return body if value is None else value


def searchable(value: object) -> str:
    """Make the text in which to look for what an error is about, its lines as they are."""
    return both_ends(whole_message(value), _REACH, "\n")


def codes(body: object) -> frozenset[str]:
    """Collect the names that an error has for itself: its code, type, status and reason."""
    error = _error(body)
    details = at(error, "details")
    objects = (first(body), error, *(details if isinstance(details, list) else ()))
    found = (at(each, name) for each in objects for name in _CODES)
    return frozenset(code for code in found if isinstance(code, str))


def status_of(body: object) -> int | None:
    """Tell which HTTP status an error within a stream would have had; None where none fits."""
    error = _error(body)
    for code in (at(error, "code"), at(error, "status"), at(first(body), "code")):
        number = int(code) if isinstance(code, str) and code in _NUMERIC else code
        if isinstance(number, int) and 400 <= number < 600:
            return number
    return next((_STATUS_OF[code] for code in sorted(codes(body)) if code in _STATUS_OF), None)


def told(what: str, said: str) -> str:
    """Make a sentence that ends with the provider's own words."""
    if not said:
        return f"{what}."
    return f"{what}: {said}" if said[-1] in ".!?…" else f"{what}: {said}."


def _error(body: object) -> object:
    body = first(body)
    return first(at(body, "error") or at(body, "errors") or body)


def _texts(error: object) -> Iterator[str]:
    """Yield what may be the text, best first."""
    message = at(error, "message")
    inner = at(error, "metadata", "raw")
    if isinstance(inner, str) and inner.strip():
        # OpenRouter says no more itself than that the provider returned an error
        yield whole_message(parsed(inner)) or inner
    for found in (message, at(message, "detail"), at(error, "detail"), at(error, "type"), error):
        if isinstance(found, str):
            yield found
        elif isinstance(found, list):
            yield "; ".join(filter(None, map(_complaint, found[:9])))


def _complaint(found: object) -> str:
    """Tell one of several complaints, with the path of what it is about."""
    said = at(found, "msg")
    place = at(found, "loc")
    if not isinstance(said, str):
        return ""
    path = place if isinstance(place, list) else ()
    return ": ".join(filter(None, (".".join(map(str, path[:9])), said)))


_NUMERIC = frozenset(map(str, range(400, 600)))


REMEDY = "Lower provider.limit, or switch the mode."
_SHORTER = "Lower max_tokens, or switch the mode."
"""Where the answer has a part in it."""
_N = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f]\d{3}){1,4}(?!\d)|\d{1,15}(?!\d))"
"""A number, perhaps with separators; not one that is longer than any count of tokens."""
_OVERFLOWS = re.compile(
    "|".join(
        (
            r"context_length_exceeded",
            r"ContextWindowExceededError",
            r"maximum (?:context|model|prompt) length",
            r"exceeds? (?:the|this)(?: model'?s)?(?: available)? context (?:size|window|length)",
            r"greater than the context length",
            r"longer than the (?:model'?s )?context length",
            r"loaded with context length of only \d",
            r"context size has been exceeded",
            r"exceeded model token limit",
            r"`max_new_tokens` must be <= \d",
            r"range of input length should be",
            r"exceeds? the model'?s (?:maximum )?context",
            r"prompt is too long",
            r"exceed context limit",
            r"exceeds the maximum number of tokens allowed",
            r"input token count is \d+ but model only supports",
            r"current length is \d[\d,]* while limit is",
            r"input tokens exceed the configured limit",
            r"maximum input length (?:is|of)\b",
            r"input is too long",
            r"input length exceeds",
            rf"request too large .{{0,200}}limit {_N}, requested {_N}",
        )
    ),
    re.IGNORECASE,
)
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"context length (?:is|of) only {_N}",
        rf"maximum (?:context|model|input|prompt) length (?:is|of) (?:only )?{_N}",
        rf"model with {_N} maximum context",
        rf"model token limit: {_N}",
        rf"must be <= {_N}",
        rf"input length should be \[\d+, ?{_N}\]",
        rf"context (?:size|window|length) \({_N}",
        rf"> {_N}",
        rf"tokens allowed \({_N}\)",
        rf"only supports (?:up to )?{_N}",
        rf"while limit is {_N}",
        rf"configured limit of {_N}",
        rf"limit {_N}, requested",
    )
)
_NEEDED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_N} tokens >",
        rf"(?:request|input) \({_N} tokens\)",
        rf"input token count \(?(?:is )?{_N}",
        rf"current length is {_N}",
        rf"a total of (?:at least )?{_N}",
        rf"requested (?:about )?{_N} tokens",
        rf"resulted in {_N}",
        rf"contains (?:at least )?{_N}",
        rf"keep the first {_N}",
        rf"requested:? {_N}",
        rf"length {_N}\) is longer",
    )
)
_BOTH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<window>{_N}) \+ (?P<answer>{_N}) >",
        rf"too large: (?P<answer>{_N})\..{{0,200}} your request has (?P<window>{_N}) input tokens",
        rf"passed (?P<window>{_N}) input tokens and requested (?P<answer>{_N})",
        rf"requested (?P<answer>{_N}) output tokens and .{{0,200}}?"
        rf" (?:at least )?(?P<window>{_N}) input",
        rf"\((?P<window>{_N}) (?:in the messages|of text input), .{{0,200}}?"
        rf"(?P<answer>{_N}) in the",
        rf"(?P<window>{_N}) `inputs` tokens and (?P<answer>{_N}) `max_new_tokens`",
    )
)
"""What the window takes, and what the answer was to have."""


def overflow_in(status: int | None, body: object) -> ContextOverflow | None:
    """Read an error's body, parsed or not, or its mere text; None where it is another error.

    `status` is the response's, None for an error within a stream.
    """
    value = value_of(body)
    text = searchable(value)
    named = codes(value)
    if "string_above_max_length" in named or "string_above_max_length" in text:
        return None
    known = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"} & named
    if not known and status != 413 and not _OVERFLOWS.search(text):
        return None
    error = at(first(value), "error")
    needed, limit = count(at(error, "n_prompt_tokens")), count(at(error, "n_ctx"))
    said = "" if text.lstrip().startswith("<") else message_of(value)
    both = next((match for pattern in _BOTH if (match := pattern.search(text))), None)
    answer = _read(both["answer"]) if both else None
    return ContextOverflow(
        told("The window is larger than the model takes", said),
        _SHORTER if answer else REMEDY,
        needed or (_read(both["window"]) if both else _number(_NEEDED, text)),
        limit or _number(_LIMITS, text),
        answer,
    )


def _number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    """Read what the first of the patterns that fits says; None where none does, or it is 0."""
    for pattern in patterns:
        if match := pattern.search(text):
            return _read(match[match.lastindex or 0])
    return None


def _read(number: str) -> int | None:
    return int(re.sub(r"\D", "", number)) or None


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
        what = f"The server redirects to {shorten(target, 200)}, which was not followed."
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
