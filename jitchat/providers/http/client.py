"""The HTTP client for one server, with its proxy and certificates.

The environment is read here rather than by httpx, so that only variables that concern a request
can make it fail, and so that the error names the variable.

Requests other than chat return one JSON value, or raise ProviderError, with the same precautions:
the key is only in a header and never in an error, redirects are not followed, no proxy is used for
this machine, and an endless or slow body cannot block the caller.
"""

import asyncio
import os
import re
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import getproxies, proxy_bypass

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, SettingsError, Unreachable
from jitchat.providers.http.redaction import blotted, without_secrets
from jitchat.providers.http.retry import Failure
from jitchat.providers.protocols.addresses import base_of, is_this_machine, root_of
from jitchat.providers.protocols.protocol import json_request
from jitchat.providers.protocols.refusals import CHECK_URL, message_of, refusal
from jitchat.providers.provider import Endpoint
from jitchat.text.figures import enumerated
from jitchat.text.json_values import parsed
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.variables import variables_in

CERTIFICATES = {
    "SSL_CERT_FILE": False,
    "SSL_CERT_DIR": True,
    "REQUESTS_CA_BUNDLE": True,
    "CURL_CA_BUNDLE": False,
}
"""Variables that name the trusted certificates, in order of precedence, and whether the value
can be a folder."""


