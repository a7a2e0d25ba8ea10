"""The keys of the views that have one a mode."""

from jitchat.tui.views.view import mode_bindings, mode_keys
from jitchat.values import Mode


def test_every_mode_has_a_digit_and_a_letter_of_its_own():
    bindings = list(mode_bindings("use", "what_if"))
    assert [binding.key for binding in bindings[:3]] == ["1,f", "2,r", "3,j"]
    assert [binding.id for binding in bindings] == [f"what_if_{mode}" for mode in Mode]
    keys = [key for binding in bindings for key in binding.key.split(",")]
    assert len(set(keys)) == 2 * len(Mode)


def test_a_letter_that_is_given_to_one_mode_is_no_other_modes():
    assert [*mode_keys({Mode.RECENCY: "y"}).values()][:3] == ["f", "y", "j"]
    assert mode_keys({Mode.RECENCY: "j"})[Mode.JIT] == "i"
