"""A model answers the questions of a run and another judges: what is sent, what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitchat.bench.answer_scores import Answer
from jitchat.bench.asking import Asker
from jitchat.bench.cases import Case
from jitchat.bench.cost import REPLY_TOKENS, Load, Price
from jitchat.bench.judge import judge_messages, verdict
from jitchat.bench.replies import Job, Reply, ReplyLog, key_of
from jitchat.providers.provider import Options, Provider
from jitchat.turn import Message, Usage
from jitchat.window.tokens import TokenCounter, request_tokens


@dataclass(frozen=True, slots=True)
class Model:
    """Who is asked, and on what terms."""

    provider: Provider
    counter: TokenCounter
    options: Options
    price: Price
    identity: Mapping[str, object]
    """What tells its replies from another's: provider, model, address, temperature."""
    lacks_key: bool = False
    """It answers nobody without a key, and there is none."""


class Round:
    """Requests to one model about some cases, and the replies that are there already."""

    def __init__(
        self,
        model: Model,
        asked: Sequence[tuple[Case, Sequence[Message]]],
        data: str,
        log: ReplyLog,
    ) -> None:
        """`data` is the hash of the questions' file."""
        self.model, self._log = model, log
        self._jobs = [_job(model, case, messages, data) for case, messages in asked]

    def waiting(self) -> list[bool]:
        """Tell of each case whether its request is still to be sent."""
        return [self._log.get(job) is None for job in self._jobs]

    def replies(self) -> list[Reply | None]:
        """List the reply on each case."""
        return [self._log.get(job) for job in self._jobs]

    async def run(self, parallel: int, advance: Callable[[int], None]) -> None:
        """Send what has no reply yet.

        Raises:
            BenchFailed: Too many requests failed, or replies cannot be kept.

        """
        jobs = [job for job in self._jobs if self._log.get(job) is None]
        asker = Asker(self.model.provider, self.model.options, parallel, self._log)
        try:
            await asker.ask(jobs, advance)
        finally:
            await self.model.provider.aclose()

    def usage(self) -> Usage | None:
        """Add up what the provider reported; None where it did not for each reply."""
        told = [reply.usage for reply in self.replies() if reply is not None]
        sent = [each.input_tokens for each in told if each and each.input_tokens is not None]
        answered = [each.output_tokens for each in told if each and each.output_tokens is not None]
        if not told or len(sent) < len(told) or len(answered) < len(told):
            return None
        return Usage(sum(sent), sum(answered))


class Answering:
    """Every case of a run, its answer and its judgement."""

    def __init__(
        self, cases: Sequence[Case], answerer: Model, judge: Model | None, data: str, log: ReplyLog
    ) -> None:
        self._cases, self._judge, self._data, self._log = cases, judge, data, log
        self.answers = Round(answerer, [(case, case.messages) for case in cases], data, log)

    def judgements(self) -> Round | None:
        """Make the round that judges the answers that are there; None where nobody judges."""
        if self._judge is None:
            return None
        asked = [
            (case, judge_messages(case.question, reply.text))
            for case, reply in zip(self._cases, self.answers.replies(), strict=True)
            if reply is not None
        ]
        return Round(self._judge, asked, self._data, self._log)

    def loads(self) -> list[Load]:
        """Count what is still to be sent to the answerer, by mode."""
        pairs = zip(self._cases, self.answers.waiting(), strict=True)
        waiting = [case for case, is_waiting in pairs if is_waiting]
        modes = dict.fromkeys(case.mode for case in waiting)
        exact = self.answers.model.counter.exact
        tokens = {mode: [each.tokens for each in waiting if each.mode is mode] for mode in modes}
        return [Load(mode.value, len(each), sum(each), exact) for mode, each in tokens.items()]

    def judge_load(self) -> Load | None:
        """Count what the judge will be sent; an answer that is still to come is guessed at."""
        tokens = list(self._judge_tokens())
        return Load("judgements", len(tokens), sum(tokens), exact=False) if tokens else None

    def results(self) -> Iterator[Answer]:
        """Read what came of each case."""
        judging = self.judgements()
        judged = iter(judging.replies() if judging is not None else ())
        for case, reply in zip(self._cases, self.answers.replies(), strict=True):
            said = next(judged, None) if reply is not None else None
            yield Answer(
                case.question,
                case.mode,
                reply.text if reply is not None else None,
                verdict(said.text) if said is not None else None,
            )

    def _judge_tokens(self) -> Iterator[int]:
        """Price each judgement that is still to be asked for."""
        judging = self.judgements()
        if judging is None:
            return
        asked = iter(judging.waiting())
        for case, reply in zip(self._cases, self.answers.replies(), strict=True):
            if reply is None or next(asked):
                messages = judge_messages(case.question, reply.text if reply is not None else "")
                guessed = REPLY_TOKENS if reply is None else 0
                yield request_tokens(judging.model.counter, messages) + guessed


def _job(model: Model, case: Case, messages: Sequence[Message], data: str) -> Job:
    asked = {**model.identity, "data": data, "mode": case.mode.value}
    about = {
        **asked,
        "talk": case.talk,
        "question": case.question.text,
        "gold": case.question.answer,
    }
    return Job(key_of(asked, messages), tuple(messages), about)
