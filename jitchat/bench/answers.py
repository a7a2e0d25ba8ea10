"""Has labelled questions answered and judged: the requests, their costs, and the log of replies.

The protocol is the one used for published LoCoMo figures: CORRECT or WRONG as JSON, graded
generously. The wording is jitchat's own.

The log has one JSON object per line, appended as replies arrive. An incomplete line, left by a run
that was killed while writing, is ignored. A reply belongs to its key, which covers everything that
the request depends on; the file can also contain replies of other runs.
"""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from jitchat.bench import workers
from jitchat.bench.asking import Case
from jitchat.bench.questions import Question
from jitchat.bench.scores import Answer
from jitchat.errors import BenchFailed, NotAnAnswer, ProviderError
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Provider
from jitchat.text.figures import dollars, plural
from jitchat.values import Message, Usage
from jitchat.window.tokens import TokenCounter, request_tokens

REPLY_TOKENS = 32
"""Assumed tokens of a reply that is not known yet; LoCoMo's own runs cut answers at this length."""


@dataclass(frozen=True, slots=True)
class Load:
    """Requests to be sent."""

    name: str
    requests: int
    input_tokens: int
    exact: bool
    """Whether the tokens were counted by the model's own tokenizer."""


def bill(model: str, loads: Sequence[Load], prices: Prices) -> Iterator[str]:
    """Yield lines on the loads for one model, and their cost."""
    yield f"{model}:"
    for load in loads:
        mark = "" if load.exact else "~"
        sent = f"{plural(load.requests, 'request')}, {mark}{load.input_tokens:,} tokens in"
        yield f"  {load.name}: {sent}"
    sent_cost = prices.of_input(sum(load.input_tokens for load in loads))
    replied = prices.of(Usage(0, REPLY_TOKENS * sum(load.requests for load in loads)))
    assumed = f" (at {REPLY_TOKENS} tokens per reply)" if replied is not None else ""
    yield f"  cost: in {dollars(sent_cost)}, out {dollars(replied)}{assumed}"


INSTRUCTIONS = workers.instructions(
    "question, the gold answer and the answer to grade. Be generous: an answer that is longer,"
    " or in other words, is CORRECT as long as it is about the same thing as the gold answer. A"
    " date or a time is CORRECT if it means the same day or period, in whatever form or relative"
    " to whatever day. An answer that says something else, or that it does not know, is WRONG."
)


def judge_question(question: Question, answer: str) -> tuple[Message, ...]:
    given = {"question": question.text, "gold answer": question.answer, "answer": answer}
    return workers.judge_messages(INSTRUCTIONS, given)


@dataclass(frozen=True, slots=True)
class Job:
    key: str
    messages: tuple[Message, ...]
    about: Mapping[str, object]
    """Fields that are stored with the reply, for readers of the file."""


