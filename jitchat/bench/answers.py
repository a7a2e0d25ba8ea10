"""Has labelled questions answered and judged: the requests, their costs, and the log of replies.

The protocol is the one used for published LoCoMo figures: CORRECT or WRONG as JSON, graded
generously. The wording is jitchat's own.

The log has one JSON object per line, appended as replies arrive. An incomplete line, left by a run
that was killed while writing, is ignored. A reply belongs to its key, which covers everything that
the request depends on; the file can also contain replies of other runs.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from jitchat.bench import prompt, workers
from jitchat.bench.asking import Case
from jitchat.bench.questions import ABSTENTION, Question
from jitchat.bench.scores import Answer
from jitchat.errors import BenchFailed, NotAnAnswer, ProviderError, reported
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Provider
from jitchat.settings.profiles import Profile
from jitchat.text.figures import dollars, plural
from jitchat.values import Message, Usage
from jitchat.window.tokens import TokenCounter, request_tokens

REPLY_TOKENS = 32
"""Assumed tokens of a reply that is not known yet; LoCoMo's own runs cut answers at this length."""
ASSUMED_ANSWER = "word " * REPLY_TOKENS


_UNSAVED = "The answers cannot be saved in {path}"
_ANOTHER_FILE = "Name another file with --answers."


def bill(model: str, loads: Mapping[str, Sequence[int]], prices: Prices) -> Iterator[str]:
    """Yield lines on the requests to one model, and their cost.

    `loads` has the tokens of each request, by what is asked.
    """
    yield f"{model}:"
    for name, tokens in loads.items():
        yield f"  {name}: {plural(len(tokens), 'request')}, ~{sum(tokens):,} tokens in"
    requests = [tokens for load in loads.values() for tokens in load]
    sent_cost = prices.of_input(sum(requests))
    replied = prices.of(Usage(0, REPLY_TOKENS * len(requests)))
    assumed = "" if replied is None else f" (at {REPLY_TOKENS} tokens per reply)"
    yield f"  cost: in {dollars(sent_cost)}, out {dollars(replied)}{assumed}"


def judge_question(question: Question, answer: str) -> tuple[Message, ...]:
    given = {"question": question.text, "gold answer": question.answer, "answer": answer}
    return workers.judge_messages(prompt("generously"), given)


@dataclass(frozen=True, slots=True)
class Job:
    """A request to be sent."""

    key: str
    messages: tuple[Message, ...]
    about: Mapping[str, object]
    """Fields that are stored with the reply, for readers of the file."""
    load: str = ""
    """What it is listed under in the bill."""
    tokens: int = 0


