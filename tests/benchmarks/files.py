"""Turns and parts of files in one window: `python -m tests.benchmarks.files --data LOCOMO`.

The first 200 turns of a conversation are stored, and a manual comes with the one in the middle:
parts of Python's reference, as this interpreter has it. Both are asked about, at several limits:
how often `jit` holds what is asked for, and what its window costs; of turns, with and without it.
"""

import argparse
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from pydoc_data.topics import topics

from jitchat.attachments import Attachment
from jitchat.bench.asking import indexed
from jitchat.bench.questions import LabelledConversation, read_labelled, with_evidence
from jitchat.files.load import attachment_of
from jitchat.index.embedder import Embedder
from jitchat.index.load_embedder import load_embedder
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.attachments import AttachmentStore
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind
from tests.support import ScriptedProvider

TURNS = 200
TOPICS = (
    "formatstrings string-methods typesseq typesmapping debugger import compound numeric-types"
    " comparisons customization naming assignment strings exprlists execmodel"
)
QUESTIONS = Path(__file__).parents[1] / "data/manual_questions.json"
_HEADING = re.compile(r"^(.+)\n[*=~-]{4,}$", re.MULTILINE)


def manual() -> Attachment:
    sections = (_HEADING.sub(r"# \1", topics[name]) for name in TOPICS.split())
    return attachment_of("manual.md", "\n\n".join(sections).encode())


def beginning(talk: LabelledConversation) -> LabelledConversation:
    """Keep the first turns, and the questions that they answer."""
    turns, labels = talk.found.turns[:TURNS], talk.found.labels[:TURNS]
    asked = [each for each in talk.questions if max(each.evidence) <= len(turns)]
    return replace(
        talk, found=replace(talk.found, turns=turns, labels=labels), questions=tuple(asked)
    )


@contextmanager
def session_on(
    talk: LabelledConversation, file: Attachment | None, limit: int, embedder: Embedder
) -> Iterator[Session]:
    with indexed(talk.found, embedder, talk.asked_at) as indexed_talk:
        memory, store = indexed_talk, indexed_talk.store
        name = memory.conversation.id
        if file is not None:
            turn = store.turn(name, len(memory.turns) // 2)
            assert turn is not None
            AttachmentStore(store.database, name).put(turn, [file])
            memory = Memory(store, store.conversation(name), embedder)
            list(memory.index.catch_up())
            memory.file_parts.index_missing(memory.files)
        options = SessionOptions(budget=Budget().limited(limit, "the benchmark"))
        yield Session(memory, ScriptedProvider(), EstimateCounter(), options)


def tokens(window: ContextWindow, *kinds: Kind) -> int:
    return sum(each.tokens for each in window.segments if each.kind in kinds)


def ask_of_turns(session: Session, talk: LabelledConversation) -> tuple[int, int, int, int]:
    """Count the questions whose evidence is there; the tokens, those of parts, windows with any."""
    held = used = parts = with_parts = 0
    for question in talk.questions:
        window = session.preview(question.text, Mode.JIT)
        shown = {each.turn for each in window.segments if each.kind is not Kind.INDEX}
        held += question.evidence <= shown
        used += window.used
        parts += tokens(window, Kind.DOCUMENTS)
        with_parts += tokens(window, Kind.DOCUMENTS) > 0
    return held, used, parts, with_parts


def ask_of_manual(session: Session) -> str:
    asked = json.loads(QUESTIONS.read_text("utf-8"))
    held = used = turns = 0
    for each in asked:
        window = session.preview(each["question"], Mode.JIT)
        quoted = (part.text for part in window.segments if part.kind is Kind.DOCUMENTS)
        held += each["says"].lower() in "".join(quoted).lower()
        used += window.used
        turns += tokens(window, Kind.RETRIEVED)
    size = len(asked)
    return f"manual: {held} of {size} held, {used // size} tokens, {turns // size} of old turns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo, as JSON")
    parser.add_argument("--limits", type=int, nargs="+", default=(4_096, 16_384, 32_768))
    parser.add_argument("--conversations", type=int, default=1)
    given = parser.parse_args()
    embedder, file = load_embedder("builtin", "", None, Path()), manual()
    for talk in map(beginning, with_evidence(read_labelled(given.data))[: given.conversations]):
        for limit in given.limits:
            with session_on(talk, None, limit, embedder) as session:
                alone, spent, _, _ = ask_of_turns(session, talk)
            with session_on(talk, file, limit, embedder) as session:
                held, used, parts, with_parts = ask_of_turns(session, talk)
                told = ask_of_manual(session)
            size = len(talk.questions)
            print(
                f"limit {limit:,}: turns: {held} of {size} held ({alone} without the manual),"
                f" {used // size} tokens ({spent // size}), {parts // size} of parts in"
                f" {with_parts} windows; {told}"
            )


if __name__ == "__main__":
    main()
