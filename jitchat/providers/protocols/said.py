"""Where servers put the text and the codes of an error: every shape that is seen.

An error may be an object, a plain string, flat, wrapped in a list, a list of complaints, or a
text that holds another server's error.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.providers.protocols.values import at, first, parsed
from jitchat.text.safe import both_ends, shortened

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
    return shortened(whole_message(body), _SHOWN)


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
