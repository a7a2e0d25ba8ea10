"""Reading the errors of servers: their text and codes, in every known form.

An error may be an object, a plain string, flat, wrapped in a list, a list of complaints, or a
text that contains another server's error. A proxy may use another format than the model's server.

The wordings of servers are in `refusals.toml`, which is read at the first error.

An error may be about a part of the request that can be omitted: only a part that was sent can be
refused, and essential parts are never omitted.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jitchat.errors import ContextOverflow, KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.provider import UNREASONED
from jitchat.text.json_values import at, count, first, list_of, parsed
from jitchat.text.sanitize import both_ends, shorten

_SHOWN = 300
"""Maximum characters of a provider's error text that are shown."""
_SEARCHED = 4_000
"""Characters searched at each end of an error; it may quote a whole template of a local model."""
_CODES = ("code", "type", "status", "reason")
_NUMBER = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f]\d{3}){1,4}(?!\d)|\d{1,15}(?!\d))"
"""A number, possibly with separators, no longer than a token count can be."""


@cache
def wordings() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("refusals.toml").read_text("utf-8"))


def _patterns(name: str) -> Sequence[str]:
    return [text.replace("{number}", _NUMBER) for text in wordings()[name]]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Join the wordings of that name into one pattern."""
    return re.compile("|".join(_patterns(name)), re.IGNORECASE)


def message_of(body: object) -> str:
    """Return the text of an error, shortened for display; empty if there is none."""
    return shorten(whole_message(body), _SHOWN)


def whole_message(body: object) -> str:
    """Return the full text of an error; empty if there is none."""
    error = _error(body)
    return next((text for text in _texts(error) if text.strip()), "")


def value_of(body: object) -> object:
    """Parse a body; return the text itself if it is not JSON, as a proxy may send."""
    value = parsed(body) if isinstance(body, str) else body
    return body if value is None else value


def searchable(value: object) -> str:
    """Return the start and end of an error's text, for matching against the wordings."""
    return both_ends(whole_message(value), _SEARCHED, "\n")


def codes(body: object) -> frozenset[str]:
    """Collect an error's code, type, status and reason."""
    error = _error(body)
    objects = (first(body), error, *list_of(at(error, "details")))
    names = (at(holder, name) for holder in objects for name in _CODES)
    return frozenset(code for code in names if isinstance(code, str))


def status_of(body: object) -> int | None:
    """Return the HTTP status that corresponds to an error within a stream; None if unknown."""
    error = _error(body)
    for code in (at(error, "code"), at(error, "status"), at(first(body), "code")):
        is_number = isinstance(code, str) and re.fullmatch("[45][0-9]{2}", code)
        number = int(str(code)) if is_number else code
        if isinstance(number, int) and 400 <= number < 600:
            return number
    known = wordings()["status"]
    return next((known[code] for code in sorted(codes(body)) if code in known), None)


def with_words(what: str, words: str) -> str:
    """Return a sentence that ends with the provider's own words."""
    if not words:
        return f"{what}."
    return f"{what}: {words}" if words[-1] in ".!?…" else f"{what}: {words}."


def _error(body: object) -> object:
    body = first(body)
    return first(at(body, "error") or at(body, "errors") or body)


def _texts(error: object) -> Iterator[str]:
    message = at(error, "message")
    inner = at(error, "metadata", "raw")
    if isinstance(inner, str) and inner.strip():
        # OpenRouter's own message is only that the provider returned an error
        yield whole_message(parsed(inner)) or inner
    for text in (message, at(message, "detail"), at(error, "detail"), at(error, "type"), error):
        if isinstance(text, str):
            yield text
        elif isinstance(text, list):
            yield "; ".join(filter(None, map(_complaint, text[:9])))


def _complaint(complaint: object) -> str:
    """Return one of several complaints, with the path that it is about."""
    words = at(complaint, "msg")
    if not isinstance(words, str):
        return ""
    path = ".".join(map(str, list_of(at(complaint, "loc"))[:9]))
    return ": ".join(filter(None, (path, words)))


