"""Which tool calls may run: decided by the settings, by the user's grants, or by asking.

Deny takes precedence over ask, and ask over allow; the user is asked about a tool in no list. A
grant is bound to the tool's definition and to everything that starts its server: when any of it
changes, the user is asked again, and told what changed. With no user to ask, the call is declined.
A server's claims about its tools are shown, and decide nothing.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple, Protocol

from jitchat.errors import StoreError
from jitchat.providers.tools import DECLINED
from jitchat.text.json_values import parsed
from jitchat.text.sanitize import CHANGED
from jitchat.tools.source import BUILT_IN
from jitchat.values import Tool, ToolCall, ToolResult

BETWEEN = "__"
"""The separator between a server's name and a tool's."""
_LONGEST_CLAIM = 4_000
"""Maximum characters of a description in a question."""
_HIDDEN = CHANGED | {0x200C, 0x200D, 0xFE0E, 0xFE0F}
"""Also the joiners and emoji selectors, which a terminal does not show."""
_SEALED = re.compile("•[0-9a-f]{64}")
"""A hash by `Grants.seal`."""


class Answer(StrEnum):
    ONCE = "once"
    CONVERSATION = "this conversation"
    ALWAYS = "always"
    DECLINE = "decline"


_NOT_ALWAYS = (Answer.ONCE, Answer.CONVERSATION, Answer.DECLINE)


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    UNNAMED = "unnamed"
    """In no list; the user is asked."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Globs that match `server__tool`; a glob without `__` matches the server's name."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def verdict(self, server: str, names: Iterable[str]) -> Verdict:
        """Judge a tool by its names: all of them must be allowed; one is enough to deny."""
        known = tuple(names)
        if any(has_tool(self.deny, server, name) for name in known):
            return Verdict.DENY
        if any(has_tool(self.ask, server, name) for name in known):
            return Verdict.ASK
        if known and all(has_tool(self.allow, server, name) for name in known):
            return Verdict.ALLOW
        return Verdict.UNNAMED

    def with_rules_of(self, server: str, own: "Rules") -> "Rules":
        """Add the rules of one server, whose globs match the names of its tools."""
        allow, ask, deny = (
            tuple(f"{server}{BETWEEN}{glob}" for glob in globs)
            for globs in (own.allow, own.ask, own.deny)
        )
        return Rules(self.allow + allow, self.ask + ask, self.deny + deny)


def has_tool(globs: Iterable[str], server: str, name: str) -> bool:
    """Whether any glob, as in `Rules`, matches a server's tool."""
    whole = f"{server}{BETWEEN}{name}"
    return any(fnmatchcase(whole if BETWEEN in glob else server, glob) for glob in globs)


@dataclass(frozen=True, slots=True)
class Claims:
    """What a server says about one of its tools: unverified."""

    name: str
    """The server's own name for the tool."""
    annotations: tuple[str, ...] = ()
    """In words: `read only`, `destructive` …"""
    launch: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """(name, text) of everything that starts or reaches the server, as written."""


class Claimant(Protocol):
    def claims_of(self, source: str, tool: str) -> Claims | None:
        """Look up a source's claims about a tool, by the name under which the tool is offered."""


