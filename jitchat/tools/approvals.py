"""Which tool calls may run: decided by the settings, by the user's grants, or by asking.

Deny takes precedence over ask, and ask over allow; the user is asked about a tool in no list. A
grant is bound to the tool's description: when that changes, the user is asked again. With no user
to ask, the call is declined. A server's claims about its tools are shown, and decide nothing.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Protocol

from jitchat.errors import StoreError
from jitchat.providers.tools import DECLINED, arguments_of
from jitchat.text.sanitize import CHANGED, one_line
from jitchat.tools.source import BUILT_IN
from jitchat.values import Tool, ToolCall, ToolResult

BETWEEN = "__"
"""The separator between a server's name and a tool's."""
_LONGEST_CLAIM = 4_000
"""Maximum characters of a description in a question."""


class Answer(StrEnum):
    ONCE = "once"
    CONVERSATION = "this conversation"
    ALWAYS = "always"
    DECLINE = "decline"


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
    launch: str = field(default="", repr=False)
    """A digest of how the server is started or reached; the grant is bound to it too."""


class Claimant(Protocol):
    def claims_of(self, source: str, tool: str) -> Claims | None:
        """Look up a source's claims about a tool, by the name under which the tool is offered."""


class Grants(Protocol):
    def has(self, server: str, tool: str, digest: str) -> bool: ...

    def put(self, server: str, tool: str, digest: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Question:
    """The question put to the user before a call runs; all its texts are safe to show."""

    server: str
    tool: str
    """The server's own name for the tool."""
    arguments: str
    """All of them: indented JSON with invisible characters written as escapes."""
    description: str
    """The server's description, with a bar before each line."""
    annotations: str
    """The server's claims about what the tool does, as a sentence; empty if it makes none."""
    call: ToolCall
    choices: tuple[Answer, ...] = tuple(Answer)
    """The possible answers; without `always` if the settings say to ask."""


class Approver(Protocol):
    async def approve(self, question: Question) -> Answer:
        """Ask the user. Cancelling it withdraws the question."""


class Headless:
    """Declines every call that is not allowed: for runs without a user to ask."""

    async def approve(self, question: Question) -> Answer:  # noqa: ARG002  as the port has it
        return Answer.DECLINE


class NoGrants:
    """Stores no grant permanently."""

    def has(self, server: str, tool: str, digest: str) -> bool:  # noqa: ARG002  as the port has it
        return False

    def put(self, server: str, tool: str, digest: str) -> None:
        pass


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
        self._here: set[tuple[str, str, str]] = set()
        """(server, tool, digest) of each tool that is allowed in this conversation."""
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
            return _refused(call, _DENIED)
        if verdict is Verdict.ALLOW:
            return None
        grant = (source, claims.name, digest_of(tool, claims))
        async with self._asking:
            if await self._is_granted(grant, verdict):
                return None
            question = question_of(source, tool, claims, call, verdict)
            return await self._asked(question, grant)

    async def _is_granted(self, grant: tuple[str, str, str], verdict: Verdict) -> bool:
        if grant in self._here:
            return True
        if verdict is not Verdict.UNNAMED:
            return False
        with suppress(StoreError):  # the lookup failed: ask the user
            return await asyncio.to_thread(self._grants.has, *grant)
        return False

    async def _asked(self, question: Question, grant: tuple[str, str, str]) -> ToolResult | None:
        answer = await self._approver.approve(question)
        if answer not in question.choices or answer is Answer.DECLINE:
            is_headless = isinstance(self._approver, Headless)
            return _refused(question.call, _HEADLESS if is_headless else _DECLINED)
        if answer is not Answer.ONCE:
            self._here.add(grant)
        if answer is Answer.ALWAYS:
            with suppress(StoreError):  # not stored: the grant holds for this conversation only
                await asyncio.to_thread(self._grants.put, *grant)
        return None


def _refused(call: ToolCall, sentence: str) -> ToolResult:
    return ToolResult(call, sentence, is_error=True)


def names_of(source: str, tool: Tool, claims: Claims) -> tuple[str, ...]:
    """List a tool's names: its name at the server, and the name under which it is offered.

    They differ if protocols do not accept the server's name.
    """
    return tuple(dict.fromkeys((claims.name, tool.name.removeprefix(f"{source}{BETWEEN}"))))


def digest_of(tool: Tool, claims: Claims) -> str:
    """Return the hexadecimal digest that a grant is bound to."""
    parts = (claims.launch, claims.name, tool.description, tool.schema)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def question_of(
    source: str, tool: Tool, claims: Claims, call: ToolCall, verdict: Verdict
) -> Question:
    said = ", ".join(one_line(each) for each in claims.annotations)
    is_named = verdict is Verdict.ASK
    return Question(
        server=one_line(source),
        tool=visible(claims.name),
        arguments=_arguments_shown(call),
        description=fenced(tool.description),
        annotations=f"Claims by {one_line(source)} (unverified): {said}." if said else "",
        call=call,
        choices=tuple(each for each in Answer if not (is_named and each is Answer.ALWAYS)),
    )


def _arguments_shown(call: ToolCall) -> str:
    known = arguments_of(call)
    if known is None:
        return visible(call.arguments)
    return visible(json.dumps(known, indent=2, ensure_ascii=False))


def visible(text: str) -> str:
    """Escape the characters that a terminal would obey, reorder or hide."""
    return "".join(
        f"\\u{ord(character):04x}" if ord(character) in CHANGED else character for character in text
    )


def fenced(text: str) -> str:
    """Put a bar before each line of a foreign text; a long text is cut, with a note."""
    shown = text[:_LONGEST_CLAIM].strip()
    more = len(text) - _LONGEST_CLAIM
    lines = visible(shown).split("\n") if shown else ["(no description)"]
    if more > 0:
        lines.append(f"… {more:,} more characters")
    return "\n".join(f"│ {line}".rstrip() for line in lines)
