"""What a query finds, and what the excerpt shows of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.attachments import Attachment, Part, digest_of_bytes
from jitchat.store import search
from jitchat.store.attachments import AttachmentStore
from jitchat.store.pins import OwnInstructions
from jitchat.store.replies import ReplyWriter
from jitchat.store.search import Filter
from jitchat.text.search_tokens import fold, fold_in_place, terms
from jitchat.values import Instructions, Role, Status, ToolCall, ToolUse, Turn
from tests.examples import examples
from tests.support import conversation_of, talk, turn

FOUND = [
    ("我想使用Python编写", ["Python", "python", '"Python"', "使用Python编", "写", "使"]),
    ("他使用Python。", ['"使用Python"', "用Python", '"用Python"', "他"]),
    ("HTTP500错误", ["HTTP500", "http500", "错误", "HTTP"]),
    ("今天的秃发，怎么办？", ["秃发", '"秃发"', "秃发？", "(秃发)", "「秃发」", "“秃发”"]),
    ("東京で会議。", ["「東京」", '"会議"', "京", "議", "東京 会議", '"東京で会議"']),
    ("ＤＶＤとｶﾞｷﾞ", ["DVD", "dvd", "ガギ", "ガ"]),
    ("ÉCOLE学校 ПРИВЕТ世界", ["école", "ecole", "привет", "世界"]),
    ("도서관에서 책을", ["도서관", "서관", "책", '"도서관에서 책을"']),
    ("ภาษาไทยง่าย", ["ไทย", "ง่าย", '"ภาษาไทย"', "ย"]),
    ("Python 3.11.4 in C++ and C#, notepad++", ["3.11", "3.11.4", "C++", "C#", "notepad++"]),
    ("see /etc/nginx/nginx.conf", ["/etc/nginx/nginx.conf", "nginx.conf", "conf", "nginx"]),
    ("https://example.org/a?b=1#top", ["https://example.org/a?b=1#top", "example.org", "top"]),
    ("parse_user_id(x)", ["parse_user_id", "user_id", "user", "parse_user_id(x)"]),
    ("so 👍🏽 and 🇩🇪 and ❤️", ["👍🏽", "👍", "🇩🇪", "❤️", "❤"]),
    ("Straße, Größe", ["strasse", "STRASSE", "straße", "grosse", "Größe"]),
    ("ﬁne oﬃce", ["fine", "office"]),
    ("Ёлка и йод", ["елка", "ёлка", "йод"]),
    ("Άγιος ΟΔΟΣ", ["αγιος", "οδος", "οδός"]),
    ("السَّلامُ عليكم", ["السلام", "السَّلامُ"]),
    ("שָׁלוֹם צה\"ל", ["שלום", 'צה"ל']),
    ("Donau\u00addampf zero\u200bwidth", ["donaudampf", "zerowidth"]),
    ("हिन्दी में लिखा", ["हिन्दी", '"हिन्दी में"']),
    ("We deployed the services", ["deploying", "service", "deplo", '"deployed the services"']),
    ("don't stop l'été", ["don't", "don’t", "été", "ete", "l'été"]),
    ("what, (the) *harbour*?", ["harbour", "(harbour)", "harbour?", "*harbour*", '"the harbour"']),
]  # fmt: skip
NOT_FOUND = [
    ("Йод и йогурт", ["иод", "иогурт"]),
    ("がっこう", ["かっこう"]),
    ("We deployed the services", ['"deploy the service"', '"services the"', '"deployed services"']),
    ("C++ and C#", ["F#", "cat"]),
    ("cat and car", ["C++", "C#", "c"]),
    ("東京都", ["京東", '"東都"', "東京 大阪"]),
    ("使用 Python", ["使用Ruby"]),
]


@pytest.mark.parametrize(("text", "queries"), FOUND)
def test_a_text_is_found_as_it_stands_and_in_its_folded_forms(store, text, queries):
    made = conversation_of(store, talk("Something else entirely.", text))
    for query in queries:
        (match,) = store.search(query)
        assert match[:2] == (made.id, 2), query
        assert match.marks, query
        shown = "".join(match.excerpt[start:end] for start, end in match.marks)
        wanted = "".join(terms(query.strip('"“”「」')))
        assert set(fold(shown)) & set(wanted), (query, shown)


@pytest.mark.parametrize(("text", "queries"), NOT_FOUND)
def test_what_differs_is_not_found(store, text, queries):
    conversation_of(store, talk(text))
    assert [query for query in queries if store.search(query)] == []


def test_punctuation_alone_finds_nothing(store):
    conversation_of(store, talk("what? (no)"))
    assert [store.search(query) for query in ("?", "()", '""', "“”", " ", "...")] == [[]] * 6


def with_everything(store):
    """A conversation with a word of its own in each place that is searched."""
    made = store.create("The titular heading")
    store.tag(made.id, ["tagged"])
    OwnInstructions(store.database).put(made.id, Instructions("You are systematic."))
    arguments = json.dumps({"path": "/srv/argued.txt", "nested": [{"deep": "line\nbelow 中文"}]})
    call = ToolCall("1", "write_beacon", arguments)
    turns = [
        Turn(0, Role.USER, "spoken"),
        Turn(0, Role.ASSISTANT, "", use=ToolUse(calls=(call,))),
        Turn(0, Role.TOOL, "resulting", use=ToolUse(answers=call)),
    ]
    said, *_ = store.append(made.id, turns)
    data = b"attached text"
    file = Attachment(
        "plan_of_files.md", digest_of_bytes(data), "text/markdown", len(data),
        parts=(Part("§ Heading of part", "attached text", "Chapter"),), data=data,
    )  # fmt: skip
    AttachmentStore(store.database, made.id).put(said, (file,))
    writer = ReplyWriter(store, made.id)
    writer.add_reasoning("pondered")
    writer.add("answered")
    writer.finish(Status.COMPLETE)
    store.append(made.id, [Turn(0, Role.USER, "branched")], under=0)
    return made


EVERYWHERE = {
    "spoken": (1, ""), "write_beacon": (2, "tool call"), "argued.txt": (2, "call of write_beacon"),
    "below": (2, "call of write_beacon"), "中文": (2, "call of write_beacon"),
    "nested": (2, "call of write_beacon"), "resulting": (3, ""),
    "plan_of_files": (1, "plan_of_files.md"), "attached": (1, "plan_of_files.md"),
    "chapter": (1, "plan_of_files.md"), "pondered": (4, "reasoning"), "answered": (4, ""),
    "branched": (5, ""), "titular": (0, "title"), "tagged": (0, "tag"),
    "systematic": (0, "system prompt"),
}  # fmt: skip


def test_all_parts_of_turns_and_conversations_are_searched(store):
    made = with_everything(store)
    for word, (position, part) in EVERYWHERE.items():
        matches = store.search(word)
        assert (made.id, position) in {match[:2] for match in matches}, word
        (match,) = [match for match in matches if match.position == position]
        assert match.part == part, word
        marked = [fold(match.excerpt[start:end]) for start, end in match.marks]
        assert any(fold(word) in text or fold(word).startswith(text) for text in marked), word


def test_within_one_conversation_only_turns_are_found(store):
    made = with_everything(store)
    assert store.search("titular", conversation=made.id) == []
    assert [match.position for match in store.search("spoken", conversation=made.id)] == [1]


def test_filters_apply_to_turns_and_to_what_belongs_to_the_conversation(store):
    made, other = with_everything(store), conversation_of(store, talk("spoken, titular"))
    tagged = Filter(tags=("tagged",))
    assert {match[0] for match in store.search("spoken")} == {made.id, other.id}
    assert {match[0] for match in store.search("spoken", where=tagged)} == {made.id}
    assert {match[:2] for match in store.search("titular", where=tagged)} == {(made.id, 0)}


def test_an_excerpt_is_cut_from_the_stored_text_around_the_match(store):
    text = f"{'blah ' * 400}the ＨＡＲＢＯＵＲ of Straße {'blah ' * 400}"
    conversation_of(store, talk(text))
    for query, marked in (
        ("harbour", "ＨＡＲＢＯＵＲ"),
        ("strasse", "Straße"),
        ('"of strasse"', "of Straße"),
    ):
        (match,) = store.search(query)
        ((start, end),) = match.marks
        assert match.excerpt[start:end] == marked
        assert match.excerpt.strip("…") in text
        assert len(match.excerpt) <= 161


@pytest.mark.parametrize("word", ["lying", "lies", "lie", "skies", "sky", "happy", "ugly", "is"])
def test_an_excerpt_marks_words_that_differ_from_their_stems(store, word):
    conversation_of(store, talk(f"{'blah ' * 300}{word} blah"))
    for query in {word, {"lie": "lying", "sky": "skies"}.get(word, word)}:
        (match,) = store.search(query)
        assert [match.excerpt[start:end] for start, end in match.marks] == [word]


def test_an_excerpt_shows_as_many_of_the_words_together_as_there_are(store):
    conversation_of(store, talk(f"harbour {'blah ' * 300} wall {'blah ' * 300} harbour wall"))
    (match,) = store.search("harbour wall")
    assert [match.excerpt[start:end] for start, end in match.marks] == ["harbour", "wall"]


def test_a_turn_without_a_time_is_before_all_dates_as_in_the_open_conversation(store):
    dated = replace(turn(1, "harbour"), created_at=datetime(2026, 3, 1, tzinfo=UTC))
    conversation_of(store, [dated, turn(2, "harbour")])
    turns = store.turns("chat-1")
    for where in (Filter(after=date(1999, 1, 1)), Filter(before=date(1999, 1, 1))):
        found = {match.position for match in store.search("harbour", where=where)}
        assert found == {one.position for one in turns if where.has(one.created_at)}


def test_beyond_the_most_that_is_ranked_the_newest_come_first(store, monkeypatch):
    monkeypatch.setattr(search, "MOST_RANKED", 3)
    conversation_of(store, talk("harbour", "harbour harbour", "harbour"))
    assert store.search("harbour").notice == ""
    conversation_of(store, talk("harbour"))
    matches = store.search("harbour")
    assert [match[:2] for match in matches] == [("chat-2", 1), *(("chat-1", n) for n in (3, 2, 1))]
    assert matches.notice == "More than 3 matches: the newest come first."
    store.database.execute("INSERT INTO search_backlog VALUES (100, 100)")
    assert store.search("harbour").notice == (
        "More than 3 matches: the newest come first."
        " The search index is being built, with 1 turn still to come."
    )


@examples(300)
@given(st.text(), st.text())
def test_folding_is_the_same_for_a_part_of_a_text_and_once_done(before, after):
    assert fold(fold(before)) == fold(before)
    assert fold(f"{before} {after}") == f"{fold(before)} {fold(after)}"
    folded, origins = fold_in_place(before)
    assert folded == fold(before)
    assert len(origins) == len(folded)