REMEDY = "Lower provider.limit, or switch the mode."
_SHORTER = "Lower max_tokens, or switch the mode."
"""The remedy if the answer's length contributes."""


def overflow_in(status: int | None, body: object) -> ContextOverflow | None:
    """Recognise a context overflow in an error's body, parsed or as text; None if it is not one.

    `status` is that of the response; None for an error within a stream.
    """
    value = value_of(body)
    text = searchable(value)
    named = codes(value)
    if "string_above_max_length" in named or "string_above_max_length" in text:
        return None
    known = named.intersection(wordings()["overflow_codes"])
    if not known and status != 413 and not pattern("overflow").search(text):
        return None
    error = at(first(value), "error")
    needed, limit = count(at(error, "n_prompt_tokens")), count(at(error, "n_ctx"))
    words = "" if text.lstrip().startswith("<") else message_of(value)
    both = _first_match("window_and_answer", text)
    answer = _read(both["answer"]) if both else None
    return ContextOverflow(
        with_words("The window is larger than the model's context", words),
        _SHORTER if answer else REMEDY,
        needed or (_read(both["window"]) if both else _number("needed", text)),
        limit or _number("limit", text),
        answer,
    )


def _first_match(name: str, text: str) -> re.Match[str] | None:
    matches = (re.search(wording, text, re.IGNORECASE) for wording in _patterns(name))
    return next(filter(None, matches), None)


def _number(name: str, text: str) -> int | None:
    """Return the number in the first matching pattern; None if none matches, or it is 0."""
    match = _first_match(name, text)
    return _read(match[match.lastindex or 0]) if match else None


def _read(number: str) -> int | None:
    return int(re.sub(r"\D", "", number)) or None


CHECK_URL = (
    "Check provider.base_url (it usually ends in /v1), and that no login page intercepts requests."
)
REPHRASE = "Rephrase the message, or choose another model."
_CHECK_KEY = "Check the provider's key."
_PULL = re.compile(r"model ['\"]([\w./:@-]{1,200})['\"] not found, try pulling it first")
_SPENT_REMEDY = "Add credit to the account, raise its limit, or choose another model."
"""Only the remedy: the provider's own text says that the credit is used up."""
_ANOTHER_API = (
    "This model is available only on an API that jitchat does not support. Choose another model"
    " (`jitchat models`, /model)."
)
_RESPONSES = (
    "This model supports such a request only on the Responses API. Set protocol ="
    ' "responses" in this provider\'s table of the configuration, or choose another model.'
)
_NO_ACCESS = "Access was refused (HTTP 403), and the response is not in the provider's protocol."
_CHECK_NETWORK = (
    "A firewall or a proxy may have answered instead of the provider, or the address is blocked."
    " Check provider.base_url, and try from another network."
)
_LATER = "Send again later."
_REMEDIES = {
    402: _SPENT_REMEDY,
    404: "Check provider.model and provider.base_url (it usually ends in /v1).",
    408: "Send again.",
    409: "Send again.",
    429: "Too many requests. Wait, then send again.",
} | dict.fromkeys((500, 502, 503, 504, 529), _LATER)


