r"""Parses a reply into markdown-it's tokens. Nothing that is said is lost.

markdown-it reads the syntax, on a text of the same length in which formulas are letters: nothing in
them is syntax. Then each token gets what is to be read for it as its content, and these entries in
its `meta`, with offsets in the text:

- `span`: of inline tokens and list markers, what they stand for;
- `copied`: of a formula, its source;
- `starts`: of code, the offset of each line;
- `start`: of a block, its first line.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain, repeat

from markdown_it.token import Token

from jitchat.text.markdown.formulas import Formula, formulas_in, shown
from jitchat.text.markdown.inline import MOST_NESTING, Markdown

_LETTER = "\ue000"
"""Replaces each character of a formula, and a lone carriage return: no punctuation, no space."""
_RETURN = re.compile(r"\r(\n?)")
_TWO_LINES = re.compile(r"[^\n]*\n[^\n]*\n")
_NOT_LINE_END = re.compile(r"[^\n]")
_INDENT, _QUOTED_INDENT = re.compile(r"\n[ \t]*"), re.compile(r"\n[ \t>]*")
_COLUMN = re.compile(r"(:?)-+(:?)")
_ALIGNMENTS = {("", ":"): "right", (":", ":"): "center"}
_CELL = re.compile(r"(?!\Z)((?:\\[\s\S]|[^|\\])*)(?:\||\Z)")


@cache
def markdown() -> Markdown:
    return Markdown()


def parse(text: str, start: int = 0, rows: int = 0) -> list[Token]:
    """Parse a text from a line on; a link definition that a link uses is not in the result.

    Of a table that begins there, `rows` leaves out the lines between its header and that offset.
    """
    return list(_Parser(text, start, rows).tokens())


class _Parser:
    def __init__(self, text: str, start: int, rows: int) -> None:
        self._text = text.replace("\r\n", "\t\n")
        self._formulas = list(formulas_in(text, start))
        masked = [text[start:]]
        for formula in reversed(self._formulas):
            before = masked.pop()
            hidden = _NOT_LINE_END.sub(_LETTER, text[formula.start : formula.end])
            masked += [before[formula.end - start :], hidden, before[: formula.start - start]]
        masked.reverse()
        source = _RETURN.sub(lambda end: "\t\n" if end[1] else _LETTER, "".join(masked))
        header = _TWO_LINES.match(source) if rows else None
        shown_to = header.end() if header else len(source)
        gap = max(0, rows - start - shown_to)
        self._source = source[:shown_to] + source[shown_to + gap :]
        self._is_masked = _LETTER in self._source
        self._lines = self._source.split("\n")
        places = accumulate((len(line) + 1 for line in self._lines), initial=0)
        self._starts = [start + place + (gap if place >= shown_to else 0) for place in places]
        self._env: dict[str, object] = {}
        self._tokens = markdown().parse(self._source, self._env)
        self._marker_ends: dict[int, int] = {}
        """By line, where its last list marker ends."""
        self._shown: set[Formula] = set()

    def tokens(self) -> Iterator[Token]:
        placed = list(self._placed())
        inlines: list[Sequence[Token]] = [token.children or () for token in placed]
        levels = chain.from_iterable(
            accumulate(token.nesting for token in tokens) for tokens in (placed, *inlines)
        )
        if max(levels, default=0) >= MOST_NESTING - 1:
            yield from self._as_text(0, len(self._lines))
            return
        used = {token.meta.get("label") for inline in inlines for token in inline}
        for token in placed:
            if token.type != "definition":
                yield token
            elif token.meta["id"] in used:
                used.remove(token.meta["id"])  # one that comes again is text
            else:
                yield from self._as_text(*token.map or (0, 0))

    def _placed(self) -> Iterator[Token]:
        is_in_row = False
        for token in self._tokens:
            first, _ = token.map or (0, 0)
            token.meta["start"] = self._starts[first]
            is_in_row = is_in_row and token.type != "tr_close"
            if not is_in_row:
                self._place(token, first)
                yield token
            if token.type == "tr_open":
                is_in_row = True
                yield from self._cells(first)

    def _place(self, token: Token, first: int) -> None:
        match token.type:
            case "fence" | "code_block":
                self._place_code(token, first + (token.type == "fence"))
            case "list_item_open":
                self._place_marker(token, first)
            case "table_open":
                columns = _COLUMN.findall(self._lines[first + 1])
                self._alignments = [_ALIGNMENTS.get(column, "left") for column in columns]
                self._header = first
            case "inline":
                content = token.content.split("\n")
                starts = list(accumulate((len(line) + 1 for line in content), initial=0))[:-1]
                # the lines have lost their indents and the markers of containers
                origins = [
                    self._starts[number]
                    + self._lines[number].rfind(line.strip())
                    - (len(line) - len(line.lstrip()))
                    for number, line in enumerate(content, start=first)
                ]

                def offset_of(place: int) -> int:
                    line = bisect_right(starts, place) - 1
                    return origins[line] + place - starts[line]

                token.children = self._inline(token.content, offset_of)

    def _as_text(self, first: int, last: int) -> Iterator[Token]:
        """Yield lines as a paragraph in which nothing is syntax."""
        children: list[Token] = []
        for number in range(first, last):
            start, end = self._starts[number], self._starts[number + 1] - 1
            text = self._text[start:end].rstrip()
            children += [
                Token("text", "", 0, content=text, meta={"span": (start, start + len(text))}),
                Token("hardbreak", "br", 0, meta={"span": (end, end + 1)}),
            ]
        yield Token("paragraph_open", "p", 1, block=True, meta={"start": self._starts[first]})
        yield Token("inline", "", 0, children=children[:-1])
        yield Token("paragraph_close", "p", -1, block=True)

    def _place_code(self, token: Token, first: int) -> None:
        lines = token.content.removesuffix("\n").split("\n") if token.content else []
        ends = self._starts[first + 1 : first + 1 + len(lines)]
        token.meta["starts"] = starts = []
        for number, (line, end) in enumerate(zip(lines, ends, strict=True)):
            starts.append(end - 1 - len(line))
            if _LETTER in line:
                lines[number] = self._text[starts[-1] : end - 1]
            lines[number] = lines[number].removesuffix("\t")
        token.content = "".join(f"{line}\n" for line in lines)
        token.info = token.info.strip()
        if token.info:
            end = self._starts[first - 1] + len(self._lines[first - 1].rstrip())
            token.meta["span"] = end - len(token.info), end

    def _place_marker(self, token: Token, first: int) -> None:
        """Find the marker of an item, with the indent before it."""
        token.content = f"{token.info}{token.markup}"
        line, after = self._lines[first], self._marker_ends.get(first, 0)
        at = line.find(token.content, after)
        indent = at - max(after, len(line[:at].rstrip(" \t")))
        indent -= line[: at - indent].endswith(">")
        self._marker_ends[first] = at + len(token.content)
        start = self._starts[first] + at
        token.meta["span"] = start - indent, start + len(token.content)
        token.meta["copied"] = line[at - indent : at] + token.content
        if token.info:
            token.attrs["value"] = int(token.info)

    def _cells(self, number: int) -> Iterator[Token]:
        """Read the cells of a row again: markdown-it drops those beyond the header's."""
        line = self._lines[number]
        inside = self._marker_ends.get(number, 0)
        inside += len(line) - inside - len(line[inside:].lstrip(" \t>"))
        inside += line[inside:].startswith("|")
        row = line[inside:].rstrip()
        if row.endswith("|") and not row.endswith("\\|"):
            row = row[:-1]
        tag = "th" if number == self._header else "td"
        cells = _CELL.finditer(f"{row} ")
        for cell, alignment in zip(cells, chain(self._alignments, repeat("left"))):  # noqa: B905
            start = self._starts[number] + inside + cell.start()
            content = cell[1].strip()
            origin = start + cell[1].find(content)
            children = self._inline(content, origin.__add__)
            for token in children:
                if token.type == "code_inline":
                    token.content = token.content.replace("\\|", "|")
            opening = Token(f"{tag}_open", tag, 1, block=True, meta={"start": start})
            opening.attrs["style"] = f"text-align:{alignment}"
            yield opening
            yield Token("inline", "", 0, content=content, children=children)
            yield Token(f"{tag}_close", tag, -1, block=True)

    def _inline(self, content: str, offset_of: Callable[[int], int]) -> list[Token]:
        tokens = markdown().inline.parse(content, markdown(), self._env, [])
        return list(self._placed_inline(tokens, offset_of))

    def _placed_inline(
        self, tokens: Sequence[Token], offset_of: Callable[[int], int]
    ) -> Iterator[Token]:
        for token in tokens:
            if token.type == "text" and not token.content:
                continue  # half of a marker
            self._place_inline(token, offset_of)
            if token.type in ("text", "softbreak") and self._is_masked:
                yield from self._without_masks(token, *token.meta["span"])
            else:
                token.type = "text" if token.type == "text_special" else token.type
                yield token

    def _place_inline(self, token: Token, offset_of: Callable[[int], int]) -> None:
        start, end = token.meta["span"]
        if token.type == "image":
            inside = start + len("![")
            inner = self._placed_inline(
                token.children or (), lambda place: offset_of(inside + place)
            )
            token.children = list(inner)
            token.meta["inside"] = offset_of(inside + len(token.content))
        elif token.info == "escape":
            start = end - len(token.content)
        elif token.type == "code_inline":
            margin = (end - start - len(token.content)) // 2
            start, end = start + margin, end - margin
        token.meta["span"] = span = offset_of(start), offset_of(end)
        if token.type != "text" and _LETTER in token.content:
            token.content = self._text[slice(*span)].replace("\n", " ")
        for name, written in token.attrs.items():
            token.attrs[name] = self._unmasked(str(written))

    def _unmasked(self, written: str) -> str:
        """Return an address as it is in the source if it seems to have a formula in it."""
        at = self._source.find(written) if _LETTER in written else -1
        start = self._starts[0] + at
        return self._text[start : start + len(written)] if at >= 0 else written

    def _without_masks(self, token: Token, at: int, end: int) -> Iterator[Token]:
        """Yield a formula at its first character, and nothing at its other lines."""
        while at < end:
            number = bisect_right(self._formulas, (at, len(self._text), True)) - 1
            formula = self._formulas[number] if number >= 0 else Formula(0, 0, is_open=False)
            if at >= formula.end:
                starts = (formula.start for formula in self._formulas[number + 1 : number + 2])
                stop = min(end, *starts, end)
                content = " " if token.type == "softbreak" else self._text[at:stop]
                yield Token(token.type, "", 0, content=content, meta={"span": (at, stop)})
            else:
                stop = min(end, formula.end)
                if at == formula.start:
                    self._shown.add(formula)
                    yield self._formula(formula)
                elif formula not in self._shown:  # it begins in what turned out to be code
                    content = self._text[at:stop]
                    yield Token("text", "", 0, content=content, meta={"span": (at, stop)})
            at = stop

    def _formula(self, formula: Formula) -> Token:
        source = self._text[formula.start : formula.end]
        margin = 1 if source.startswith("$") and not source.startswith("$$") else 2
        before = source[:margin] if formula.is_open else ""
        inside = source[margin:] if formula.is_open else source[margin:-margin]
        line = self._text[self._text.rfind("\n", 0, formula.start) + 1 : formula.start]
        indent = _QUOTED_INDENT if line.lstrip().startswith(">") else _INDENT
        lines = indent.sub("\n" if source[:2] in ("$$", "\\[") else " ", inside)
        meta = {"span": (formula.start, formula.end), "copied": source, "is_math": True}
        return Token("text", "", 0, content=before + shown(lines).strip(), meta=meta)
