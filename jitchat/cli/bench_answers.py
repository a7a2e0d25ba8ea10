"""`jitchat bench locomo --answerer … --judge …`: what it may cost, then answers and judgements."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jitchat import __version__
from jitchat.bench.answer_report import answer_table, answers_added
from jitchat.bench.answer_scores import answer_scores
from jitchat.bench.answers import Answering, Model, Price, Round, bill, opened_log, unusable
from jitchat.bench.questions import Cases
from jitchat.bench.report import without_login
from jitchat.cli import compose
from jitchat.cli.bench_options import AnswerFlags, why_unwritable
from jitchat.cli.compose import key_in_the_open, lacks_key, make_counter
from jitchat.cli.options import Flags
from jitchat.cli.output import progress, require_yes, say
from jitchat.errors import KeyRefused, ProviderError
from jitchat.settings import Settings
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.window.parts import SYSTEM_PROMPT

if TYPE_CHECKING:
    from rich.table import Table


_SHOWN = 400
"""Characters of a failure's reason."""


def require_kept(answering: AnswerFlags) -> None:
    """Refuse a file for `--answers` that takes none, before anything is measured.

    Raises:
        BenchFailed: It cannot be written.

    """
    path = answering.answers
    if answering.answerer is not None and path is not None and (why := why_unwritable(path)):
        raise unusable(path, why)


def make_cases(answering: AnswerFlags, settings: Settings) -> Cases | None:
    """Make what takes the requests as they are planned; None where nothing will be answered."""
    return Cases(settings.chat.system or SYSTEM_PROMPT) if answering.answerer is not None else None


def answer_all(
    answering: AnswerFlags, flags: Flags, cases: Cases, result: dict[str, Any], out: Path | None
) -> tuple[list[Table], dict[str, Any]]:
    """Send what has no reply yet; the tables, and `result` with what came of it.

    `flags` name the answerer already.

    Raises:
        BenchFailed: It was not confirmed, or cannot go on.

    """
    answerer, judge = _models(answering, flags)
    path = answering.answers or (_beside(out) if out else flags.paths().answers)
    with opened_log(path) as log:
        made = Answering(cases.planned, answerer, judge, result["data"]["sha256"], log)
        _confirm(made, yes=answering.yes)
        _run(made, answering.parallel, path)
        _tell_failures(made, log.first_failure)
    reached = answer_scores(list(made.results()), judged=judge is not None)
    title = f"answered by {answering.answerer}" + f", judged by {answering.judge}" * bool(judge)
    tables = [answer_table(mode, scores, title) for mode, scores in reached.items()]
    return tables, answers_added(result, reached, made.answers, made.judgements())


def _models(answering: AnswerFlags, flags: Flags) -> tuple[Model, Model | None]:
    """Set up who answers and who judges."""
    prices = answering.prices()
    answerer = _model(flags.settings(), prices[0])
    if answering.judge is None:
        return answerer, None
    return answerer, _model(answering.over_for_judge(flags).settings(), prices[1])


def _model(settings: Settings, price: Price) -> Model:
    if warning := key_in_the_open(settings):
        say(f"jitchat: {warning}", err=True)
    wanted, counter = settings.in_use(), make_counter(settings)
    options = wanted.sampling
    identity: dict[str, object] = {"provider": wanted.name, "model": settings.model_name()}
    if wanted.is_reader:
        identity["version"] = __version__
    else:
        identity |= {
            "base_url": without_login(wanted.base_url),
            "temperature": options.temperature,
        }
    provider = compose.make_provider(wanted, wanted.model, counter)
    return Model(provider, counter, options, price, identity, lacks_key(settings))


def _confirm(made: Answering, *, yes: bool) -> None:
    """Tell what is about to be sent, and ask whether it may be; the reader costs nothing."""
    lines = list(_bills(made))
    if not lines:
        return
    say("\n".join(lines), err=True)
    require_yes(given=yes)


def _bills(made: Answering) -> Iterator[str]:
    """Say what each round that has something to send may cost.

    Raises:
        KeyRefused: It lacks the key that it needs.

    """
    judging, judge_load = made.judgements(), made.judge_load()
    rounds = [(made.answers, made.loads())]
    if judging is not None and judge_load is not None:
        rounds.append((judging, [judge_load]))
    for asked, loads in rounds:
        identity = asked.model.identity
        if loads and asked.model.lacks_key:
            raise KeyRefused(
                f"Nothing was sent: {identity['base_url']} wants a key, and none is set.",
                f"Run `jitchat keys set {identity['provider']}`, or set the variable for it.",
            )
        if loads and identity["provider"] != "reader":
            where = f"{identity['model']} at {identity['base_url']}"
            yield from bill(where, loads, asked.model.price)


def _run(made: Answering, parallel: int, path: Path) -> None:
    """Send everything; Ctrl+C leaves what came."""
    try:
        _send("answers", made.answers, parallel)
        judging = made.judgements()
        if judging is not None:
            _send("judgements", judging, parallel)
    except KeyboardInterrupt:
        say(f"\nStopped. What came is kept in {path}; run it again to go on.", err=True)
        raise


def _send(label: str, asked: Round, parallel: int) -> None:
    waiting = sum(asked.waiting())
    if waiting:
        with progress(label, waiting) as advance:
            asyncio.run(asked.run(parallel, advance))


def _tell_failures(made: Answering, first: ProviderError | None) -> None:
    judging = made.judgements()
    failed = sum(made.answers.waiting()) + (sum(judging.waiting()) if judging else 0)
    if not failed:
        return
    told, them = plural(failed, "request"), "it" if failed == 1 else "them"
    why = f" The first failure: {shorten(str(first), _SHOWN)}" if first is not None else ""
    say(f"{told} failed; run it again to send {them} again.{why}", err=True)


def _beside(out: Path) -> Path:
    return out.parent / f"{out.stem}.answers.jsonl"