def refusal(
    status: int, body: str, key_help: str = "", headers: Mapping[str, str] | None = None
) -> ProviderError:
    """Return the error for a status and body, with the provider's own words if there are any.

    `key_help` is the remedy for a refused key; `headers` are those of the response, with lower-case
    names. Redirects are not followed, because they could send the key to another server.
    """
    headers = headers or {}
    if 300 <= status < 400 and (target := headers.get("location")):
        what = f"The server redirects to {shorten(target, 200)}, which was not followed."
        return NotAnAnswer(what, "If that address is right, set provider.base_url to it.")
    if overflow := overflow_in(status, body):
        return overflow
    value = parsed(body)
    words = message_of(value)
    if status == 403 and (no_access := _without_access(words)):
        return no_access
    if status in (401, 403) or (status == 400 and pattern("key").search(words)):
        refused = "access" if status == 403 else "the key"
        what = with_words(f"The provider refused {refused} (HTTP {status})", words)
        return KeyRefused(what, _SPENT_REMEDY if is_quota_spent(body) else key_help or _CHECK_KEY)
    remedy = _remedy(status, value, headers)
    if words:
        what = with_words(f"The provider refused the request (HTTP {status})", words)
        return RequestRefused(what, remedy or "Check provider.model and provider.base_url.")
    what = f"The server answered HTTP {status}, but not in the provider's protocol."
    return NotAnAnswer(what, remedy or CHECK_URL)


def stopped(event: object) -> ProviderError:
    """Return the error that an event of a stream reports."""
    status, words = status_of(event), message_of(event)
    if overflow := overflow_in(status, event):
        return overflow
    what = with_words("The provider stopped", words)
    if status in (401, 403):
        return KeyRefused(what, _CHECK_KEY)
    return RequestRefused(what, _remedy(status, event, {}) or "Send again.")


def is_quota_spent(body: object) -> bool:
    """Whether an error is about credit, so that retrying does not help."""
    value = value_of(body)
    named = codes(value).intersection(wordings()["spent_codes"])
    return bool(named or pattern("spent").search(searchable(value)))


def _without_access(words: str) -> ProviderError | None:
    """Return the error for a 403 that is not about the key; None if it is."""
    if not words:
        return NotAnAnswer(_NO_ACCESS, _CHECK_NETWORK)
    if pattern("blocked").search(words):
        return RequestRefused(with_words("The provider blocked the message", words), REPHRASE)
    return None


def _remedy(status: int | None, value: object, headers: Mapping[str, str]) -> str:
    """Return what to do; empty if neither the status nor the text shows it."""
    text = searchable(value)
    if other := pattern("other_api").search(text):
        return _RESPONSES if other["api"] else _ANOTHER_API
    if pull := _PULL.search(text):
        return f"Run `ollama pull {pull[1]}`, or choose another model."
    if is_quota_spent(value):
        return _SPENT_REMEDY
    if "model_not_found" in codes(value) or pattern("no_model").search(text):
        return "Check provider.model: the server has no model of that name."
    seconds = headers.get("retry-after", "").strip()
    if status == 429 and seconds.isdecimal() and len(seconds) < 6:
        return f"Too many requests. Send again in {int(seconds)} s."
    return _REMEDIES.get(status or 0, "")


_STATUSES = frozenset({400, 422, 500})
"""Statuses of errors that may be about a parameter; templates of local models fail with 500."""


_SIGNED = re.compile('"(?:signature|thoughtSignature|encrypted_content)": "[^"]')


def sent_in(body: str) -> frozenset[str]:
    """Return the names of a request's parts that can be omitted, nested ones included.

    `system` is included if the request has a message of that role, `tools` if it offers any (but
    not the fields of tools and calls), `echo` if it sends back signed or encrypted reasoning, and
    `UNREASONED` if an answer has no reasoning.
    """
    request = parsed(body)
    names = frozenset(_keys(request)).difference(wordings()["essential"])
    turns = list_of(at(request, "messages")) + list_of(at(request, "input"))
    roles = [at(turn, "role") for turn in turns]
    separate = at(request, "system") or at(request, "systemInstruction")
    names |= {"tools"} if at(request, "tools") else frozenset()
    names |= {"echo"} if _SIGNED.search(body) else frozenset()
    names |= {UNREASONED} if any(map(_is_unreasoned, turns)) else frozenset()
    return names | {"system"} if separate or "system" in roles or "developer" in roles else names


def _is_unreasoned(turn: object) -> bool:
    is_answer = at(turn, "role") == "assistant" and not isinstance(at(turn, "content"), list)
    return is_answer and not at(turn, "reasoning_content")


