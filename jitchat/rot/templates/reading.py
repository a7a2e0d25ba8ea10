"""From a template as it is written to forms.

A word list is a line, `dish: pea risotto | [thick|thin] noodles`. A scene is some exchanges
that are said in a row: what the user says follows a `>`, what the assistant replies a `<`, and
an empty line ends the scene. What is indented goes on with the line above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jitchat.rot.templates.nodes import Choice, Listing, Slot, Words
from jitchat.rot.templates.scene import Move, Scene
from jitchat.rot.templates.wording import Form, Node
from jitchat.text.words import stems

_PART = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{]+|\{")
_SLOT = re.compile(r"\{((?:a )?)([a-z_]+)(\d?)([!?]?)\}", re.IGNORECASE)
_LISTING = re.compile(r"\{(list|numbered) ([a-z_]+)\}")
_CLOSED = re.compile(r"(?:[.?!]\|?\]?|\{(?:list|numbered) [a-z_]+\})$")


def form(template: str) -> Form:
    """Read a template.

    Raises:
        ValueError: A bracket is not closed, or a slot is written in no known way.

    """
    return _branches(iter(_PART.findall(template)), template, is_inner=False)[0]


def word_lists(block: str) -> dict[str, tuple[Form, ...]]:
    """Read word lists, by name."""
    lines = (line.partition(":") for line in _lines(block) if line)
    return {name: tuple(map(form, _parted(values))) for name, _, values in lines}


def every_case(block: str) -> tuple[dict[str, tuple[Form, ...]], ...]:
    """Read word lists that go together; an empty line is between one case and the next."""
    return tuple(word_lists(each) for each in re.split(r"\n\s*\n", block.strip()))


def scenes(block: str) -> tuple[Scene, ...]:
    """Read scenes."""
    found: list[list[str]] = [[]]
    for line in _lines(block):
        found[-1:] = [found[-1] + [line]] if line else [found[-1], []]
    return tuple(_scene(lines) for lines in found if lines)


def sentences(template: str) -> list[str]:
    """Cut a template where a sentence ends, outside of brackets.

    What may be said ahead of the first sentence stays with it: `[Yes.|] That is right.`
    """
    depth, start = 0, 0
    cut: list[str] = []
    for place, character in enumerate(template):
        depth += (character in "[{") - (character in "]}")
        if character != " " or depth:
            continue
        head = template[start:place]
        is_mere_opening = not start and head.endswith("|]")
        if _CLOSED.search(head) and not is_mere_opening:
            cut.append(head)
            start = place + 1
    return [*cut, template[start:]]


def _lines(block: str) -> Iterator[str]:
    """List lines with those that go on joined to them; of empty lines, one is left."""
    whole = re.sub(r"\n +(?=\S)", " ", "\n".join(map(str.rstrip, block.strip().splitlines())))
    return iter(re.sub(r"\n\n+", "\n\n", whole).split("\n"))


def _scene(lines: list[str]) -> Scene:
    texts, replies = lines[::2], lines[1::2]
    if any(not each.startswith("> ") for each in texts) or len(texts) != len(replies):
        raise ValueError(lines)
    return tuple(
        Move(_said(text[2:]), _said(reply[2:])) for text, reply in zip(texts, replies, strict=True)
    )


def _said(template: str) -> tuple[Form, ...]:
    """Read what one side says; after its first sentence, two of some statements may be said."""
    first, *others = map(form, sentences(template))
    return (first, *map(_loosened, others))


def _loosened(whole: Form) -> Form:
    """Let two of a choice among statements be said, if they draw from different lists."""
    if len(whole.nodes) != 1 or not isinstance(choice := whole.nodes[0], Choice):
        return whole
    are_apart = sum(len(each.draws) for each in choice.branches) == len(choice.draws)
    are_statements = all(map(_is_statement, choice.branches))
    return Form.of((Choice(choice.branches, are_apart and are_statements),))


def _is_statement(branch: Form) -> bool:
    last = branch.nodes[-1] if branch.nodes else None
    return isinstance(last, Words) and last.text.endswith(".")


def _parted(values: str) -> list[str]:
    """Part what is written between bars, outside of brackets."""
    depth = 0
    parts = [""]
    for character in values:
        depth += (character in "[{") - (character in "]}")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _branches(parts: Iterator[str], template: str, *, is_inner: bool) -> tuple[Form, ...]:
    branches: list[list[Node]] = [[]]
    for part in parts:
        if part == "]" and is_inner:
            return tuple(map(Form.of, branches))
        if part == "|" and is_inner:
            branches.append([])
        elif part == "[":
            branches[-1].append(Choice(_branches(parts, template, is_inner=True)))
        else:
            branches[-1].append(_node(part, template))
    if is_inner:
        raise ValueError(template)
    return tuple(map(Form.of, branches))


def _node(part: str, template: str) -> Node:
    if part in "[]|":
        raise ValueError(template)
    if not part.startswith("{"):
        return Words(part, frozenset(stems(part)))
    if listing := _LISTING.fullmatch(part):
        return Listing(listing[2], listing[1] == "numbered")
    if not (slot := _SLOT.fullmatch(part)):
        raise ValueError(template)
    article, name, number, mark = slot.groups()
    is_capital = (article or name)[0].isupper()
    return Slot(name.lower() + number, name.lower(), mark, bool(article), is_capital)
