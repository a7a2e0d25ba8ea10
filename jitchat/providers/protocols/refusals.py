"""Where servers put the text and the codes of an error: every shape that is seen.

An error may be an object, a plain string, flat, wrapped in a list, a list of complaints, or a
text that holds another server's error.

What servers write is in `refusals.toml`; it is read when the first error comes.

Between the app and the model there may be a proxy that speaks another dialect than the model.

An error may be about a part of our request, so that it can be left out: only what was sent can be
refused, and nothing is left out without which there is no request.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jitchat.errors import ContextOverflow, KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.json_values import at, count, first, list_of, parsed
from jitchat.providers.provider import UNREASONED
from jitchat.text.sanitize import both_ends, shorten

_SHOWN = 300
"""Characters of a provider's own error text that are passed on."""
_REACH = 4_000
"""Characters that are searched at either end; templates of local models come as a whole."""
_CODES = ("code", "type", "status", "reason")
_NUMBER = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f]\d{3}){1,4}(?!\d)|\d{1,15}(?!\d))"
"""A number, perhaps with separators; not one that is longer than any count of tokens."""


@cache
def wordings() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("refusals.toml").read_text("utf-8"))


def _patterns(name: str) -> Sequence[str]:
    return [text.replace("{number}", _NUMBER) for text in wordings()[name]]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Join the wordings of that name to one pattern."""
    return re.compile("|".join(_patterns(name)), re.IGNORECASE)


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
    objects = (first(body), error, *list_of(at(error, "details")))
    names = (at(holder, name) for holder in objects for name in _CODES)
    return frozenset(code for code in names if isinstance(code, str))


def status_of(body: object) -> int | None:
    """Tell which HTTP status an error within a stream would have had; None where none fits."""
    error = _error(body)
    for code in (at(error, "code"), at(error, "status"), at(first(body), "code")):
        is_number = isinstance(code, str) and re.fullmatch("[45][0-9]{2}", code)
        number = int(str(code)) if is_number else code
        if isinstance(number, int) and 400 <= number < 600:
            return number
    known = wordings()["status"]
    return next((known[code] for code in sorted(codes(body)) if code in known), None)


def with_words(what: str, words: str) -> str:
    """Make a sentence that ends with the provider's own words."""
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
        # OpenRouter says no more itself than that the provider returned an error
        yield whole_message(parsed(inner)) or inner
    for text in (message, at(message, "detail"), at(error, "detail"), at(error, "type"), error):
        if isinstance(text, str):
            yield text
        elif isinstance(text, list):
            yield "; ".join(filter(None, map(_complaint, text[:9])))


def _complaint(complaint: object) -> str:
    """Tell one of several complaints, with the path of what it is about."""
    words = at(complaint, "msg")
    if not isinstance(words, str):
        return ""
    path = ".".join(map(str, list_of(at(complaint, "loc"))[:9]))
    return ": ".join(filter(None, (path, words)))


REMEDY = "Lower provider.limit, or switch the mode."
_SHORTER = "Lower max_tokens, or switch the mode."
"""Where the answer has a part in it."""


