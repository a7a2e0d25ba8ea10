"""A server that fails for a while."""

from __future__ import annotations

import httpx

from tests.providers.streams import (
    DONE,
    HELLO,
    streamed,
)


class Failing:
    """A server that fails so often, each time in the next way, and then answers."""

    def __init__(self, *failures: httpx.Response | Exception) -> None:
        self.failures = list(failures)
        self.asked: list[bytes] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.content)
        if not self.failures:
            return streamed(HELLO, DONE)
        failure = self.failures.pop(0)
        if isinstance(failure, Exception):
            raise failure
        return failure


def refused(status: int, body: object = "busy", **headers: str) -> httpx.Response:
    value = {"error": {"message": body}} if isinstance(body, str) else body
    return httpx.Response(status, headers=headers, json=value)
