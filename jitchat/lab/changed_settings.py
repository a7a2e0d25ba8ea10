"""The settings that a run's figures depend on, and that have changed since it was started."""

from collections.abc import Iterator, Mapping

from jitchat.lab.run_file import Run
from jitchat.text.sanitize import shorten

_UNSET = "not set"
_LONGEST = 60
"""Maximum characters of a value."""
_SHAPING = ("window.", "picker.", "reranker.", "chat.system")
"""Prefixes of settings that windows and answers depend on."""
_SAMPLING = frozenset(
    ("base_url", "protocol", "temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
)
"""A provider's settings on which answers depend."""


def sentences(run: Run, settings: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings that affect windows or answers and differ from a run's, a sentence each.

    Limit and reserve are not included: a run keeps those that it was started with.
    """
    was = dict(run.settings)
    for name in was | dict(settings):
        before = was.get(name, _UNSET)
        now = settings.get(name, _UNSET)
        if before != now and _shapes(name, run):
            value = before if before == _UNSET else f"= {shorten(before, _LONGEST)}"
            changed = shorten(now, _LONGEST)
            yield f"{run.id} was started with {name} {value}; now it is {changed}."


def _shapes(setting: str, run: Run) -> bool:
    section, _, name = setting.rpartition(".")
    picks = dict(run.settings).get("picker.provider", "").strip('"')
    tables = ("provider", f"providers.{run.provider}", f"providers.{picks}")
    return setting.startswith(_SHAPING) or (section in tables and name in _SAMPLING)