def overflow_in(status: int | None, body: object) -> ContextOverflow | None:
    """Read an error's body, parsed or not, or its mere text; None where it is another error.

    `status` is the response's, None for an error within a stream.
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
        with_words("The window is larger than the model takes", words),
        _SHORTER if answer else REMEDY,
        needed or (_read(both["window"]) if both else _number("needed", text)),
        limit or _number("limit", text),
        answer,
    )


def _first_match(name: str, text: str) -> re.Match[str] | None:
    matches = (re.search(wording, text, re.IGNORECASE) for wording in _patterns(name))
    return next(filter(None, matches), None)


def _number(name: str, text: str) -> int | None:
    """Read what the first of the patterns that fits says; None where none does, or it is 0."""
    match = _first_match(name, text)
    return _read(match[match.lastindex or 0]) if match else None


def _read(number: str) -> int | None:
    return int(re.sub(r"\D", "", number)) or None


CHECK_URL = "Check provider.base_url (it usually ends in /v1), and that no login page is between."
SAY_OTHERWISE = "Say it in other words, or choose another model."
_CHECK_KEY = "Check the provider's key."
_PULL = re.compile(r"model ['\"]([\w./:@-]{1,200})['\"] not found, try pulling it first")
_SPENT_REMEDY = "Add credit to the account, or raise its limit; or choose another model."
"""What to do, and no more: that the money is spent, the provider's own words say."""
_ANOTHER_API = (
    "This model answers only on another API, which jitchat does not speak: choose another model"
    " (`jitchat models`, /model)."
)
_RESPONSES = (
    "This model answers such a request only on the Responses API: set protocol ="
    ' "responses" in this provider\'s table of the configuration, or choose another model.'
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
    what = f"The server answered HTTP {status} with something that is not this protocol."
    return NotAnAnswer(what, remedy or CHECK_URL)


def stopped(event: object) -> ProviderError:
    """Make the error that an event of a stream reports, after the response began."""
    status, words = status_of(event), message_of(event)
    if overflow := overflow_in(status, event):
        return overflow
    what = with_words("The provider stopped", words)
    if status in (401, 403):
        return KeyRefused(what, _CHECK_KEY)
    return RequestRefused(what, _remedy(status, event, {}) or "Send again.")


def is_quota_spent(body: object) -> bool:
    """Whether an error is about money, so that sending again later does not help."""
    value = value_of(body)
    named = codes(value).intersection(wordings()["spent_codes"])
    return bool(named or pattern("spent").search(searchable(value)))


def _without_access(words: str) -> ProviderError | None:
    """Make the error of a 403 that is not about the key; None where it is."""
    if not words:
        return NotAnAnswer(_NO_ACCESS, _CHECK_WAY)
    if pattern("blocked").search(words):
        return RequestRefused(with_words("The provider blocked the message", words), SAY_OTHERWISE)
    return None


def _remedy(status: int | None, value: object, headers: Mapping[str, str]) -> str:
    """Say what to do; empty where neither the status nor the words tell."""
    text = searchable(value)
    if other := pattern("other_api").search(text):
        return _RESPONSES if other["api"] else _ANOTHER_API
    if pull := _PULL.search(text):
        return f"Run `ollama pull {pull[1]}`, or choose another model."
    if is_quota_spent(value):
        return _SPENT_REMEDY
    if "model_not_found" in codes(value) or pattern("no_model").search(text):
        return "Check provider.model: the server does not have a model of that name."
    seconds = headers.get("retry-after", "").strip()
    if status == 429 and seconds.isdecimal() and len(seconds) < 6:
        return f"It is asked too often. Send again in {int(seconds)} s."
    return _REMEDIES.get(status or 0, "")


_STATUSES = frozenset({400, 422, 500})
"""Of an error that may be about a parameter; templates of local models fail with 500."""


_SIGNED = re.compile('"(?:signature|thoughtSignature|encrypted_content)": "[^"]')


def sent_in(body: str) -> frozenset[str]:
    """List the names of a request's parts that can be left out, those within others, too.

    `system` is among them where the request has a message of that role, and `tools` where it
    offers any; what tools and calls are made of is not. `echo` is where reasoning is handed back
    that the server signed or encrypted, `UNREASONED` where an answer has none.
    """
    request = parsed(body)
    names = frozenset(_keys(request)).difference(wordings()["essential"])
    turns = list_of(at(request, "messages")) + list_of(at(request, "input"))
    roles = [at(turn, "role") for turn in turns]
    apart = at(request, "system") or at(request, "systemInstruction")
    names |= {"tools"} if at(request, "tools") else frozenset()
    names |= {"echo"} if _SIGNED.search(body) else frozenset()
    names |= {UNREASONED} if any(map(_is_unreasoned, turns)) else frozenset()
    return names | {"system"} if apart or "system" in roles or "developer" in roles else names


def _is_unreasoned(turn: object) -> bool:
    is_answer = at(turn, "role") == "assistant" and not isinstance(at(turn, "content"), list)
    return is_answer and not at(turn, "reasoning_content")


def refused_parameter(status: int, body: str, sent: Collection[str]) -> str | None:
    """Name the one of `sent` that the error refuses; None where it is about something else."""
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
    """Name what is refused of parts that are no parameters: tools, echoes, messages."""
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
    """Whether the model takes no tools at all; one of them may be wrong, which is another thing."""
    if pattern("no_tools").search(text):
        return True
    ends = (place[-1:] for place in _places(value, text))
    return ["tools"] in ends and bool(pattern("no_such_part").search(text))


def _places(value: object, text: str) -> Iterator[list[str]]:
    """Yield the paths that an error gives outright, each as its steps."""
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
    """Find the first name in a text: quoted, alone on a line, or beside a telling word."""
    mentions = [
        (match.start(), name)
        for name in names
        for written in (name, *wordings()["aliases"].get(name, ()))
        if (match := _mention(written).search(text))
    ]
    return min(mentions)[1] if mentions else None


def _mention(name: str) -> re.Pattern[str]:
    """Make the pattern of a name, however its words are joined: top_p, topP, "top p"."""
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
"""Under these stand names that a tool's author or a model chose."""


def _keys(value: object, depth: int = 6) -> Iterator[str]:
    if isinstance(value, dict) and depth:
        for name, inner in value.items():
            yield name
            if name not in _OF_TOOLS:
                yield from _keys(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _keys(inner, depth - 1)
