"""Sending from a shell: the reply streams to standard output, tool calls to standard error."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jitchat import errors, events
from jitchat.attachments import Attachment
from jitchat.cli import options, output
from jitchat.cli.windows import window_fields
from jitchat.index.tool_results import result_line
from jitchat.memory import Memory
from jitchat.paths import current_folder
from jitchat.providers.provider import Finished
from jitchat.replay import sent_exchange
from jitchat.session import Session
from jitchat.store.unstored import UnstoredReplies, amount_of
from jitchat.synthesis.passes import PassReport
from jitchat.text.figures import duration
from jitchat.text.sanitize import one_line, shorten
from jitchat.tools.compacting import LARGE_MESSAGE
from jitchat.values import Mode, Status, Turn
from jitchat.window.steering import NO_MORE, Once

_LONGEST_LINE = 200
"""Maximum characters of the line about a tool call."""
_STORING_SECONDS = 10
_DUE = "Turns are due to be observed: run `jitchat observations --run`."


class _Printer:
    """Prints the events of a message, and keeps its stored turns and any error."""

    def __init__(self, memory: Memory, *, as_json: bool, place: str) -> None:
        """`place` is the conversation to report; empty if the user named it."""
        self.error: errors.JitchatError | None = None
        self.stored: list[Turn] = []
        self._memory = memory
        self._is_open_line, self._as_json, self._place = False, as_json, place

    def take(self, event: events.Event) -> None:
        match event:
            case events.ReplyDelta(text):
                self._print(text)
            case events.SendFailed():
                self._take_error(event.error)
            case events.TurnStored(turn):
                self._print_place(turn)
                self.stored.append(turn)
            case events.ToolCalled():
                self.end_line()
            case events.ToolReturned(turn):
                output.say(f"tool: {_tool_line(turn)}", err=True)
            case events.RequestAdapted(sentence) | events.LimitLearnt(_, sentence):
                self.end_line()
                output.say(one_line(sentence), err=True)
            case _:
                for sentence in _sentences_of(event):
                    self.end_line()
                    output.say(sentence, err=True)

    def _take_error(self, error: errors.JitchatError) -> None:
        """Keep an error; after a complete reply, which is stored, one of the store is a warning."""
        is_answered = self.stored[1:] and self.stored[-1].status is Status.COMPLETE
        if is_answered and isinstance(error, errors.StoreError):
            self.end_line()
            output.warn(error)
        else:
            self.error = error

    def _print(self, text: str) -> None:
        if not self._as_json:
            output.say(text, newline=False)
            self._is_open_line = not text.endswith("\n")

    def _print_place(self, turn: Turn) -> None:
        if self.stored:
            return
        files = [file for file in self._memory.files if file.turn == turn.position]
        if files:
            output.say(f"attached: {', '.join(_file_name(file) for file in files)}", err=True)
        if self._place:
            output.say(f"to {self._place}, #{turn.position}", err=True)

    def end_line(self) -> None:
        if self._is_open_line:
            output.say("")
        self._is_open_line = False


def _sentences_of(event: events.Event) -> Iterator[str]:
    """Yield a sentence for each change of memory, pending decision or warning."""
    match event:
        case events.WindowBuilt(warning=warning):
            yield from filter(None, (one_line(warning),))
        case events.MemoryUpdated(made):
            yield one_line(PassReport(made).sentence)
        case events.ObservationDue():
            yield _DUE
        case events.FactsFound(proposed, kept, failure):
            if failure:
                yield one_line(f"{failure}. The built-in rules looked for facts instead.")
            for fact in proposed:
                yield f"remember “{fact.text}”? To keep it, run `jitchat memory keep {fact.id}`."
            for fact in kept:
                yield f"remembered: “{fact.text}”. To undo, run `jitchat memory forget {fact.id}`."


@dataclass(frozen=True, slots=True)
class HowToSend:
    tools: bool = options.option("Let the model call the tools of your MCP servers.")
    compact: str | None = options.option(
        "Send only the parts of TEXT that INSTRUCTION asks for; all of TEXT is stored.",
        "INSTRUCTION",
    )
    end: bool = options.option("End the session afterwards, which writes the memory document.")
    json: bool = options.option(
        "Print a JSON object: the reply, its turns, usage, cost and window."
    )


@dataclass(frozen=True, slots=True)
class Sent:
    draft: str
    mode: Mode
    how: HowToSend
    once: Once = NO_MORE
    """With the files of the message."""
    names_conversation: bool = True
    """Whether the user named the conversation; if not, it is reported."""


async def once_for(session: Session, sent: Sent) -> Once:
    """Compact the draft if an instruction is given; if not, suggest it for a very long draft."""
    if sent.how.compact is not None:
        form = await session.compacted(sent.draft, sent.how.compact)
        return replace(sent.once, form=form)
    size = session.counter.count(sent.draft)
    if size > LARGE_MESSAGE:
        output.warn(
            f"the message has {size:,} tokens. With --compact INSTRUCTION only the relevant parts"
            " are sent; all of it is stored."
        )
    return sent.once


async def sent_and_printed(session: Session, sent: Sent) -> errors.JitchatError | None:
    """Send a message and print the reply. Return the error if there is no complete reply.

    However it ends, the partial reply is stored and the output line is closed.
    """
    conversation = session.memory.conversation
    place = "" if sent.names_conversation or sent.how.json else conversation.id
    printer = _Printer(session.memory, as_json=sent.how.json, place=place)
    try:
        if await asyncio.to_thread(session.ending.is_over):  # since the last message
            await session.ending.end_if_due()
        once = await once_for(session, sent)
        async with aclosing(session.send(sent.draft, sent.mode, once)) as told:
            async for event in told:
                printer.take(event)
        printer.error = await _store_at_last(printer, session.memory.store.unstored)
        if sent.how.end and (ended := await session.ending.end()) is not None:
            printer.end_line()
            output.say(ended.sentence, err=True)
    finally:
        printer.end_line()
        await session.aclose()
    error, stored = printer.error, printer.stored
    if sent.how.json:
        output.say_json(_fields(session, stored, error))
    if not stored or stored[-1].status is not Status.CUT:
        return error
    if error is not None:
        return errors.ReplyCut(error.what, error.remedy)
    exchange = sent_exchange(session.memory, stored[0], stored[-1])
    ending = exchange[1] if exchange is not None else None
    return _cut((ending.stop if ending is not None else None) or "")


async def _store_at_last(
    printer: _Printer, unstored: UnstoredReplies
) -> errors.JitchatError | None:
    """Retry for a while to store a reply that the store refused; return the error that remains."""
    error = printer.error
    if error is None or not unstored:
        return error
    unstored.on_stored = lambda _, turn: printer.stored.append(turn)
    printer.end_line()
    output.warn(f"{error} Storing the reply is tried for {_STORING_SECONDS} seconds.")
    for _ in range(_STORING_SECONDS):
        with suppress(errors.StoreError):
            await asyncio.to_thread(unstored.store_again)
            return error if not isinstance(error, errors.StoreError) else None
        await asyncio.sleep(1)
    lost = f"{amount_of(unstored.rests)} could not be stored."
    return errors.ReplyCut(f"{error.what} {lost}", error.remedy)


def _fields(
    session: Session, stored: Sequence[Turn], error: errors.JitchatError | None
) -> dict[str, Any]:
    """Convert an exchange to JSON values; the cost is in US dollars.

    Cost and usage are the sums over all requests for the message; the window is the last one.
    """
    said = stored[0] if stored else None
    reply = stored[-1] if stored[1:] else None
    sent = sent_exchange(session.memory, said, reply) if said is not None else None
    window, ending = sent or (None, None)
    described = None
    if window is not None:
        reported = ending.usage if ending is not None else None
        compared = session.comparison(window, reported, sent=True)
        described = window_fields(window, session.memory.conversation.id, compared)
    spent, usage = session.message_usage()
    identity = session.memory.conversation.id
    return {
        "conversation": identity,
        **output.json_fields(said, "turn=position"),
        **output.json_fields(reply, "reply=content reply_turn=position status"),
        "usage": usage,
        **output.json_fields(spent, "requests=sends cost_unknown=unknown cost_estimated=estimated"),
        "cost": spent.amount if spent.amount or not spent.unknown else None,
        **output.json_fields(ending, "stop"),
        "window": described,
        "error": str(error) if error is not None else None,
    }


def _file_name(file: Attachment) -> str:
    """Return a file's name, with its path if the name alone does not show the folder."""
    is_elsewhere = file.path and "/" not in file.name and Path(file.path).parent != current_folder()
    return one_line(f"{file.name} ({file.path})" if is_elsewhere else file.name)


def _tool_line(result: Turn) -> str:
    """Describe a tool call on one line: its arguments, its result and how long it took."""
    use = result.use
    took = f" ({duration(use.seconds)})" if use.seconds is not None else ""
    return shorten(f"{result_line(result)}{took}", _LONGEST_LINE)


def _cut(stop: str) -> errors.ReplyCut:
    """Make the error for a reply that the provider stopped; `stop` is the stored reason."""
    finished = Finished(stop.partition(":")[0])
    reason = f" ({one_line(stop)})" if stop else ""
    longer = 'Continue it with jitchat send "Go on.", or raise max_tokens under [provider].'
    remedy = longer if finished.is_by_length else finished.remedy
    return errors.ReplyCut(f"{finished.why[0].upper()}{finished.why[1:]}{reason}.", remedy)
