"""Why no response came, as a sentence."""

from __future__ import annotations

import httpx

from jitchat.errors import Unreachable
from jitchat.providers.http.client import proxy_variable
from jitchat.providers.http.retry import Failure
from jitchat.text.safe import one_line

_BEFORE_THE_WAY = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_LOST = (httpx.ReadError, httpx.WriteError)


def unreached(name: str, url: httpx.URL, error: Exception) -> Failure:
    """Make the failure of a request to which no response came; `name` is the provider's."""
    reason = reason_of(error)
    where = f"{url.scheme}://{url.netloc.decode()}"
    what = f"{name} cannot be reached at {where}: {reason}."
    told = Unreachable(what, _remedy(url, error, reason))
    return Failure(told, why="the connection was lost", is_lost=_is_lost(error, reason))


def reason_of(error: Exception) -> str:
    """Tell what happened, as a clause without its full stop."""
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return "no answer in time"
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _is_lost(error: Exception, reason: str) -> bool:
    """Whether a connection that was made has broken, as one that was kept for long may."""
    is_hung_up = isinstance(error, httpx.RemoteProtocolError) and "disconnected" in reason
    return is_hung_up or isinstance(error, _LOST)


def _remedy(url: httpx.URL, error: Exception, reason: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return "If a proxy of your network stands between, set SSL_CERT_FILE to its certificates."
    if isinstance(error, _BEFORE_THE_WAY) and (variable := proxy_variable(url)):
        return f"Is the proxy right that {variable} names, and provider.base_url?"
    return "Is the server running, and provider.base_url right?"
