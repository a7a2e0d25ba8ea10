"""One connection to a server, through the SDK, whose errors become jitchat's own."""

import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
from httpx2 import codes
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.uri_template import UriTemplate
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from jitchat import __version__
from jitchat.children import is_command, own_environment, own_python, users_home
from jitchat.errors import JitchatError
from jitchat.paths import make_private
from jitchat.text.sanitize import shorten
from jitchat.tools.mcp import guard, results
from jitchat.tools.mcp.elicitation import Elicitor, Request, fields_of
from jitchat.tools.mcp.guard import LARGEST_MESSAGE, TOO_LARGE
from jitchat.tools.mcp.secrets import BLOT, without
from jitchat.tools.mcp.spec import ServerFailed, ServerSpec, SessionEnded
from jitchat.tools.mcp.values import Argument, Called, ListedTool, Prompt, Resource

_MOST_PAGES = 50
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 900.0


@dataclass
class Signals:
    """A server's unsolicited events."""

    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set when the server's tools may have changed."""
    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set when the server has ended."""
    on_end: Callable[[], object] = lambda: None
    stray: int = 0
    """Lines of the server's output that are not messages."""
    status: int = 0
    """HTTP status of the last response to a request; the SDK's errors do not contain it."""
    waiting: set[anyio.CancelScope] = field(default_factory=set)
    """The scopes of requests that wait for an answer."""
    secrets: tuple[str, ...] = ()
    """Masked in everything that the server says."""
    pointer: str = ""
    """A sentence that names a command which shows more about a failed server."""

    def end(self) -> None:
        self.ended.set()
        self.on_end()


class _Watched:
    """The stream of a server's messages, with its secrets masked.

    It signals the stream's end, counts what is not a message, and cancels the requests that wait
    for an answer when the guard drops a message that is too large: its id is not known.
    """

    def __init__(self, stream: Any, signals: Signals) -> None:  # noqa: ANN401  one of the SDK's
        self._stream, self._signals = stream, signals

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  as the SDK has it
        return getattr(self._stream, name)

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401  a message of the SDK's
        try:
            return self._seen(await self._stream.__anext__())
        except StopAsyncIteration:
            self._signals.end()
            raise

    async def receive(self) -> Any:  # noqa: ANN401  a message of the SDK's
        try:
            return self._seen(await self._stream.receive())
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._signals.end()
            raise

    def _seen(self, message: Any) -> Any:  # noqa: ANN401  a message of the SDK's
        if isinstance(message, Exception):
            self._signals.stray += 1
            return message
        inner = message.message
        if getattr(inner, "method", "") == TOO_LARGE:
            for scope in self._signals.waiting:
                scope.cancel()
        for name in ("result", "params", "error"):
            if hasattr(inner, name):
                setattr(inner, name, _masked(getattr(inner, name), self._signals.secrets))
        return message

    async def __aenter__(self) -> "_Watched":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:  # noqa: ANN401  as the SDK has it
        return await self._stream.__aexit__(*error)


def _masked(value: Any, secrets: tuple[str, ...]) -> Any:  # noqa: ANN401  any JSON
    """Mask the secrets in all strings of a value, names included, and numbers that are one."""
    match value:
        case str():
            return without(secrets, value)
        case int() | float() if str(value) in secrets:
            return BLOT
        case dict():
            return {without(secrets, name): _masked(part, secrets) for name, part in value.items()}
        case types.ErrorData():
            return value.model_copy(update={"message": without(secrets, value.message)})
        case list():
            return [_masked(part, secrets) for part in value]
    return value


