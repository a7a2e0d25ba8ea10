"""How fast a protocol reads: a reply never waits for its parser."""

from __future__ import annotations

import time

import pytest

from tests.providers.dialects import DIALECTS

DELTAS = 20_000


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_parser_reads_fifty_thousand_deltas_a_second(dialect):
    lines = [dialect.written(dialect.piece(f" word {n}\n")).strip() for n in range(DELTAS)]
    texts = [line.removeprefix("data: ") for line in lines]
    rates = []
    for _ in range(5):
        parser, start = dialect.protocol.parser(), time.process_time()
        pieces = [piece for text in texts for piece in parser.parse("", text)]
        rates.append(DELTAS / (time.process_time() - start))
        assert len(pieces) >= DELTAS
    assert max(rates) >= 50_000
