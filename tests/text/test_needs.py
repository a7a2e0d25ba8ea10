"""Which drafts may need nothing, and which are always searched for."""

from __future__ import annotations

import pytest

from jitchat.text.needs import need_of

SET_PHRASES = {
    "thanks!": "thanks",
    "Thanks, Anna": "thanks",
    "Merci beaucoup !": "thanks",
    "Thank you so much for the quick help with the parser!": "thanks",
    "谢谢你的帮助": "thanks",
    "谢谢！": "thanks",
    "Good morning everyone": "a greeting",
    "안녕하세요": "a greeting",
    "bye, see you tomorrow": "a goodbye",
    "please continue": "a request to go on",
    "続けてください": "a request to go on",
    "yes please": "a stock reply",
    "Hahahaha, nice one": "a stock reply",
    "great, that worked!": "a stock reply",
    "👍❤️": "a message without words",
}


@pytest.mark.parametrize(("draft", "kind"), SET_PHRASES.items())
def test_a_message_of_set_phrases_needs_nothing(draft: str, kind: str):
    need = need_of(draft)
    assert need is not None
    assert (need.kind, need.is_certain) == (kind, True)


@pytest.mark.parametrize(
    "draft",
    [
        "write a haiku",
        "please write a short poem about the sea",
        "tell me a joke",
        "sort these numbers: 3 1 2",
        "rewrite this sentence: the cat sat on the mat",
        "translate 'good night' into French",
        "schreib ein Gedicht über den Herbst",
        "escribe un poema corto",
    ],
)
def test_a_task_that_refers_to_nothing_is_self_contained(draft: str):
    need = need_of(draft)
    assert need is not None
    assert need.makes
    assert not need.is_certain


@pytest.mark.parametrize(
    "draft",
    [
        "explain quicksort",
        "what is photosynthesis?",
        "how do I boil an egg?",
        "who wrote Hamlet?",
        "what's the difference between TCP and UDP?",
        "why is the sky blue?",
        "写一首诗",
        "俳句を書いて",
    ],
)
def test_a_question_of_general_knowledge_is_self_contained(draft: str):
    need = need_of(draft)
    assert need is not None
    assert not need.is_certain


@pytest.mark.parametrize(
    "draft",
    [
        "what is the wifi password?",
        "wifi password",
        "which editor do I use?",
        "write the email to Hamburg we talked about",
        "write the release notes for our last sprint",
        "explain the deploy script again",
        "translate that letter into German",
        "and the colour?",
        "make it shorter",
        "translate that into German",
        "explain that",
        "what's your name?",
        "remind me to call Ann",
        "continue the story",
        "same again for Berlin",
        "fix the bug",
        "why?",
        "thanks, and what was the port?",
        "thanks for the port, and where is the key?",
        "where did I park?",
        "sort these numbers",
        "how many hours have I worked?",
        "我的密码是什么？",
        "パスワードは何ですか？",
        "비밀번호가 뭐예요?",
        "Wo ist mein Schlüssel?",
        "",
        "thanks " * 200,
    ],
)
def test_what_may_refer_to_what_was_said_is_of_no_kind(draft: str):
    assert need_of(draft) is None


def test_a_question_about_a_speaker_is_of_no_kind():
    assert need_of("how many cats does Ann have?") is not None
    assert need_of("how many cats does Ann have?", frozenset({"ann"})) is None
    assert need_of("how old is Ann's cat?", frozenset({"ann"})) is None


@pytest.mark.parametrize(
    ("draft", "is_definite"),
    [
        ("explain the deploy script", True),
        ("how do I deploy?", True),
        ("write a haiku", False),
        ("write a letter to the landlord", True),
        ("write a poem about the sea", False),
    ],
)
def test_what_is_spoken_of_as_known_is_marked(draft: str, is_definite: bool):
    need = need_of(draft)
    assert need is not None
    assert need.is_definite is is_definite


def test_words_with_a_capital_are_names_in_any_script():
    need = need_of("напиши письмо для Анны")
    assert need is not None
    assert need.names == {"анны"}