class Connection:
    """A connected server. Every method raises ServerFailed, with no secrets in the message."""

    def __init__(self, client: Client, spec: ServerSpec, signals: Signals) -> None:
        self._client, self._spec, self._signals = client, spec, signals

    @property
    def protocol(self) -> str:
        return self._client.protocol_version

    async def tools(self, most: int) -> list[ListedTool]:
        """List the tools; of more than `most`, at least one more than that."""
        listed = await self._all("tools", "tools", most, cache_mode="refresh")
        return [
            ListedTool(
                tool.name,
                tool.description or tool.title or "",
                tool.input_schema,
                results.annotation_words(tool),
            )
            for tool in listed
        ]

    async def call(self, name: str, arguments: dict[str, Any]) -> Called:
        result = await self._checked(self._client.call_tool(name, arguments))
        return Called(results.text_of(result), bool(result.is_error))

    async def resources(self) -> list[Resource]:
        listed = await self._all("resources", "resources")
        return [
            Resource(str(each.uri), each.name, each.description or "", each.mime_type or "")
            for each in listed
        ]

    async def templates(self) -> list[Resource]:
        """List the resource templates that can be filled in."""
        try:
            listed = await self._all("resources", "resource_templates")
        except ServerFailed:  # servers without templates need not support the method
            return []
        return [
            Resource(
                each.uri_template,
                each.name,
                each.description or "",
                each.mime_type or "",
                tuple(Argument(name, required=True) for name in names),
            )
            for each in listed
            if (names := _variables(each.uri_template))
        ]

    async def read(self, uri: str, values: Mapping[str, str]) -> str:
        """Read a resource; `values` fill in a template."""
        if values:
            uri = UriTemplate.parse(uri).expand(values)
        result = await self._checked(self._client.read_resource(uri))
        return "\n\n".join(results.resource_text(each) for each in result.contents)

    async def prompts(self) -> list[Prompt]:
        listed = await self._all("prompts", "prompts")
        return [Prompt(each.name, each.description or "", _arguments(each)) for each in listed]

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        return results.prompt_text(
            await self._checked(self._client.get_prompt(name, dict(arguments)))
        )

    async def watch(self, signals: Signals) -> None:
        """Listen for changes until the server ends, if it speaks the newer protocol.

        With the older protocol, servers report changes unasked. A server that does not support
        listening is left alone.
        """
        if self.protocol not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    signals.changed.set()
        except (MCPError, RuntimeError, TimeoutError, OSError, httpx2.HTTPError):
            return

    async def _all(
        self, capability: str, what: str, most: float = float("inf"), **options: str
    ) -> list[Any]:
        """Fetch a list page by page, up to a maximum number of pages, or until it is too long.

        It is empty if the server does not have the capability.
        """
        found: list[Any] = []
        if getattr(self._client.server_capabilities, capability) is None:
            return found
        page_of = getattr(self._client, f"list_{what}")
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._checked(page_of(cursor=cursor, **options))
            found += getattr(page, what)
            cursor = page.next_cursor
            if not cursor or len(found) > most:
                break
        return found

    async def _checked(self, answer: Awaitable[Any]) -> Any:  # noqa: ANN401  as the SDK answers
        with anyio.CancelScope() as scope:
            self._signals.waiting.add(scope)
            try:
                return await answer
            except FAILURES as error:
                failed = failure(error, self._spec, self._signals)
                if _ends_session(error, self._signals.status):
                    self._signals.end()
                    raise SessionEnded(failed.what, failed.remedy) from None
                raise failed from None
            finally:
                self._signals.waiting.remove(scope)
        raise ServerFailed(f"{self._spec.name} {_SENT_TOO_MUCH}.")


def _ends_session(error: Exception, status: int) -> bool:
    """Whether a server over HTTP answered that it does not know the session (any more)."""
    if not isinstance(error, MCPError):
        return False
    names_session = "session" in error.message.lower()
    is_unknown = status == codes.NOT_FOUND and error.code != types.METHOD_NOT_FOUND
    return is_unknown or (status == codes.BAD_REQUEST and names_session)


def _variables(template: str) -> Sequence[str]:
    """List a template's variables; none if it is not a valid template."""
    try:
        return UriTemplate.parse(template).variable_names
    except ValueError:
        return ()


def _arguments(prompt: types.Prompt) -> tuple[Argument, ...]:
    return tuple(
        Argument(each.name, each.description or "", bool(each.required))
        for each in prompt.arguments or ()
    )


_LIMIT = "byte limit"
"""In the SDK's error about an event that is too large, and in that about a body."""
_SENT_TOO_MUCH = f"sent a message of more than {LARGEST_MESSAGE >> 20} MB, which was not read"
_WANTS_KEY = (codes.UNAUTHORIZED, codes.FORBIDDEN)
_CHECK_KEY = "Check its headers: a key is missing, wrong, or not allowed to do that."

FAILURES = (MCPError, ValidationError, httpx2.HTTPError, OSError, RuntimeError, ValueError)
"""The errors that the SDK raises; a defect in the SDK is a RuntimeError too."""


