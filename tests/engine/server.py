"""The product's engine with what these tests need besides: a known key or none, and its slots."""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.children import own_python
from jitchat.providers.local import engine, server
from tests.engine.tiny_model import NAME
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "sk-canary-5f3a9e0c7d2b"
MISSING = next(
    (name for name in ("xllamacpp", "psutil", "gguf") if importlib.util.find_spec(name) is None),
    "",
)
"""The module that a real engine needs and that is not installed."""
_CHILD = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.engine.server import serve
serve(*sys.argv[1:])
"""


@dataclass(frozen=True)
class Engine:
    """A server that runs."""

    address: str
    """Scheme, host and port."""
    context: int
    """Tokens that fit, the answer included."""
    process: int
    """Its id."""

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"


def plan_of(model: Path, context: int = 1_024) -> engine.EnginePlan:
    """One thread, for the tests run beside each other."""
    return engine.EnginePlan(model, context, threads=1, cached_mib=8, memory=0)


@contextmanager
def running(model: Path, context: int, key: str = KEY) -> Iterator[Engine]:
    """Run a server until the end of the block. Without a key it answers everybody."""
    made = engine.Engine(plan_of(model, context), own_python("-c", _CHILD, key))
    try:
        base_url, _ = made.server()
        yield Engine(base_url.removesuffix("/v1"), context, made._child.pid)
    finally:
        made.close()


def serve(key: str, *figures: str) -> None:
    """Serve as the product does."""
    usual = server.parameters

    def parameters(*given: str):
        wanted = usual(*given)
        wanted.api_keys = [key] if key else []
        wanted.model_alias = [NAME]
        wanted.endpoint_slots = True
        wanted.sse_ping_interval = 1  # the shortest, in seconds
        return wanted

    server.parameters = parameters
    server.main(*figures)
