"""The language of a text, and stems by it."""

from __future__ import annotations

import pytest

from jitchat.text.languages import ENGLISH, language_of, languages
from jitchat.text.words import content_of, stem, stems, weight_of, words

ALIKE = (
    ("german", "Schlüssel Schlüsseln"),
    ("german", "gekündigt kündigen Kündigung"),
    ("german", "gekauft kauft kaufen"),
    ("german", "Kühlschrank Kuehlschrank"),
    ("german", "Nachbarinnen Nachbarin"),
    ("spanish", "habitación habitaciones habitacion"),
    ("spanish", "alérgica alergia"),
    ("spanish", "lápiz lápices"),
    ("french", "réservé réservées reserver"),
    ("french", "invités invitée"),
    ("french", "préfère préfèrent"),
    ("italian", "riunione riunioni"),
    ("portuguese", "coração coracoes"),
    ("dutch", "sleutel sleutels"),
    (ENGLISH, "новый новой новая"),
    (ENGLISH, "самолёт самолеты"),
    (ENGLISH, "المحفظة محفظتي"),
    (ENGLISH, "بالسيارة سيارة"),
    (ENGLISH, "اجتماعات الاجتماع"),
)


@pytest.mark.parametrize(("language", "forms"), ALIKE)
def test_forms_of_a_word_share_a_stem_in_its_language(language: str, forms: str):
    assert len({stem(word, language) for word in words(forms)}) == 1


def test_katakana_and_hiragana_are_one():
    assert stems("カタカナ") == stems("かたかな")


SAID = (
    ("german", "Wo liegt der Kellerschlüssel?"),
    ("spanish", "¿Cuál es la contraseña de los invitados?"),
    ("spanish", "cual es la clave de los invitados"),
    ("french", "Où est la clé de la cave ?"),
    ("italian", "Dove sono le chiavi della cantina?"),
    ("portuguese", "Onde estão as chaves do porão?"),
    ("dutch", "Waar zijn de sleutels van de kelder?"),
    ("swedish", "Var är nycklarna till källaren?"),
    (ENGLISH, "What did Die Hard cost in the end, and was it any good?"),
    (ENGLISH, "So will the war in Man in the High Castle end?"),
    (ENGLISH, "port 8443"),
    (ENGLISH, ""),
)


@pytest.mark.parametrize(("language", "text"), SAID)
def test_the_language_of_a_short_question_is_detected(language: str, text: str):
    assert content_of(text)[1] == language


def test_an_english_text_that_quotes_another_language_stays_english():
    text = "She said that it was called der Schlüssel, and we should look it up in the book."
    assert content_of(text)[1] == ENGLISH


def test_a_word_that_all_have_speaks_for_none():
    assert language_of(["a", "in", "no"]) == ENGLISH
    assert len(set(languages())) == len(languages())


def test_function_words_of_a_language_say_nothing():
    assert stems("Wer ist das und wo wohnt der?") == ["wohn"]
    assert stems("¿Dónde está el que tengo?") == []
    assert stems("Где же мои ключи?") == ["ключ"]
    assert stems("أين المفتاح؟") == ["مفتاح"]


def test_a_chinese_character_counts_by_itself_and_its_particles_do_not():
    assert stems("我丢了钱包")[-3:] == ["丢", "钱", "包"]
    assert weight_of("钱包") == 1.0
    assert weight_of("丢") == weight_of("我丢") < 1.0


def test_a_korean_word_of_one_syllable_is_found_with_any_particle():
    assert set(stems("표는")) & set(stems("표를"))
