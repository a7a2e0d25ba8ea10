"""The size of a window that suits a model, as far as nothing was measured for it."""

import re
import tomllib
from functools import cache
from importlib.resources import files

_BILLIONS = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])", re.IGNORECASE)


def size_for(limit: int, name: str, *, is_reader: bool, is_local: bool, has_cache: bool) -> int:
    """Return tokens for a model of a `limit`; a parameter count is read from the model's name."""
    table = _table()
    kind = "hosted_with_cache" if has_cache else "hosted"
    if is_local:
        billions = _billions(name)
        is_tiny = billions is not None and billions <= table["tiny_billions"]
        kind = "tiny" if is_tiny else "local"
    if is_reader:
        kind = "reader"
    return min(int(table[kind]), int(table["share_of_limit"] * limit))


def _billions(name: str) -> float | None:
    """Read `0.135` from `SmolLM2-135M-Instruct`; None if the name has no such number."""
    found = _BILLIONS.search(name)
    if found is None:
        return None
    return float(found[1]) / (1_000 if found[2] in "mM" else 1)


@cache
def _table() -> dict[str, float]:
    text = files(__package__).joinpath("sizes.toml").read_text(encoding="utf-8")
    table: dict[str, float] = tomllib.loads(text)
    return table
