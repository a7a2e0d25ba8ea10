"""Text from outside: any of it can be stored, found, shown, and steers nothing."""

from __future__ import annotations

import random
import unicodedata
from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from jitchat.index.entry import index_entry
from jitchat.memory import Memory
from jitchat.text.sanitize import for_terminal, one_line, repair, shorten
from jitchat.values import Role, Turn
from tests.support import conversation_of, talk, turn

ESCAPES = (
    "\x1b[2J\x1b[H", "\x1b[31mred", "\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x1bP$q\x1b\\", "\x1b_G\x1b\\", "\x1b^x\x1b\\",
    "\x1b[?1049l", "\x1b[6n", "\x1b[>c", "\x1b[21t", "\x1b(0", "\x1bc", "\x1b[8mhidden",
    "\x9b31m", "\x9d0;title\x9c", "\x90x\x9c", "a\rb", "a\x08b", "\x07", "\x0e\x0f", "\x7f",
    "\x85", "\u202etxt.exe", "\u2066a\u2069", "a\u200bb", "\ufeff", "\U000e0041\U000e0042",
    "\x1b\x1b[\x1b]\x1bP",
)  # fmt: skip
MARKUP = (
    "[/]", "[/nope]", "[bold", "[bold red]x[/]", "[@click=app.quit]x[/]", "[link=http://e]x[/link]",
    "[on red]", "\\[", "[[", "]]", "[#ff0000]x", ":smile:", "[blink]x[/blink]", "$primary", "{x}",
    "[/bold][/italic]", "[@click=app.bell('[')]", "[b][i]x", "[]", "[ ]",
)  # fmt: skip
QUERIES = (
    '"', '""', "'", "''", "*", "a*", "(", ")", "a AND", "NOT", "a OR b", "NEAR(a b)", "content:x",
    "-a", "^a", "a + b", '"a', "{a b}: c", "\0", "a\0b", ";", "--", "/*", "%", "_", "\\", "a\"*b",
    "١٢", "²", "ﷺ", "\u0301", "😀", "\ud800", "a" * 100_000, "a " * 20_000, "' OR 1=1 --",
)  # fmt: skip
ALPHABET = (
    "ab Z9\"'*()+-^:{}[]\\/;%_\0\x01\x07\x1b\x7f\x9b\r\n\t\u200b\u202e\u2028éßǅİ日本한😀"
    "\ud800\udfff\U0010ffff"
)


def odd_texts(count: int, seed: int) -> list[str]:
    """Half of what is dangerous, half of anything."""
    chance = random.Random(seed)

    def character() -> str:
        return chance.choice((chance.choice(ALPHABET), chr(chance.randrange(0x110000))))

    return ["".join(character() for _ in range(1 + chance.randrange(40))) for _ in range(count)]


def steers(text: str) -> list[str]:
    """The characters of `text` that a terminal would obey or not show."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n"]


@pytest.mark.parametrize("payload", [*ESCAPES, *MARKUP])
def test_nothing_of_a_payload_reaches_the_terminal_as_more_than_text(payload):
    assert steers(for_terminal(payload).cells) == []
    entry = index_entry(turn(1, f"We agreed on {payload} and `{payload}` for Ann {payload}." * 3))
    for line in (entry.summary, *entry.entities, *entry.dates, one_line(payload)):
        assert "\n" not in line
        assert steers(for_terminal(line).cells) == []
    console = Console(file=StringIO(), force_terminal=True, width=500, color_system="truecolor")
    console.print(Text(for_terminal(payload).cells))
    printed = console.file.getvalue()
    assert "\x1b" not in printed


def test_no_random_text_reaches_the_terminal_as_more_than_text(rounds):
    for text in odd_texts(rounds(1_000, 10_000), seed=2):
        assert steers(for_terminal(text).cells) == []
        assert steers(for_terminal(shorten(text, 40)).cells) == []


def test_any_text_is_stored_and_comes_back(store, rounds):
    texts = odd_texts(rounds(500, 10_000), seed=3)
    made = store.create(texts[0], texts[1])
    stored = store.append(made.id, [Turn(0, Role.USER, text, None, text) for text in texts])
    assert store.turns(made.id) == stored
    assert [turn.content for turn in stored] == [repair(text) for text in texts]
    for text in texts[:50]:
        store.rename(made.id, text)
        title = store.conversation(made.id).title
        assert title == one_line(repair(text)) or title.endswith("…")
        assert steers(for_terminal(title).cells) == []


def test_any_text_is_indexed_and_searched_for(store, rounds):
    texts = [*ESCAPES, *MARKUP, *QUERIES[:-6], *odd_texts(rounds(200, 5_000), seed=4)]
    memory = Memory(store, conversation_of(store, talk(*texts)))
    assert sum(len(batch) for batch in memory.index.catch_up()) == len(texts)
    for text in texts[:: rounds(5, 1)]:
        for candidate in memory.retrieve(text, len(texts) + 1).candidates:
            assert steers(for_terminal(candidate.entry.summary).cells) == []


@pytest.mark.parametrize("query", QUERIES)
def test_no_query_is_syntax(store, query):
    made = store.create("Talk")
    store.append(made.id, talk(f"before {query[:200]} after", "a b content x"))
    for conversation, position, excerpt, *_ in store.search(query):
        assert (conversation, position in (1, 2)) == (made.id, True)
        assert steers(for_terminal(excerpt).cells) == []


def test_no_random_query_is_syntax(store, rounds):
    made = store.create("Talk")
    texts = odd_texts(rounds(500, 10_000), seed=5)
    store.append(made.id, talk(*texts[:100]))
    for text in texts:
        store.search(text)
        store.search(f"{text} a", limit=1)


def test_a_word_that_was_said_is_found_by_itself(store):
    made = store.create("Talk")
    for word in ("deploy", "don't", "naïve", "8443", "x_y", "東京都", "ไทย", "ﬁne", "Straße"):
        position = store.append(made.id, talk(f"so {word} it is"))[0].position
        assert position in {found[1] for found in store.search(word)}, word


def test_a_title_that_would_end_a_statement_is_a_title(store):
    title = "'); DROP TABLE turns; --"
    made = store.create(title, title)
    store.append(made.id, talk(title))
    store.rename(made.id, title)
    assert store.conversation(title).turns == 1
    assert store.search(title)[0][0] == made.id
