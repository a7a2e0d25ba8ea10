"""Recorded answers of Anthropic and Gemini, damaged: no crash, and what came is kept."""

from __future__ import annotations

import random

import pytest

from jitchat.errors import ProviderError
from jitchat.providers.http.answer import Answer
from jitchat.providers.protocols.choose import protocol_named
from jitchat.providers.provider import Delta, Finished
from tests.providers.replay import RECORDED
from tests.providers.test_fuzzed_streams import chunked, mutated

FILES = {
    name: sorted(RECORDED.glob(f"{name}_*.sse"), key=lambda path: path.name)
    for name in ("anthropic", "gemini")
}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_answer_ends_in_an_error_of_ours_or_in_an_answer(name, rounds):
    outcomes = set()
    for seed in range(rounds(500, 10_000)):
        rng = random.Random(seed)
        whole = rng.choice(FILES[name]).read_bytes()
        answer, pieces = Answer(protocol_named(name), streamed=True), []
        try:
            for chunk in chunked(mutated(whole, rng), rng):
                pieces.extend(answer.feed(chunk))
            pieces.extend(answer.end())
        except ProviderError as error:
            outcomes.add(type(error).__name__ if error.what else f"silent: {seed}")
        else:
            assert any(isinstance(piece, Finished) for piece in pieces), seed
            outcomes.add("answer")
    assert {"answer", "StreamCut", "NotAnAnswer"} <= outcomes
    assert outcomes <= {"answer", "StreamCut", "NotAnAnswer", "RequestRefused"}


@pytest.mark.parametrize("name", FILES)
def test_text_ahead_of_the_damage_is_kept(name, rounds):
    head, *rest = (RECORDED / f"{name}_text.sse").read_bytes().partition("lo 😀".encode())
    for seed in range(rounds(200, 2_000)):
        rng = random.Random(seed)
        answer, pieces = Answer(protocol_named(name), streamed=True), []
        try:
            for chunk in (head, *chunked(mutated(b"".join(rest), rng), rng)):
                pieces.extend(answer.feed(chunk))
        except ProviderError:
            pass
        assert Delta("Hél") in pieces, seed