def key_of(asked: Mapping[str, object], messages: Sequence[Message]) -> str:
    """Return a request's key: a hash of the model, the data, the mode and all messages."""
    words = [[message.role.value, message.content] for message in messages]
    text = json.dumps([dict(asked), words], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyLog:
    """The file of replies; `opened_log` opens it."""

    def __init__(self, path: Path, file: FileIO, replies: dict[str, workers.Reply]) -> None:
        self.path, self._file = path, file
        self._replies = replies
        self.first_failure: ProviderError | None = None
        """The first failure that was logged since the file was opened."""

    def get(self, job: Job | None) -> workers.Reply | None:
        """Return the reply to a request; None if it has none yet, or there is no request."""
        return self._replies.get(job.key) if job is not None else None

    def add(self, job: Job, reply: workers.Reply) -> None:
        usage = reply.usage and [reply.usage.input_tokens, reply.usage.output_tokens]
        self._write(job, {"text": reply.text, "reason": reply.reason, "usage": usage})
        self._replies[job.key] = reply

    def add_failure(self, job: Job, error: ProviderError) -> None:
        """Log why a request failed; the next run sends it again."""
        self.first_failure = self.first_failure or error
        self._write(job, {"failed": str(error)})

    def _write(self, job: Job, fields: Mapping[str, object]) -> None:
        line = json.dumps({"key": job.key, **job.about, **fields}).encode() + b"\n"
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise unusable(self.path, error.strerror) from error


@contextmanager
def opened_log(path: Path) -> Iterator[ReplyLog]:
    """Open the file, creating it and its folder if they do not exist.

    Raises:
        BenchFailed: The file cannot be read or written.

    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+", buffering=0)
    except OSError as error:
        raise unusable(path, error.strerror) from error
    with file:
        yield ReplyLog(path, file, _read(path, file))


def _read(path: Path, file: FileIO) -> dict[str, workers.Reply]:
    """Read the replies, and terminate an incomplete last line, so that the next one is separate."""
    try:
        file.seek(0)
        lines = file.readall().split(b"\n")
        if lines[-1]:
            file.write(b"\n")
    except OSError as error:
        raise unusable(path, error.strerror) from error
    replies: dict[str, workers.Reply] = {}
    for line in lines:
        try:
            fields = json.loads(line)
            key, text, reason, usage = (fields[name] for name in ("key", "text", "reason", "usage"))
            if isinstance(text, str) and isinstance(usage, list | None):
                used = Usage(*map(int, usage)) if usage else None
                replies[str(key)] = workers.Reply(text, str(reason), used)
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
            continue  # an incomplete line, a failure, or an unknown line
    return replies


def unusable(path: Path, why: str | None) -> BenchFailed:
    return BenchFailed(
        f"The answers cannot be saved in {path}: {why}.", "Name another file with --answers."
    )


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its provider, token counter, options and prices."""

    provider: Provider
    counter: TokenCounter
    options: Options
    prices: Prices
    identity: Mapping[str, object]
    """What distinguishes its replies in the log: provider, model, address, temperature."""
    lacks_key: bool = False
    """Whether it requires a key, and none is set."""
    runs_here: bool = False
    """Whether jitchat runs it: it is free, and answers one request at a time."""


GIVE_UP = 5
"""Number of consecutive failures after which the run is aborted."""


class Round:
    """Requests to one model about the cases of a run, and the replies received so far."""

    def __init__(self, name: str, model: Model, jobs: Sequence[Job | None], log: ReplyLog) -> None:
        """`jobs` has one item per case; None if there is nothing to ask yet."""
        self.name, self.model, self._jobs, self._log = name, model, jobs, log

    @property
    def requests(self) -> int:
        return sum(job is not None for job in self._jobs)

    def replies(self) -> list[workers.Reply | None]:
        """Return the reply for each case; None if there is none."""
        return list(map(self._log.get, self._jobs))

    def waiting(self) -> list[bool]:
        """Return for each case whether its request has yet to be sent."""
        return [job is not None and self._log.get(job) is None for job in self._jobs]

    async def run(self, parallel: int, advance: Callable[[int], None]) -> None:
        """Send the requests without a reply, and log each reply or failure as it arrives.

        Raises:
            BenchFailed: Too many failed in a row, or a reply cannot be saved.

        """
        jobs = [job for job in self._jobs if job is not None and self._log.get(job) is None]
        remedy = f"The replies so far are saved in {self._log.path}; run it again to continue."
        crew = workers.Workers(parallel, GIVE_UP, remedy)
        provider, options = self.model.provider, self.model.options

        async def work(_: int, share: Iterator[Job]) -> None:
            for job in share:
                try:
                    reply = await workers.reply_to(job.messages, provider, options)
                    if not reply.text:
                        raise NotAnAnswer("The model's answer is empty.")
                except ProviderError as error:
                    self._log.add_failure(job, error)
                    crew.failed(error)
                else:
                    self._log.add(job, reply)
                    crew.succeeded()
                advance(1)

        try:
            await crew.run(jobs, work)
        finally:
            await provider.aclose()
        if crew.error is not None:
            raise crew.error

    def usage(self) -> Usage | None:
        """Sum the reported usage; None unless the provider reported it for every reply."""
        used = [reply.usage for reply in self.replies() if reply is not None]
        sent = [each.input_tokens for each in used if each and each.input_tokens is not None]
        answered = [each.output_tokens for each in used if each and each.output_tokens is not None]
        if not used or len(sent) < len(used) or len(answered) < len(used):
            return None
        return Usage(sum(sent), sum(answered))


class Answering:
    """The cases of a run, with their answers and judgements."""

    def __init__(
        self,
        cases: Sequence[Case],
        answerer: Model,
        judge: Model | None,
        data: Mapping[str, object],
        log: ReplyLog,
    ) -> None:
        """`data` has the hash of the questions' file, and the sample that was drawn."""
        self._cases, self._judge, self._data, self._log = cases, judge, data, log
        jobs = [_job(answerer, case, case.messages, data) for case in cases]
        self.answers = Round("answers", answerer, jobs, log)

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds; the second judges the answers that exist when it is reached."""
        yield self.answers
        if (judging := self.judgements()) is not None:
            yield judging

    def judgements(self) -> Round | None:
        """Return the round that judges the existing answers; None if there is no judge."""
        judge, data = self._judge, self._data
        if judge is None:
            return None
        jobs = [
            _job(judge, case, judge_question(case.question, reply.text), data) if reply else None
            for case, reply in self._answered()
        ]
        return Round("judgements", judge, jobs, self._log)

    def loads(self) -> list[Load]:
        """Count the requests yet to be sent to the answerer, by mode."""
        tokens: dict[str, list[int]] = {}
        for case, is_waiting in zip(self._cases, self.answers.waiting(), strict=True):
            if is_waiting:
                tokens.setdefault(case.mode.value, []).append(case.tokens)
        exact = self.answers.model.counter.exact
        return [Load(mode, len(each), sum(each), exact) for mode, each in tokens.items()]

    def judge_loads(self) -> list[Load]:
        """Count the requests to the judge, with estimates for answers that do not exist yet."""
        if (judging := self.judgements()) is None:
            return []
        tokens: list[int] = []
        for (case, reply), is_waiting in zip(self._answered(), judging.waiting(), strict=True):
            if reply is None or is_waiting:
                messages = judge_question(case.question, reply.text if reply else "")
                guessed = 0 if reply else REPLY_TOKENS
                tokens.append(request_tokens(judging.model.counter, messages) + guessed)
        return [Load(judging.name, len(tokens), sum(tokens), exact=False)] if tokens else []

    def results(self) -> Iterator[Answer]:
        judging = self.judgements()
        judgements = judging.replies() if judging is not None else [None] * len(self._cases)
        for (case, reply), judged in zip(self._answered(), judgements, strict=True):
            correct = workers.verdict(judged.text) if judged is not None else None
            yield Answer(case.question, case.mode, reply.text if reply else None, correct)

    def _answered(self) -> list[tuple[Case, workers.Reply | None]]:
        return list(zip(self._cases, self.answers.replies(), strict=True))


def _job(model: Model, case: Case, messages: Sequence[Message], data: Mapping[str, object]) -> Job:
    asked = {**model.identity, "data": data["sha256"], "mode": case.mode.value}
    drawn = {name: data[name] for name in ("sample", "seed") if name in data}
    about = {
        **asked,
        **({"sample": drawn} if drawn else {}),  # not in the key: samples share their replies
        "talk": case.talk,
        "question": case.question.text,
        "gold": case.question.answer,
    }
    return Job(key_of(asked, messages), tuple(messages), about)
