"""Stems as in the official scorer; the expected ones are from NLTK 3.10's PorterStemmer."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from jitchat.bench.f1 import stem
from tests.examples import examples

_KNOWN = """
    caresses caress  ponies poni  ties tie  dies die  flies fli  died die  tried tri  cats cat
    gas ga  is is  news news  skies sky  dying die  innings inning  proceed proceed  feed feed
    agreed agre  seed seed  plastered plaster  bled bled  motoring motor  sing sing
    conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall
    hissing hiss  fizzed fizz  failing fail  filing file  owed owe  aging age  happy happi
    enjoyed enjoy  by by  try tri  relational relat  conditional condit  rational ration
    valenci valenc  digitizer digit  conformabli conform  radicalli radic  emotionally emot
    vileli vile  analogousli analog  vietnamization vietnam  operator oper  feudalism feudal
    decisiveness decis  hopefulness hope  hopefully hope  callousness callous  formaliti formal
    sensitiviti sensit  sensibiliti sensibl  ecology ecolog  logy logi  triplicate triplic
    formative form  formalize formal  electriciti electr  electrical electr  goodness good
    revival reviv  allowance allow  airliner airlin  adjustable adjust  defensible defens
    irritant irrit  replacement replac  adjustment adjust  dependent depend  adoption adopt
    decision decis  union union  homologou homolog  communism commun  angulariti angular
    effective effect  bowdlerize bowdler  probate probat  rate rate  cease ceas  ate ate
    controlling control  roll roll  generously gener  yyy yyy  2022 2022  café café
"""
KNOWN = _KNOWN.split()


def test_a_word_has_the_stem_that_the_official_scorer_gives_it():
    known = dict(zip(KNOWN[::2], KNOWN[1::2], strict=True))
    assert {word: stem(word) for word in known} == known


@examples(30)
@given(st.text(string.ascii_lowercase + "'é", max_size=40))
def test_any_word_has_a_stem_no_longer_than_itself_but_for_an_e(word: str):
    assert len(stem(word)) <= len(word)
    assert bool(stem(word)) == bool(word)


def test_a_long_run_of_one_letter_is_no_trouble():
    assert stem("y" * 50_000).startswith("yyy")
