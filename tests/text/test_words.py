"""Words and stems: what the index and a query agree on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.languages import english_function_words
from jitchat.text.words import (
    LONGEST,
    content_of,
    content_words,
    fold,
    is_unspaced,
    stem,
    stems,
    words,
)
from tests.examples import examples

quick = examples(30)


def test_words_are_folded_to_lower_case_without_accents():
    assert words("Crème Brûlée, ŁÓDŹ and İstanbul") == [
        "creme",
        "brulee",
        "lodz",
        "and",
        "istanbul",
    ]


def test_a_contraction_is_one_word_whatever_its_apostrophe():
    assert words("don’t can't O'Neil's") == ["don't", "can't", "o'neil", "s"]


def test_letters_that_are_written_in_several_ways_are_one():
    assert words("Straße, Ærø, Œuvre, ısparta") == ["strasse", "aero", "oeuvre", "isparta"]
    assert words("ＡＢ１２ 𝐂𝟑") == ["ab12", "c3"]


def test_points_and_vowel_signs_are_no_break_in_a_word():
    assert words("مُحَمَّد") == words("محمد")
    assert words("שָׁלוֹם") == words("שלום")
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert words("ที่นี่") == ["ที", "ี่", "่น", "นี", "ี่"]


def test_figures_and_letters_stay_together():
    assert words("port 8443 on v2 of x_y") == ["port", "8443", "on", "v2", "of", "x", "y"]


def test_scripts_without_blanks_become_bigrams():
    assert words("東京都") == ["東京", "京都"]
    assert words("私はPython3を使う") == ["私は", "python3", "を使", "使う"]
    assert words("日") == ["日"]
    assert is_unspaced("ไทย")
    assert not is_unspaced("한국어 Ελληνικά")


def test_korean_becomes_bigrams_too_for_its_particles_are_joined():
    assert words("강남역에서 시") == ["강남", "남역", "역에", "에서", "시"]
    assert set(stems("강남역")) <= set(stems("강남역에서"))


def test_of_an_identifier_each_two_that_are_joined_are_matched_too():
    assert content_words("std::sync::mpsc") == ["std", "sync", "mpsc", "std::sync", "sync::mpsc"]
    assert content_words("is_not") == ["is_not"]
    assert content_words("v3.11") == ["v3", "11", "v3.11"]
    assert content_words("a.rs:88") == ["rs", "88", "a.rs", "rs:88"]
    assert content_words("see 9dad-11d1!") == ["see", "9dad", "11d1", "9dad-11d1"]
    assert content_words("use --no-verify or --force") == [
        *("use", "verify", "force"),
        *("--no-verify", "--force"),
    ]
    assert content_words("C++ is not C#") == ["c", "c", "c++", "c#"]


def test_a_stretch_of_an_identifier_is_matched_by_all_of_it():
    whole = set(stems("at com.acme.billing.InvoiceService.close(InvoiceService.java:214)"))
    assert set(stems("InvoiceService.close")) <= whole
    assert set(stems("close.InvoiceService")) - whole == {stem("close.invoiceservice")}


def test_words_with_a_hyphen_are_words_and_the_end_of_a_sentence_joins_nothing():
    assert content_words("A self-made cake. Eaten... gone!") == [
        *("self", "made", "cake"),
        *("eaten", "gone"),
    ]


def test_what_an_apostrophe_joins_to_a_word_hides_it_not():
    assert content_words("L’église") == ["l'eglise", "eglise"]
    assert content_words("Diyarbakır'a") == ["diyarbakir'a", "diyarbakir"]
    assert content_words("don't, Ann's, Mum'd") == ["ann's", "mum'd"]


def test_a_query_finds_what_it_shares_with_a_longer_run():
    assert set(stems("京都")) & set(stems("東京都庁"))


def test_words_that_say_nothing_are_left_out():
    assert content_words("What is the deploy window?") == ["deploy", "window"]
    assert "the" in english_function_words()


def test_inflections_share_a_stem_and_so_does_a_genitive():
    assert stem("deployed") == stem("deploying") == stem("deploys")
    assert stem("melanie's") == stem("melanie")
    assert stem("東京") == "東京"


def test_stems_keep_their_order_and_repeats():
    assert stems("Dogs and a dog") == ["dog", "dog"]


def test_a_run_of_data_is_cut_to_the_length_of_a_word():
    assert words("x" * 100_000 + " end") == ["x" * LONGEST, "end"]


def test_nothing_has_no_words():
    assert [words(text) for text in ("", " \n", "—!?…", "\u0301\u0302")] == [[], [], [], []]


@quick
@given(st.text(max_size=120))
def test_folding_again_changes_no_word(text):
    assert words(fold(text)) == words(text)


@quick
@given(st.text(max_size=300))
def test_every_stem_of_a_text_is_found_by_the_text_itself(text):
    assert all(0 < len(each) <= LONGEST for each in words(text))
    found, language = content_of(text)
    assert set(stems(text)) == {stem(word, language) for word in found}


def test_irregular_forms_share_the_stem_of_their_base_form():
    assert stems("bought children went written") == stems("buy child goes write")
