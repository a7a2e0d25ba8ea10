"""Which part of our request an error is about, so that it can be left out.

Only what was sent can be refused, and nothing is left out without which there is no request.
"""

import re
from collections.abc import Collection, Iterator

from jitchat.providers.protocols import refusals
from jitchat.providers.protocols.json_values import at, first, list_of, parsed

_STATUSES = frozenset({400, 422, 500})
"""Of an error that may be about a parameter; templates of local models fail with 500."""


def sent_in(body: str) -> frozenset[str]:
    """List the names of a request's parts that can be left out, those within others, too.

    `system` is among them where the request has a message of that role.
    """
    request = parsed(body)
    names = frozenset(_keys(request)).difference(refusals.wordings()["essential"])
    roles = [at(turn, "role") for turn in list_of(at(request, "messages"))]
    has_system = (
        any(role in ("system", "developer") for role in roles)
        or at(request, "system")
        or at(request, "systemInstruction")
    )
    return names | {"system"} if has_system else names


def refused_parameter(status: int, body: str, sent: Collection[str]) -> str | None:
    """Name the one of `sent` that the error refuses; None where it is about something else."""
    if status not in _STATUSES or refusals.overflow_in(status, body):
        return None
    value = refusals.value_of(body)
    text = refusals.searchable(value)
    if "system" in sent and refusals.pattern("no_system").search(text):
        return "system"
    if status >= 500:
        return None
    essential = refusals.wordings()["essential"]
    wanted = {_plain(name): name for name in sent if name not in essential}
    for place in _places(value, text):
        names = [wanted[_plain(step)] for step in place if _plain(step) in wanted]
        if names:
            return names[-1]
    return _named(text, wanted.values()) if refusals.pattern("refuses").search(text) else None


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
        for written in (name, *refusals.wordings()["aliases"].get(name, ()))
        if (match := _mention(written).search(text))
    ]
    return min(mentions)[1] if mentions else None


def _mention(name: str) -> re.Pattern[str]:
    """Make the pattern of a name, however its words are joined: top_p, topP, "top p"."""
    words = re.findall(r"[A-Z]?[^A-Z_]+|[A-Z]+", name)
    written = r"[\s_-]?".join(map(re.escape, words))
    word = rf"(?<![\w-]){written}(?![\w-])"
    ahead, behind = ("|".join(refusals.wordings()[place]) for place in ("ahead", "behind"))
    mention = (
        rf"['\"`]{written}['\"`]|^{written}$|(?:{ahead})\s+{word}|{word}\s*(?:(?:{behind})\b|:)"
    )
    return re.compile(mention, re.IGNORECASE | re.MULTILINE)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _keys(value: object, depth: int = 6) -> Iterator[str]:
    if isinstance(value, dict) and depth:
        for name, inner in value.items():
            yield name
            yield from _keys(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _keys(inner, depth - 1)
