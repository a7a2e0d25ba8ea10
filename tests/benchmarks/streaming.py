"""How many deltas a second a streamed answer is read at, from its bytes to its pieces.

`python -m tests.benchmarks.streaming [--deltas 50000]`

Each protocol's own stream is read on one core in chunks as sockets give them, the best of five
rounds, in the core's own time. `of JSON` compares it with parsing the same JSON and doing no more.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.providers.http.decode import ResponseDecoder
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import ReplyDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jitchat.providers.provider import WireProtocol

CHUNKS = (250, 4_096, 65_536)
"""Bytes that come at once: a delta, a packet or two, and what a socket holds."""
ROUNDS = 5
WORDS = (" the", " deploy", " window", " is", " Tuesday", ",", " 14:00", "–", "16:00", "\n")


@dataclass(frozen=True, slots=True)
class Sample:
    """A protocol's stream."""

    protocol: str
    media: str
    frame: Callable[[str], str]
    """Puts one event's JSON into the stream."""
    delta: Callable[[str], object]
    """Makes one event's value from its text."""
    last: str = ""

    def events(self, count: int) -> list[str]:
        """Write the JSON of each event."""
        words = (WORDS[number % len(WORDS)] for number in range(count))
        return [json.dumps(self.delta(word), ensure_ascii=False) for word in words]


SAMPLES = (
    Sample(
        "openai",
        "text/event-stream",
        "data: {}\n\n".format,
        lambda text: {
            "id": "chatcmpl-BqCMd8nTz0Rk5VtYw3eXj1oP7LsUa",
            "object": "chat.completion.chunk",
            "created": 1_773_396_000,
            "model": "gpt-5-mini",
            "system_fingerprint": "fp_34a54ae93c",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
        },
        "data: [DONE]\n\n",
    ),
    Sample(
        "anthropic",
        "text/event-stream",
        "event: content_block_delta\ndata: {}\n\n".format,
        lambda text: {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
        'event: message_stop\ndata: {"type": "message_stop"}\n\n',
    ),
    Sample(
        "gemini",
        "text/event-stream",
        "data: {}\r\n\r\n".format,
        lambda text: {
            "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 15, "totalTokenCount": 15},
            "modelVersion": "gemini-2.5-flash",
            "responseId": "k3bTaK7YBsKpvdIPxOCBiQ8",
        },
        'data: {"candidates": [{"finishReason": "STOP"}]}\r\n\r\n',
    ),
    Sample(
        "ollama",
        "application/x-ndjson",
        "{}\n".format,
        lambda text: {
            "model": "llama3.2",
            "created_at": "2026-03-13T10:00:00.123456Z",
            "message": {"role": "assistant", "content": text},
            "done": False,
        },
        '{"message": {"content": ""}, "done": true, "done_reason": "stop"}\n',
    ),
)


def read(protocol: WireProtocol, media: str, chunks: list[bytes]) -> int:
    """Read a whole stream; the number of its deltas."""
    answer = ResponseDecoder(protocol.parser(), media)
    pieces = [piece for chunk in chunks for piece in answer.feed(chunk)]
    pieces += answer.end()
    return sum(isinstance(piece, ReplyDelta) for piece in pieces)


def best_of(work: Callable[[], object]) -> float:
    """Seconds of one core that the fastest round takes."""

    def rounds() -> Iterator[float]:
        for _ in range(ROUNDS):
            began = time.process_time()
            work()
            yield time.process_time() - began

    return min(rounds())


def measure(sample: Sample, protocol: WireProtocol, count: int) -> Iterator[str]:
    """Yield a line for each size of chunk."""
    events = sample.events(count)
    body = ("".join(map(sample.frame, events)) + sample.last).encode()
    parsing = best_of(lambda: [json.loads(event) for event in events])
    for width in CHUNKS:
        chunks = [body[start : start + width] for start in range(0, len(body), width)]
        if (deltas := read(protocol, sample.media, chunks)) != count:
            raise SystemExit(f"{sample.protocol}: {deltas} of {count} deltas were read")
        took = best_of(lambda chunks=chunks: read(protocol, sample.media, chunks))
        yield (
            f"{sample.protocol:10} {width:>7,} {len(body) / count:>9.0f}"
            f" {count / took:>10,.0f} {parsing / took:>8.0%}"
        )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=50_000)
    count = parser.parse_args().deltas
    print(f"{'protocol':10} {'chunk B':>7} {'B/delta':>9} {'deltas/s':>10} {'of JSON':>8}")
    for sample in SAMPLES:
        for line in measure(sample, protocol_named(sample.protocol), count):
            print(line)


if __name__ == "__main__":
    main()