def failure(error: BaseException, spec: ServerSpec, signals: Signals) -> JitchatError:
    """Describe what went wrong, without the error's own text: it can contain keys."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, JitchatError):
        return error
    status = signals.status if signals.status >= codes.BAD_REQUEST else 0
    http = f" ({status} {codes.get_reason_phrase(status)})" if status else ""
    remedy = _CHECK_KEY if status in _WANTS_KEY else signals.pointer
    sentence = f"{spec.name} {_why(error, spec, signals)}{http}."
    return ServerFailed(without(spec.secrets, sentence), remedy)


def _why(error: BaseException, spec: ServerSpec, signals: Signals) -> str:
    kind = type(error).__name__
    match error:
        case MCPError():
            return _refusal(error, has_ended=signals.ended.is_set())
        case httpx2.HTTPError():
            return f"cannot be reached ({kind})"
        case FileNotFoundError() if spec.command:
            return f"cannot be started: there is no {_missing(spec)}"
        case OSError():
            return f"cannot be started or reached: {error.strerror or kind}"
        case ValueError():
            return "sent an answer that violates the protocol"
    return f"ended with an error in jitchat or its MCP library ({kind})"


def _missing(spec: ServerSpec) -> str:
    if spec.cwd and not Path(spec.cwd).is_dir():
        return f"folder {shorten(without(spec.secrets, spec.cwd), 80)}"
    return f"command {shorten(without(spec.secrets, spec.command), 80)}"


def _refusal(error: MCPError, *, has_ended: bool) -> str:
    if _LIMIT in error.message:
        return _SENT_TOO_MUCH
    if has_ended and error.code == types.CONNECTION_CLOSED:  # servers use that code, too
        return "ended before it answered"
    return f"answered with an error: {shorten(str(error.message), 300).rstrip('.')}"


@asynccontextmanager
async def connected(
    spec: ServerSpec, errors: Path, signals: Signals, elicitor: Elicitor | None = None
) -> AsyncIterator[Connection]:
    """Start or reach a server; on exit it is stopped, with all processes that it started.

    `spec` is expanded; `errors` is the file for the server's standard error. Errors are raised
    as one of FAILURES, or a group of them.
    """
    logging.getLogger("mcp").propagate = False  # its records contain the server's output
    logging.getLogger("mcp").addHandler(logging.NullHandler())

    async def on_message(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            signals.changed.set()

    client = Client(
        _watched(_transport(spec, errors, signals), signals),
        message_handler=on_message,
        elicitation_callback=_asking(spec, elicitor) if elicitor else None,
        client_info=types.Implementation(name="jitchat", version=__version__),
    )
    async with client:
        yield Connection(client, spec, signals)


@asynccontextmanager
async def _watched(
    transport: AbstractAsyncContextManager[Any], signals: Signals
) -> AsyncIterator[Any]:
    async with transport as (read, write):
        yield _Watched(read, signals), write


@asynccontextmanager
async def _transport(spec: ServerSpec, errors: Path, signals: Signals) -> AsyncIterator[Any]:
    if spec.command:
        server = await anyio.to_thread.run_sync(_guarded, spec, errors)
        reading, writing = os.pipe()
        with os.fdopen(reading) as lifeline, os.fdopen(writing, "w") as held:
            async with stdio_client(server, errlog=held) as streams:
                with lifeline:  # is closed first, since the server may not read its input
                    yield streams
        return

    async def on_response(response: httpx2.Response) -> None:
        if response.request.method == "POST":  # the server can refuse the GET for a stream
            signals.status = response.status_code
        response.headers.pop("content-encoding", None)  # see below
        if "text/event-stream" not in response.headers.get("content-type", ""):
            response.stream = _LimitedBody(response.stream)

    # A small compressed body can be a large text, so none is accepted.
    headers = {"Accept-Encoding": "identity"} | dict(spec.headers)
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    hooks = {"response": [on_response]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as http,
        streamable_http_client(
            spec.url, http_client=http, max_sse_event_size=LARGEST_MESSAGE
        ) as streams,
    ):
        yield streams


class _LimitedBody(httpx2.AsyncByteStream):
    """The body of a response; reading more than one message may have is an error."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401  one of the SDK's
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_MESSAGE:
                raise httpx2.StreamError(f"The body exceeds the {LARGEST_MESSAGE} {_LIMIT}.")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _guarded(spec: ServerSpec, errors: Path) -> StdioServerParameters:
    """Return how to start the guard of a server. Raises OSError if the server cannot be started."""
    make_private(errors.parent)
    env = get_default_environment() | dict(spec.env)
    folder = spec.cwd or users_home()
    if not is_command(spec.command, folder, env.get("PATH")):
        raise FileNotFoundError(spec.command)
    command, *arguments = own_python("-m", guard.__name__)
    given = {"command": (spec.command, *spec.args), "env": env, "secrets": spec.secrets}
    given["log"] = str(errors)
    return StdioServerParameters(
        command=command,
        args=arguments,
        env=own_environment(os.environ) | {guard.VARIABLE: json.dumps(given)},
        cwd=folder,
        encoding_error_handler="replace",
    )


def _asking(spec: ServerSpec, elicitor: Elicitor) -> Any:  # noqa: ANN401  one of the SDK's ports
    async def ask(_: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        if isinstance(params, types.ElicitRequestURLParams):
            response = await elicitor.elicit(Request(spec.name, params.message, url=params.url))
            return types.ElicitResult(action=response.action)
        fields = fields_of(params.requested_schema)
        response = await elicitor.elicit(Request(spec.name, params.message, fields))
        if response.action != "accept":
            return types.ElicitResult(action=response.action)
        return types.ElicitResult(action="accept", content=dict(response.values))

    return ask