def key_of(asked: Mapping[str, object], messages: Sequence[Message]) -> str:
    """Return a request's key: a hash of the model, the data, the mode and all messages."""
    words = [[message.role.value, message.content] for message in messages]
    text = json.dumps([dict(asked), words], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyLog:
    """The file of replies; `opened_log` opens it."""

    def __init__(self, path: Path, file: FileIO, replies: dict[str, workers.Reply]) -> None:
        self.path, self._file, self._replies = path, file, replies
        self.first_failure: ProviderError | None = None
        """The first failure that was logged since the file was opened."""

    def get(self, job: Job) -> workers.Reply | None:
        """Return the reply to a request; None if it has none yet."""
        return self._replies.get(job.key)

    def add(self, job: Job, reply: workers.Reply) -> None:
        usage = reply.usage and [reply.usage.input_tokens, reply.usage.output_tokens]
        self._write(job, {"text": reply.text, "reason": reply.reason, "usage": usage})
        self._replies[job.key] = reply

    def add_failure(self, job: Job, error: ProviderError) -> None:
        """Log why a request failed; the next run sends it again."""
        self.first_failure = self.first_failure or error
        self._write(job, {"failed": str(error)})

    def _write(self, job: Job, fields: Mapping[str, object]) -> None:
        line = json.dumps({"key": job.key, **job.about, **fields})
        with reported(BenchFailed, _UNSAVED.format(path=self.path), _ANOTHER_FILE):
            self._file.write(f"{line}\n".encode())


@contextmanager
def opened_log(path: Path) -> Iterator[ReplyLog]:
    """Open the file, creating it and its folder if they do not exist.

    Raises:
        BenchFailed: The file cannot be read or written.

    """
    with reported(BenchFailed, _UNSAVED.format(path=path), _ANOTHER_FILE):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+", buffering=0)
    with file:
        yield ReplyLog(path, file, _read(path, file))


def _read(path: Path, file: FileIO) -> dict[str, workers.Reply]:
    """Read the replies, and terminate an incomplete last line, so that the next one is separate."""
    with reported(BenchFailed, _UNSAVED.format(path=path), _ANOTHER_FILE):
        file.seek(0)
        lines = file.readall().split(b"\n")
        if lines[-1]:
            file.write(b"\n")
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


def unusable(path: Path, why: str) -> BenchFailed:
    return BenchFailed(f"{_UNSAVED.format(path=path)}: {why}.", _ANOTHER_FILE)


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its provider, token counter, options and prices."""

    provider: Provider
    counter: TokenCounter
    options: Options
    prices: Prices
    identity: Mapping[str, object]
    """What distinguishes its replies in the log: provider, model, address, temperature."""
    profile: Profile


GIVE_UP = 5
"""Number of consecutive failures after which the run is aborted."""


class Round:
    """Requests to one model about the cases of a run, and the replies received so far."""

    def __init__(self, name: str, model: Model, jobs: Mapping[int, Job], log: ReplyLog) -> None:
        """`jobs` are the requests by the number of the case; there can be cases without one."""
        self.name, self.model, self.jobs, self._log = name, model, jobs, log

    def replies(self) -> dict[int, workers.Reply]:
        """Return the replies by the number of the case."""
        replies = {number: self._log.get(job) for number, job in self.jobs.items()}
        return {number: reply for number, reply in replies.items() if reply is not None}

    def waiting(self) -> list[Job]:
        """Return the requests without a reply."""
        return [job for job in self.jobs.values() if self._log.get(job) is None]

    def loads(self) -> dict[str, list[int]]:
        """Return the tokens of each request without a reply, by what it is listed under."""
        loads: dict[str, list[int]] = {}
        for job in self.waiting():
            loads.setdefault(job.load, []).append(job.tokens)
        return loads

    async def run(self, parallel: int, advance: Callable[[int], None]) -> None:
        """Send the requests without a reply, and log each reply or failure as it arrives.

        Raises:
            BenchFailed: Too many failed in a row, or a reply cannot be saved.

        """
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
            await crew.run(self.waiting(), work)
        finally:
            await provider.aclose()
        if crew.error is not None:
            raise crew.error

    def usage(self) -> Usage | None:
        """Sum the reported usage; None unless the provider reported it for every reply."""
        sent = received = 0
        usages = [reply.usage for reply in self.replies().values()]
        for usage in usages:
            if usage is None or usage.input_tokens is None or usage.output_tokens is None:
                return None
            sent += usage.input_tokens
            received += usage.output_tokens
        return Usage(sent, received) if usages else None


@dataclass(frozen=True, slots=True)
class Answering:
    """The cases of a run, with their answers and judgements."""

    cases: Sequence[Case]
    answerer: Model
    judge: Model | None
    data: Mapping[str, object]
    """The hash of the questions' file, and the sample that was drawn."""
    log: ReplyLog

    def answers(self) -> Round:
        jobs = {
            number: self._job(self.answerer, case, case.messages, case.mode.value, case.tokens)
            for number, case in enumerate(self.cases)
        }
        return Round("answers", self.answerer, jobs, self.log)

    def judgements(self, assumed: str | None = None) -> Round | None:
        """Return the round that judges the answers; None if there is no judge.

        `assumed` stands for each missing answer; without it, missing answers are not judged.
        Whether nothing was said needs no judge.
        """
        judge = self.judge
        if judge is None:
            return None
        name = "judgements"
        replies = self.answers().replies()
        jobs = {}
        for number, case in enumerate(self.cases):
            answer = replies[number].text if number in replies else assumed
            if answer is not None and case.question.category != ABSTENTION:
                messages = judge_question(case.question, answer)
                tokens = request_tokens(judge.counter, messages)
                jobs[number] = self._job(judge, case, messages, name, tokens)
        return Round(name, judge, jobs, self.log)

    def _job(
        self, model: Model, case: Case, messages: Sequence[Message], load: str, tokens: int
    ) -> Job:
        asked = {**model.identity, "data": self.data["sha256"], "mode": case.mode.value}
        sample = {name: self.data[name] for name in ("sample", "seed") if name in self.data}
        about = {
            **asked,
            "sample": sample,  # not in the key: samples share their replies
            "talk": case.talk,
            "question": case.question.text,
            "gold": case.question.answer,
        }
        return Job(key_of(asked, messages), tuple(messages), about, load, tokens)

    def rounds(self, assumed: str | None = None) -> Iterator[Round]:
        """Yield the rounds; the second judges the answers that exist when it is reached."""
        yield self.answers()
        judging = self.judgements(assumed)
        if judging is not None:
            yield judging

    def results(self) -> Iterator[Answer]:
        replies = self.answers().replies()
        judging = self.judgements()
        judgements = judging.replies() if judging is not None else {}
        for number, case in enumerate(self.cases):
            text = replies[number].text if number in replies else None
            judged = judgements.get(number)
            correct = workers.verdict(judged.text) if judged is not None else None
            yield Answer(case.question, case.mode, text, correct)
