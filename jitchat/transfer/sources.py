"""The sources of a reply, as links below its text."""

from collections.abc import Iterator

from jitchat.transfer.fields import mapping, sequence, text

_TITLES = ("title", "name", "attribution")


def sources_in(value: object) -> Iterator[tuple[str, str]]:
    """Yield the URL and the title of every source that is described anywhere in a value."""
    fields = mapping(value)
    described = {**mapping(fields.get("metadata")), **fields}
    url = text(described.get("url")) or text(described.get("link"))
    url = url or text(described.get("name") if fields.get("type") == "file" else "")
    if url:
        yield url, next((text(described[key]) for key in _TITLES if text(described.get(key))), "")
    for inner in (*sequence(value), *fields.values()):
        if isinstance(inner, list | dict):
            yield from sources_in(inner)


def link(title: str, url: str) -> str:
    """Return a link in Markdown; only the title if the address is none of a page."""
    is_address = "://" in url and title not in ("", url)
    return f"[{title}]({url})" if is_address else title or url


def sources_below(said: str, *values: object) -> str:
    """Return the list of the sources that a text does not link to; empty if there are none."""
    titles: dict[str, str] = {}
    for url, title in sources_in(list(values)):
        titles[url] = titles.get(url) or title
    missing = [source for source in titles.items() if not all(part in said for part in source)]
    lines = [f"- {link(title, url)}" for url, title in missing]
    return "\n".join(["Sources:", *lines]) if lines else ""