def make_client(
    url: httpx.URL, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """Make the client for the server of `url`. Takes 40 ms to read certificates: use a thread.

    Redirects are not followed, because they could send the key to another server.

    Raises:
        Unreachable: An environment variable has an invalid value.

    """
    if transport is not None:
        return httpx.AsyncClient(transport=transport, trust_env=False)
    variable, address = _proxy_setting(url)
    is_secure = url.scheme == "https" or address.lower().startswith("https:")
    context = _certificates() if is_secure else None
    try:
        proxy = _proxy(address, context) if address else None
        return httpx.AsyncClient(proxy=proxy, verify=context or False, trust_env=False)
    except ImportError:
        reason = "a SOCKS proxy requires the extra socks, pip install 'jitchat[socks]'"
    except (ValueError, httpx.InvalidURL):
        reason = "it is not the address of an HTTP proxy"
    what = f"The proxy in {variable} cannot be used: {reason}."
    raise Unreachable(what, f"Correct {variable}, or unset it.")


def proxy_variable(url: httpx.URL) -> str:
    """Return the variable that sets the proxy for `url`; empty if there is no proxy."""
    return _proxy_setting(url)[0]


def _proxy_setting(url: httpx.URL) -> tuple[str, str]:
    """Return the variable and the address of the proxy; both empty for this machine."""
    given = getproxies()
    kind = url.scheme if given.get(url.scheme) else "all"
    address = given.get(kind, "")
    if not address or is_this_machine(url.host) or proxy_bypass(url.netloc.decode()):
        return "", ""
    names = (f"{kind}_proxy", f"{kind.upper()}_PROXY")
    variable = next((name for name in names if os.environ.get(name)), "the system")
    return variable, address if "://" in address else f"http://{address}"


def _proxy(address: str, context: ssl.SSLContext | None) -> httpx.Proxy:
    proxy = httpx.Proxy(address)
    if not proxy.url.host or (proxy.url.port or 80) >= 1 << 16:
        raise ValueError(address)
    is_secure = proxy.url.scheme == "https"
    return httpx.Proxy(address, ssl_context=context) if is_secure else proxy


def _certificates() -> ssl.SSLContext:
    """Load the trusted certificates: those of the environment, else the default ones.

    The defaults are certifi's and the system's, which can include a company's own.
    """
    variable = next((name for name in CERTIFICATES if os.environ.get(name)), "")
    if not variable:
        context = httpx.create_ssl_context(trust_env=False)
        context.load_default_certs()
        return context
    place, can_be_folder = os.environ[variable], CERTIFICATES[variable]
    try:
        if can_be_folder and any(Path(folder).is_dir() for folder in place.split(os.pathsep)):
            return ssl.create_default_context(capath=place)
        if variable != "SSL_CERT_DIR":
            return ssl.create_default_context(cafile=place)
        reason = "no such folder"
    except OSError as error:
        reason = one_line(error.strerror or str(error)) or type(error).__name__
    what = f"The certificates in {variable} cannot be read: {reason}."
    raise Unreachable(what, f"Correct {variable} ({shorten(place, 100)}), or unset it.")


_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


def checked_request(
    endpoint: Endpoint, make: Callable[[], httpx.Request], timeout: httpx.Timeout
) -> httpx.Request:
    """Make a request after checking that it can be sent. Errors contain no secret.

    Raises:
        KeyRefused: The key is missing, or the key or a header has invalid characters.
        Unreachable: The endpoint's address is not valid.

    """
    _require_sendable(endpoint)
    request = _with_valid_address(make)
    if request is None:
        raise _no_address(endpoint)
    request.extensions["timeout"] = timeout.as_dict()
    return request


def _require_sendable(endpoint: Endpoint) -> None:
    """Refuse a key or header that cannot be sent. No secret may be a local variable here."""
    if endpoint.wants_key and not endpoint.key:
        name, variable = shorten(endpoint.name, 60), endpoint.key_variable
        why = f"{variable} is not set" if variable else "none is set"
        raise KeyRefused(f"{name} requires a key, but {why}. Nothing was sent.", endpoint.key_help)
    if not _is_printable(endpoint.key) or " " in endpoint.key:
        raise KeyRefused(
            "The API key has characters that no key has (a space, a line break, an ellipsis …).",
            "Copy it again. It was not sent.",
        )
    wrong = [
        name
        for name, value in endpoint.headers.items()
        if not (_HEADER_NAME.fullmatch(name) and _is_printable(value))
    ]
    if wrong:
        raise KeyRefused(
            f"The header {shorten(wrong[0], 60)!r} has characters that no header can have.",
            "Correct it in the configuration. It was not sent.",
        )


def _with_valid_address(make: Callable[[], httpx.Request]) -> httpx.Request | None:
    """Make the request; None if its address is not valid."""
    try:
        request = make()
    except (httpx.InvalidURL, ValueError):
        return None
    url = request.url
    is_address = url.scheme in ("http", "https") and url.host and (url.port or 80) < 1 << 16
    return request if is_address else None


def _no_address(endpoint: Endpoint) -> ProviderError:
    """Make the error here, so that the frame that raises it has no secret."""
    what = f"{shorten(endpoint.base_url, 200)!r} is not a valid address."
    remedy = "Set provider.base_url, for example http://localhost:8080/v1."
    if variables := variables_in(endpoint.base_url, required=True):
        remedy = f"Set {enumerated(variables)}, or provider.base_url."
    return without_secrets(Unreachable(what, remedy), endpoint)


def _is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


_KEY_ACCESS = "Check that the key has access to this model, project and region."
_MAX_ERROR_BYTES = 64 << 10


class Connection:
    """The connections to an endpoint's server. The client is made on first use."""

    def __init__(
        self,
        endpoint: Endpoint,
        transport: httpx.AsyncBaseTransport | None = None,
        patience: float = 5.0,
    ) -> None:
        """`patience` is the timeout for reading the text of an error, in seconds."""
        self.endpoint = endpoint
        self._transport, self._patience = transport, patience
        self._lock = threading.Lock()
        self._client: httpx.AsyncClient | None = None

    async def send(self, request: httpx.Request) -> httpx.Response | Failure:
        """Send a request: return the response with its body unread, or the failure."""
        client = await asyncio.to_thread(self._ready, request.url)
        try:
            response = await client.send(request, stream=True)
        except (httpx.HTTPError, OSError, ValueError) as error:
            return connection_failure(self.endpoint, request.url, error)
        if response.is_success:
            return response
        try:
            return await self._failure(response)
        finally:
            await response.aclose()

    def renew_key(self) -> bool:
        """Replace a refused key; return whether there is a new one. Slow: a command may run.

        If the command fails, the result is False, and the server's refusal is reported.
        """
        endpoint = self.endpoint
        if endpoint.renew is None:
            return False
        try:
            key = endpoint.renew(endpoint.key)
        except SettingsError:
            return False
        self.endpoint = replace(endpoint, key=key)
        return key != endpoint.key

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _ready(self, url: httpx.URL) -> httpx.AsyncClient:
        with self._lock:
            if self._client is None:
                self._client = make_client(url, self._transport)
            return self._client

    async def _failure(self, response: httpx.Response) -> Failure:
        status, headers = response.status_code, dict(response.headers.items())
        body = await self._start_of(response)
        key_help = _KEY_ACCESS if status == 403 and self.endpoint.key else self.endpoint.key_help
        error = refusal(status, body, key_help, headers)
        words = message_of(parsed(body)).rstrip(".")
        why = blotted(": ".join(filter(None, (f"HTTP {status}", words))), self.endpoint)
        return Failure(without_secrets(error, self.endpoint), status, headers, body, why)

    async def _start_of(self, response: httpx.Response) -> str:
        """Read the first 64 KiB of a body, or less when the timeout expires."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._patience):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > _MAX_ERROR_BYTES:
                        break
        except (httpx.HTTPError, httpx.StreamError, TimeoutError):
            pass  # the status is enough
        return bytes(body).decode("utf-8", "replace")


_CONNECTING_ERRORS = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)


def connection_failure(endpoint: Endpoint, url: httpx.URL, error: Exception) -> Failure:
    """Return the failure of a request that got no response."""
    reason = reason_of(error)
    where = f"{url.scheme}://{url.netloc.decode()}"
    what = f"{endpoint.name} cannot be reached at {where}: {reason}."
    unreachable = without_secrets(Unreachable(what, _remedy(url, error, reason)), endpoint)
    # an established connection broke, as can happen after a long idle time
    is_closed = isinstance(error, httpx.RemoteProtocolError) and "disconnected" in reason
    is_lost = is_closed or isinstance(error, httpx.ReadError | httpx.WriteError)
    return Failure(unreachable, why="the connection was lost", is_lost=is_lost)


def reason_of(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return "no answer in time"
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _remedy(url: httpx.URL, error: Exception, reason: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return "If your network's proxy intercepts TLS, set SSL_CERT_FILE to its certificates."
    if isinstance(error, _CONNECTING_ERRORS) and (variable := proxy_variable(url)):
        return f"Check the proxy in {variable}, and provider.base_url."
    return "Check that the server is running, and provider.base_url."


MAX_BYTES = 8 << 20
PATIENCE = 20.0
"""Timeout of one request in seconds, up to the end of the response."""


class JsonClient:
    """A client for several JSON requests to one server."""

    def __init__(
        self,
        endpoint: Endpoint,
        protocol_name: str,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        patience: float = PATIENCE,
        connect: float | None = None,
    ) -> None:
        """`patience` and `connect` are timeouts in seconds; by default the endpoint's."""
        self.base = base_of(endpoint.base_url, protocol_name)
        self.root = root_of(self.base)
        """The server's address without the API version, for routes outside the API."""
        self.software = ""
        """The `Server` header of the last response; empty if there was none."""
        self._protocol, self._patience = protocol_name, patience
        self._timeout = httpx.Timeout(patience, connect=connect or endpoint.connect_seconds)
        self._connection = Connection(endpoint, transport, patience)

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def get(self, url: str, query: Mapping[str, str | int] | None = None) -> object:
        """Send a GET request and return the JSON.

        Raises:
            ProviderError: The server sent an error, or no JSON.

        """
        return await self.post(f"{url}?{urlencode(query)}" if query else url, None)

    async def post(self, url: str, body: Mapping[str, object] | None) -> object:
        answer = await self._try(url, body)
        if isinstance(answer, KeyRefused) and await asyncio.to_thread(self._connection.renew_key):
            answer = await self._try(url, body)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    async def _try(self, url: str, body: Mapping[str, object] | None) -> object:
        """Send the request once; return the JSON, or a ProviderError."""
        endpoint = self._connection.endpoint
        request = checked_request(
            endpoint,
            lambda: json_request(endpoint, self._protocol, url, body, "application/json"),
            self._timeout,
        )
        try:
            async with asyncio.timeout(self._patience):
                return await self._answer(request)
        except ProviderError as error:
            return without_secrets(error, endpoint)
        except (httpx.HTTPError, httpx.StreamError, OSError, ValueError) as error:
            return connection_failure(endpoint, request.url, error).error

    async def _answer(self, request: httpx.Request) -> object:
        response = await self._connection.send(request)
        self.software = response.headers.get("server", "")
        if isinstance(response, Failure):
            return response.error
        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    size = f"{MAX_BYTES >> 20} MiB"
                    what = f"The server sent more than {size} instead of a short answer."
                    raise NotAnAnswer(what, CHECK_URL)
        finally:
            await response.aclose()
        value = parsed(body.decode("utf-8", "replace"))
        if value is None:
            name = self._connection.endpoint.name
            raise NotAnAnswer(f"{name} did not answer with JSON.", CHECK_URL)
        return value
