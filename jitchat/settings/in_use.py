"""Which provider answers, and what of `[provider]` counts for it.

What a source says under `[provider]` is meant for the provider that this source has in mind.
Where a stronger source names another one, the weaker one's address, model and key are not
for it: they would send a key, or a text, to the wrong server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jitchat.settings.profile import CHOSEN

_USUAL = "openai"
"""Who is meant where only an address or a model is given."""
_NAME, _MODEL, _URL = "provider.name", "provider.model", "provider.base_url"
_IMPLYING = (_URL, _MODEL, "provider.api_key", "provider.api_key_cmd", "provider.api_key_env")


@dataclass(frozen=True, slots=True)
class Given:
    """A value, and who gave it."""

    value: object
    origin: str


_Source = Mapping[str, Given]


def provider_in_use(
    sources: Sequence[_Source], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, Given]:
    """Merge what the sources say under `[provider]`, the weakest first.

    `names` are the providers that there are.
    """
    said = [_own(source) for source in sources]
    if any(_NAME in source for source in said):
        merged = _for_the_named(said)
    else:
        merged = _implied({k: v for source in said for k, v in source.items()}, names, chosen)
    return _chosen(merged, names, chosen)


def _own(source: _Source) -> dict[str, Given]:
    return {key: said for key, said in source.items() if key.startswith("provider.")}


def _for_the_named(sources: Sequence[_Source]) -> dict[str, Given]:
    """Merge for the provider that the strongest source names."""
    name = next(source[_NAME] for source in reversed(sources) if _NAME in source)
    strongest = max(at for at, source in enumerate(sources) if _NAME in source)
    merged: dict[str, Given] = {}
    for at, source in enumerate(sources):
        if at >= strongest or _owner(source, at) in ("", name.value):
            merged |= source
    return merged | {_NAME: name}


def _owner(source: _Source, at: int) -> str:
    """Say which provider a source has in mind; empty where it is whichever answers.

    The variable of a key (in a source other than the file, which is the first) is for that one.
    """
    if _NAME in source:
        return str(source[_NAME].value)
    implying = _IMPLYING if at == 0 else (_URL, _MODEL)
    return _USUAL if any(_is_set(source, key) for key in implying) else ""


def _implied(
    merged: dict[str, Given], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, Given]:
    """Choose the provider where only its address or its model is given.

    A model that a flag or a variable names alone is one of the provider that was picked: what is
    said to a server on this machine must not leave for another one.
    """
    if _is_set(merged, _URL):
        return merged | {_NAME: Given(_USUAL, f"implied by {merged[_URL].origin}")}
    if not _is_set(merged, _MODEL):
        return merged
    said = merged[_MODEL]
    provider, _, rest = str(said.value).strip().partition("/")
    if rest and provider in names:
        kept = merged if _is_file(said) else _without_the_files(merged, provider)
        named = Given(provider, f"implied by {said.origin}")
        return kept | {_NAME: named, _MODEL: Given(rest, said.origin)}
    if chosen is not None and chosen[0] in names and not _is_file(said):
        return _without_the_files(merged, chosen[0]) | {_NAME: Given(chosen[0], CHOSEN)}
    return merged | {_NAME: Given(_USUAL, f"implied by {said.origin}")}


def _chosen(
    merged: dict[str, Given], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, Given]:
    """Add what was chosen in the app, where it is still there and nothing else is said."""
    if chosen is None or chosen[0] not in names:
        return merged
    provider, model = chosen
    if _NAME not in merged:
        merged = _without_the_files(merged, provider)
    merged = {_NAME: Given(provider, CHOSEN)} | merged
    if merged[_NAME].value == provider and not _is_set(merged, _MODEL):
        merged[_MODEL] = Given(model, CHOSEN)
    return merged


def _without_the_files(merged: dict[str, Given], provider: str) -> dict[str, Given]:
    """Drop the file's key where it names nobody: then it is for the usual provider."""
    if provider == _USUAL:
        return merged
    return {k: said for k, said in merged.items() if k not in _IMPLYING or not _is_file(said)}


def _is_set(source: _Source, key: str) -> bool:
    return key in source and bool(str(source[key].value).strip())


def _is_file(said: Given) -> bool:
    return not said.origin.startswith(("$", "--"))