class Grants(Protocol):
    def definition(self, server: str, tool: str) -> str | None: ...

    def put(self, server: str, tool: str, definition: str) -> None: ...

    def seal(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Question:
    """The question put to the user before a call runs.

    The texts of `details` are foreign: safe to show if a mark is put before each of their rows.
    """

    server: str
    """Its name in the settings."""
    tool: str
    """The name under which the tool is offered: letters, digits, - and _."""
    details: tuple[tuple[str, str], ...]
    """(heading, foreign text), with all arguments; what has no text is not shown."""
    call: ToolCall
    choices: tuple[Answer, ...] = tuple(Answer)
    """The possible answers; without `always` if the settings say to ask."""
    has_changed: bool = False
    """Whether the user always allowed the tool, with another definition."""


class Approver(Protocol):
    async def approve(self, question: Question) -> Answer:
        """Ask the user. Cancelling it withdraws the question."""


class Headless:
    """Declines every call that is not allowed: for runs without a user to ask."""

    async def approve(self, question: Question) -> Answer:  # noqa: ARG002  as the port has it
        return Answer.DECLINE


class NoGrants:
    """Stores no grant permanently."""

    def definition(self, server: str, tool: str) -> None:
        """There is none."""

    def put(self, server: str, tool: str, definition: str) -> None:
        pass

    def seal(self, text: str) -> str:
        return text


_HEADLESS = (
    f"{DECLINED}: nobody is here to be asked, and the settings do not allow this tool. It was not"
    " run. Do not call it again; go on without it, and say that it would be needed."
)
_DECLINED = (
    f"{DECLINED} by the user: the call was not run. Do not call it again, nor do the same in"
    " another way; go on without it, or ask the user what to do instead."
)
_DENIED = (
    f"{DECLINED}: the settings deny this tool. The call was not run. Do not call it again; go on"
    " without it."
)


class _Grant(NamedTuple):
    server: str
    tool: str
    definition: str


class Approvals:
    """Decides about the calls of one conversation. One question is asked at a time."""

    def __init__(
        self,
        rules: Rules,
        claimant: Claimant,
        approver: Approver | None = None,
        grants: Grants | None = None,
    ) -> None:
        self._rules, self._claimant = rules, claimant
        self._approver = approver or Headless()
        self._grants = grants or NoGrants()
        self._here: set[_Grant] = set()
        """The grants for this conversation."""
        self._asking = asyncio.Lock()

    async def refusal(self, source: str, tool: Tool, call: ToolCall) -> ToolResult | None:
        """Ask if needed; return the result of a call that must not run, None if it may run.

        Cancelling it withdraws the question.
        """
        if source == BUILT_IN:
            return None
        claims = self._claimant.claims_of(source, tool.name) or Claims(tool.name)
        verdict = self._rules.verdict(source, names_of(source, tool, claims))
        if verdict is Verdict.DENY:
            return ToolResult(call, _DENIED, is_error=True)
        if verdict is Verdict.ALLOW:
            return None
        async with self._asking:
            grant, granted = await asyncio.to_thread(self._look_up, source, tool, claims)
            is_granted = verdict is Verdict.UNNAMED and granted == grant.definition
            if is_granted or grant in self._here:
                return None
            changes = changes_between(granted or grant.definition, grant.definition)
            question = question_of(source, tool, claims, call, changes)
            if verdict is Verdict.ASK:
                question = replace(question, choices=_NOT_ALWAYS)
            return await self._asked(question, grant)

    def _look_up(self, source: str, tool: Tool, claims: Claims) -> tuple["_Grant", str | None]:
        """Return the grant that a call needs, and the definition that was granted, if any."""
        with suppress(StoreError, OSError):
            definition = definition_of(tool, claims, self._grants.seal)
            granted = self._grants.definition(source, claims.name)
            return _Grant(source, claims.name, definition), granted
        definition = definition_of(tool, claims, NoGrants().seal)  # the lookup failed: ask the user
        return _Grant(source, claims.name, definition), None

    async def _asked(self, question: Question, grant: "_Grant") -> ToolResult | None:
        answer = await self._approver.approve(question)
        if answer not in question.choices or answer is Answer.DECLINE:
            why = _HEADLESS if isinstance(self._approver, Headless) else _DECLINED
            return ToolResult(question.call, why, is_error=True)
        if answer is not Answer.ONCE:
            self._here.add(grant)
        if answer is Answer.ALWAYS:
            with suppress(StoreError):  # not stored: the grant holds for this conversation only
                await asyncio.to_thread(self._grants.put, *grant)
        return None


def names_of(source: str, tool: Tool, claims: Claims) -> tuple[str, ...]:
    """List a tool's names: its name at the server, and the name under which it is offered.

    They differ if protocols do not accept the server's name.
    """
    return tuple(dict.fromkeys((claims.name, tool.name.removeprefix(f"{source}{BETWEEN}"))))


def definition_of(tool: Tool, claims: Claims, seal: Callable[[str], str]) -> str:
    """Write what a grant is bound to, a line each; further lines of a text are indented.

    `seal` is applied to what may hold a secret: all that the server is started with.
    """
    launch = [
        (name, text if name in ("command", "cwd") else seal(text))
        for name, text in claims.launch
        if text
    ]
    launch.append(("claims", ", ".join(claims.annotations)))
    own = (("description", tool.description), ("parameters", _indented(tool.schema)))
    return "\n".join(f"{name}: {text}".replace("\n", "\n  ") for name, text in (*launch, *own))


def question_of(
    source: str, tool: Tool, claims: Claims, call: ToolCall, changes: str = ""
) -> Question:
    offered = tool.name.removeprefix(f"{source}{BETWEEN}")
    details = (
        (f"Name at {source}:", visible(claims.name) if claims.name != offered else ""),
        ("Arguments:", visible(_indented(call.arguments))),
        _cut("Changed since you always allowed it (- before, + now)", changes),
        (f"Claims by {source} (unverified):", visible(", ".join(claims.annotations))),
        _cut(f"Description by {source} (unverified)", tool.description or "none"),
    )
    return Question(source, offered, details, call, has_changed=bool(changes))


def _cut(heading: str, text: str) -> tuple[str, str]:
    """Cut a long foreign text, and say so in its heading."""
    if len(text) <= _LONGEST_CLAIM:
        return f"{heading}:", text.strip()
    of_all = f"the first {_LONGEST_CLAIM:,} of {len(text):,} characters"
    return f"{heading}, {of_all}:", text[:_LONGEST_CLAIM].strip()


def changes_between(before: str, after: str) -> str:
    """Return the lines that differ, with - or + before each; what is sealed is not shown."""
    lines = unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    changed = [line for line in islice(lines, 2, None) if not line.startswith("@@")]
    return _SEALED.sub("•••", "\n".join(changed))


def _indented(json_text: str) -> str:
    value = parsed(json_text)
    return json_text if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def visible(text: str) -> str:
    """Escape the characters that a terminal would obey, reorder or hide."""
    return "".join(
        f"\\u{ord(character):04x}" if ord(character) in _HIDDEN else character for character in text
    )