def refused_parameter(status: int, body: str, sent: Collection[str]) -> str | None:
    """Return the part among `sent` that the error refuses; None if it is about something else."""
    value = value_of(body)
    text = searchable(value)
    if part := _refused_part(status, value, text, sent):
        return part
    is_other = status >= 500 or pattern("is_missing").search(text)
    is_other = is_other or pattern("other_api").search(text)
    if is_other or status not in _STATUSES or overflow_in(status, body):
        return None
    essential = wordings()["essential"]
    wanted = {_plain(name): name for name in sent if name not in essential}
    for place in _places(value, text):
        names = [wanted[_plain(step)] for step in place if _plain(step) in wanted]
        if names:
            return names[-1]
    return _named(text, wanted.values()) if pattern("refuses").search(text) else None


def _refused_part(status: int, value: object, text: str, sent: Collection[str]) -> str | None:
    """Return a refused part that is not a parameter: tools, echo, reasoning or system message."""
    if "tools" in sent and status != 429 and _refuses_tools(value, text):
        return "tools"
    if status not in _STATUSES or overflow_in(status, value):
        return None
    if "echo" in sent and pattern("bad_echo").search(f"{text} {' '.join(codes(value))}"):
        return "echo"
    if UNREASONED in sent and pattern("is_missing").search(text):
        return UNREASONED
    return "system" if "system" in sent and pattern("no_system").search(text) else None


def _refuses_tools(value: object, text: str) -> bool:
    """Whether the model does not support tools at all, rather than one that is invalid."""
    if pattern("no_tools").search(text):
        return True
    ends = (place[-1:] for place in _places(value, text))
    return ["tools"] in ends and bool(pattern("no_such_part").search(text))


def _places(value: object, text: str) -> Iterator[list[str]]:
    """Yield the paths that an error states explicitly, each as a list of names."""
    error = at(first(value), "error") or first(value)
    named = at(error, "param")
    if isinstance(named, str):
        yield re.split(r"[.\[\]]+", named)
    for holder in (error, at(error, "message"), first(value)):
        for complaint in list_of(at(holder, "detail")):
            if isinstance(place := at(complaint, "loc"), list):
                yield [step for step in place if isinstance(step, str)]
    if path := re.match(r"\s*([\w.]{1,200}): ", text):
        yield path[1].split(".")


def _named(text: str, names: Collection[str]) -> str | None:
    """Return the name mentioned first: quoted, alone on a line, or next to a word like "field"."""
    mentions = [
        (match.start(), name)
        for name in names
        for written in (name, *wordings()["aliases"].get(name, ()))
        if (match := _mention(written).search(text))
    ]
    return min(mentions)[1] if mentions else None


def _mention(name: str) -> re.Pattern[str]:
    """Return the pattern of a name in any spelling: top_p, topP, "top p"."""
    words = re.findall(r"[A-Z]?[^A-Z_]+|[A-Z]+", name)
    written = r"[\s_-]?".join(map(re.escape, words))
    word = rf"(?<![\w-]){written}(?![\w-])"
    ahead, behind = ("|".join(wordings()[place]) for place in ("ahead", "behind"))
    mention = (
        rf"['\"`]{written}['\"`]|^{written}$|(?:{ahead})\s+{word}|{word}\s*(?:(?:{behind})\b|:)"
    )
    return re.compile(mention, re.IGNORECASE | re.MULTILINE)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


_OF_TOOLS = frozenset(
    {"tools", "tool_calls", "functionCall", "functionResponse", "function", "input", "arguments"}
)
"""Parts whose keys are chosen by a tool's author or a model."""


def _keys(value: object, depth: int = 6) -> Iterator[str]:
    if isinstance(value, dict) and depth:
        for name, inner in value.items():
            yield name
            if name not in _OF_TOOLS:
                yield from _keys(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _keys(inner, depth - 1)
