"""THE FLOW: what happens to a message, from Enter to the indexed reply.

`Session.send` is the whole life of a turn, one stage per line. Front ends watch its events and
decide nothing. The user's turn is durable before the request leaves. Every failure ends as an event
that returns the draft, and the part of the reply that was received is kept.

Windows can also be planned, compared and explained without sending.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from jitchat.attachments import Attachment
from jitchat.errors import (
    ContextOverflow,
    FileRefused,
    FolderNotAllowed,
    JitchatError,
    NotAnAnswer,
    StoreError,
    WindowOverflow,
)
from jitchat.events import (
    Event,
    FactsFound,
    LimitLearnt,
    StepStored,
    ToolApproved,
    ToolCalled,
    ToolReturned,
    TurnsRetrieved,
    TurnStored,
    WindowBuilt,
)
from jitchat.files.named import attach, find_mention, folder_to_ask, is_named, left_out
from jitchat.index.file_parts import AT_ONCE
from jitchat.memory import Memory
from jitchat.metering import MessageAccount, MeteredProvider, charged_to
from jitchat.observing import Consent, Observing
from jitchat.planning import Meter, ModelFacts, Planned, Planning, Question, refusal_sentence
from jitchat.providers.catalogue.pictures import picture_tokens
from jitchat.providers.catalogue.table import Prices, cost_of
from jitchat.providers.provider import (
    Options,
    PartRefused,
    Provider,
    RequestAdapted,
    SentRequest,
    Wire,
)
from jitchat.recorder import Outgoing, SendRecorder
from jitchat.replay import SentBefore, last_reported
from jitchat.savings import Comparison
from jitchat.session_options import SessionOptions
from jitchat.small_models.picker import ModelPicker
from jitchat.small_models.small_model import SmallModel
from jitchat.small_models.summariser import Summariser
from jitchat.spending import Forecast, Spending
from jitchat.store.pins import AllowedFolders, Pins
from jitchat.store.requests import Purpose, RequestLog, Spent
from jitchat.synthesis.extraction import FactFinder
from jitchat.synthesis.extractive import ExtractiveObserver
from jitchat.synthesis.session_end import SessionEnd
from jitchat.text.sanitize import one_line
from jitchat.threads import to_the_end
from jitchat.tools.appending import Appending
from jitchat.tools.compacting import Compacting
from jitchat.tools.extracting import preview
from jitchat.tools.gate import PREVIEW
from jitchat.tools.large_results import LargeResults
from jitchat.tools.offering import OfferContext, Offering
from jitchat.tools.request_context import RequestContext
from jitchat.tools.toolbox import Toolbox
from jitchat.values import (
    LEARNT,
    Limit,
    Message,
    Mode,
    ToolCall,
    Turn,
    Usage,
)
from jitchat.why import Explained
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration
from jitchat.window.parts import ToolOffer
from jitchat.window.plan import rewritten
from jitchat.window.steering import NO_MORE, Hold, HoldChange, Once, Steering
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, digest_of
from jitchat.window.written import TurnPricing
from jitchat.writing.pieces import WritingRules

_PREFIX_LOST = "The prefix that the provider may have cached is lost."


class Session:
    """A conversation in use: its memory, its model and its budget."""

    def __init__(
        self, memory: Memory, provider: Provider, counter: TokenCounter, options: SessionOptions
    ) -> None:
        self.memory, self.provider, self.counter = memory, provider, counter
        self.options = options
        memory.reach_to(options.reach)
        picker, summariser = map(self._with_context, (options.picker, options.summariser))
        self.folder: Path | None = None
        """The folder for `@path` in messages; None if they attach no files."""
        self.picker = ModelPicker(picker) if picker else None
        self.summariser = Summariser(summariser, memory) if summariser else None
        self._meter = Meter(counter, options.learnt)
        with suppress(StoreError):  # a damaged window is reported when it is opened
            if earlier := last_reported(memory, provider.name, provider.model):
                self._meter.remember(*earlier)
        self._sent = SentBefore(memory)
        self.planning = Planning(
            memory, counter, self._model_facts, self._offered, self._files_named
        )
        self.observing = Observing(
            memory, self.planning.history_before, counter, options.observer, options.observing
        )
        by_model = options.observer if options.observing.consent is Consent.AUTO else None
        observer = by_model or ExtractiveObserver(counter)
        self._facts = FactFinder(memory, options.proposing, observer)
        self.use_tools(options.toolbox)
        self._last_send: SendRecorder | None = None
        store, here = memory.store, memory.conversation.id
        self.spending = Spending(store.database, store.now, here, options.spending, self.cost_of)
        self.ending = SessionEnd(memory, options.writer)
        """Writes the memory document at the end of the session, which front ends trigger."""

    def use_tools(self, toolbox: Toolbox) -> None:
        """Replace the tools offered in addition to jitchat's own."""
        options, memory, counter = self.options, self.memory, self.counter
        self.toolbox = toolbox.with_sources(
            RequestContext(memory, self.planning.history_before, counter),
            LargeResults(memory, counter, options.large_result, options.compactor),
        )
        self._offering = Offering(self.toolbox, options.offers, counter)

    async def compacted(self, text: str, instruction: str) -> str:
        """Compact a long message for use in windows."""
        compacting = Compacting(self.counter, self.options.compactor)
        what, limit = "The message, which the user had", self.options.large_result
        return await compacting.told(what, text, instruction, limit)

    def previewed(self, text: str) -> str:
        """Cut a long message to its head and tail for use in windows."""
        size = self.counter.count(text)
        seen = preview(text, PREVIEW, self.counter)
        shown = f"{self.counter.count(seen):,} of {size:,} tokens"
        return f"[The beginning and end of the message: {shown}; all of it is kept.]\n{seen}"

    async def send(
        self,
        draft: str,
        mode: Mode,
        once: Once = NO_MORE,
        on_stored: Callable[[], object] = lambda: None,
        account: MessageAccount | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Send a message; closing the generator cancels the reply and keeps what was received.

        `once` has the message's position and one-time steering. `on_stored` is called, in any
        thread, when the message is stored, even if the events are no longer consumed. `account` is
        the message's if it has one already.
        """
        if self.memory.store.unstored:
            with suppress(StoreError):  # storing the message will fail, too, and returns the draft
                await asyncio.to_thread(self.memory.store.unstored.store_again)
        counts = self.cost_of, self.counter.count
        outgoing = Outgoing(draft, once, self.provider.name, *counts, on_stored)
        self._last_send = recorder = SendRecorder(self.memory, outgoing)
        ending: BaseException | None = None
        with self.memory.index.throttle.under_way():
            try:
                attached = partial(self.planning.attached, once)
                turn = await to_the_end(partial(recorder.store_draft, attached))
                recorder.account = account or self.spending.begin_message()
                yield TurnStored(turn)
                question, retrieved = await asyncio.to_thread(self._retrieve, turn, once)
                yield retrieved
                with charged_to(recorder.account):
                    question = await self._choose(question, mode)
                async with aclosing(self._answer(recorder, question, mode)) as events:
                    async for event in events:
                        yield event
            except BaseException as error:  # however it ends, `commit` records it
                ending = error
                if not isinstance(error, JitchatError):  # those are reported by `outcome`
                    raise
            finally:
                await to_the_end(partial(recorder.commit, ending))
            if recorder.error is None:
                await asyncio.to_thread(self._meter.take, recorder.window, recorder.usage)
        for event in recorder.outcome():
            yield event
        async with aclosing(self._behind_reply(recorder, mode)) as events:
            async for event in events:
                yield event

    async def _behind_reply(
        self, recorder: SendRecorder, mode: Mode
    ) -> AsyncGenerator[Event, None]:
        """Index both turns and find facts; in `observe`, distil. The prompt is usable meanwhile.

        A store that has just refused to be written is not waited for again.
        """
        if isinstance(recorder.error, StoreError):
            return
        for event in await asyncio.to_thread(recorder.index):
            yield event
        found = await self._find_facts(recorder)
        if found.proposed or found.kept or found.told:
            yield found
        if mode is Mode.OBSERVE and recorder.error is None:
            async with aclosing(self.observing.after_reply(self.options.budget.limit)) as passes:
                async for made in passes:
                    yield made

    async def _answer(
        self, recorder: SendRecorder, question: Question, mode: Mode
    ) -> AsyncGenerator[Event, None]:
        """Send the window and, while the model calls tools, the windows extended by the results."""
        async with aclosing(self._first_answer(recorder, question, mode)) as events:
            async for event in events:
                yield event
        while recorder.has_step and recorder.window is not None:
            async with aclosing(
                self._next_step(recorder, question.turn, recorder.window)
            ) as events:
                async for event in events:
                    yield event

    async def _first_answer(
        self, recorder: SendRecorder, question: Question, mode: Mode
    ) -> AsyncGenerator[Event, None]:
        """Send the window; if it is too large for the model, build and send a smaller one, once.

        It can also become too large by being written without a part that the server refuses.
        """
        for is_last_try in (False, True):
            plan = partial(self._plan, question, mode)
            build = partial(self._built, recorder, question.turn, plan)
            built, messages = await asyncio.to_thread(build)
            yield built
            try:
                async with aclosing(
                    self._stream(recorder, question.turn, built, messages)
                ) as events:
                    async for event in events:
                        yield event
                return
            except (ContextOverflow, WindowOverflow) as overflow:
                if is_last_try or recorder.has_begun:
                    raise
                refusal = overflow
            if isinstance(refusal, ContextOverflow):
                question = replace(question, once=replace(question.once, budget=None))
                learn = partial(self._learn_limit, question, mode, built.window, refusal)
                yield await asyncio.to_thread(learn)

    async def _next_step(
        self, recorder: SendRecorder, turn: Turn, window: ContextWindow
    ) -> AsyncGenerator[Event, None]:
        """Run the calls of an answer, extend the window by calls and results, and send it.

        Raises:
            NotAnAnswer: The turn has reached the maximum number of steps.

        """
        toolbox = self.toolbox
        if window.step >= toolbox.most_steps:
            raise NotAnAnswer(
                f"The model called tools {window.step + 1:,} times without answering.",
                "Ask for the answer, or raise max_steps under [tools].",
            )
        await asyncio.to_thread(self._meter.take, window, recorder.usage)
        called = await to_the_end(recorder.close_step)
        yield StepStored(called)
        price = TurnPricing(self.counter, window.rules)
        appending = Appending(window, called, price, self.calibration)
        for call in called.use.calls:
            yield ToolCalled(called, call)
        asked = replace(appending.step, account=recorder.account)
        async with aclosing(toolbox.run(called.use.calls, asked)) as news:
            async for each in news:
                if isinstance(each, ToolCall):
                    yield ToolApproved(called, each)
                    continue
                results = [output.result for output in each]
                stored = await to_the_end(partial(recorder.store_results, results))
                for result, output in zip(stored, each, strict=True):
                    appending.take(result, output)
                    yield ToolReturned(result)
        built, messages = await asyncio.to_thread(self._extend, recorder, turn, appending)
        yield built
        async with aclosing(self._stream(recorder, turn, built, messages)) as events:
            async for event in events:
                yield event

    def _extend(
        self, recorder: SendRecorder, turn: Turn, appending: Appending
    ) -> tuple[WindowBuilt, Sequence[Message]]:
        """Extend the window, and store it with the shortened results that it carries."""
        built = self._built(recorder, turn, partial(appending.window, self.options.large_result))
        if appending.forms:
            recorder.keep_forms(appending.forms)
        return built

    async def _stream(
        self, recorder: SendRecorder, turn: Turn, built: WindowBuilt, messages: Sequence[Message]
    ) -> AsyncGenerator[Event, None]:
        """Stream the answer to a window; write it again if the server refuses a part of it."""
        without: frozenset[str] = frozenset()
        while True:
            try:
                async with aclosing(
                    self._pieces(recorder, built.window, messages, without)
                ) as events:
                    async for event in events:
                        yield event
                return
            except PartRefused as refused:
                if refused.part in without:
                    raise
                without |= {refused.part}
                has_prefix = any(each.turn for each in built.window.segments if each.kind.is_stable)
                lost = f" {_PREFIX_LOST}" if has_prefix else ""
                yield RequestAdapted(f"{refused.sentence}{lost}")
                rewrite = partial(self._rewritten, built.window, without)
                built, messages = await asyncio.to_thread(self._built, recorder, turn, rewrite)
                yield built

    def _rewritten(self, window: ContextWindow, without: frozenset[str]) -> ContextWindow:
        """Write a window without the parts that the server refuses.

        Raises:
            WindowOverflow: It needs more tokens than before, and does not fit.

        """
        request = self.options.request
        rules = self.provider.rules(replace(request, without=request.without | without))
        again = rewritten(window, self.counter, rules, self.calibration)
        if again is None:
            raise WindowOverflow(
                "Without what the server refuses, the window is too large.",
                "Send the message again: it is planned without that from now on.",
                0,
            )
        return again

    async def _pieces(
        self,
        recorder: SendRecorder,
        window: ContextWindow,
        messages: Sequence[Message],
        without: frozenset[str],
    ) -> AsyncGenerator[Event, None]:
        options = self.request_options(window)
        options = replace(options, without=options.without | without)
        async with aclosing(self.provider.stream(messages, options)) as pieces:
            async for piece in pieces:
                if event := recorder.take(piece):
                    yield event
                if recorder.is_due:
                    await asyncio.to_thread(recorder.save)

    async def _find_facts(self, recorder: SendRecorder) -> FactsFound:
        """Look for facts in the message; a store error is ignored."""
        if recorder.error is None:
            with suppress(StoreError):
                return await self._facts.find()
        return FactsFound()

    def metered(self, purpose: Purpose) -> MeteredProvider:
        """Return the model with metering, for requests that do not answer a message."""
        metering, prices = self.spending.metering(), self.options.prices
        return MeteredProvider(self.provider, purpose, metering, self.counter, prices)

    def comparison(
        self, window: ContextWindow, usage: Usage | None = None, *, sent: bool = False
    ) -> Comparison:
        """Compare the input of a window, and its cost, with that of `full`.

        `usage` is what was reported for a window that was `sent`. The provider's cache is the one
        that was known when a window was last planned.
        """
        prices = self.options.prices
        source = prices.source if prices is not None else ""
        if sent:
            return Comparison.of_sent(window, usage, self.cost_of, source)
        return Comparison.ahead(window, self.cost_of, self.spending.cache.known, source)

    def _read_cache(self) -> None:
        with suppress(StoreError):  # the forecast is then without a cache
            self.spending.cache.read(
                self.provider.name, self.provider.model, self.memory.store.now()
            )

    def forecast(self, window: ContextWindow) -> Forecast:
        """Forecast the cost of sending a window, with what was spent. Call in a thread."""
        longest = self.options.request.max_tokens
        return self.spending.forecast(window, self.provider.name, longest)

    def _retrieve(self, turn: Turn, once: Once) -> tuple[Question, TurnsRetrieved]:
        started = time.perf_counter()
        self.memory.index.index_little(turn.position)
        with suppress(StoreError):  # what is not embedded is found by its words
            self.memory.file_parts.index_missing(self.memory.files, AT_ONCE)
        question = self.planning.search(turn, once)
        return question, TurnsRetrieved(question.retrieval, time.perf_counter() - started)

    async def _choose(self, question: Question, mode: Mode) -> Question:
        """Rerank the shortlist and pick from it, if either is set and there is a choice.

        A model is not asked if its choice could not change the window.
        """
        reranker, picker = self.options.reranker, self.picker
        if not mode.recalls or (reranker is None and picker is None):
            return question
        budget = question.once.budget or self.options.budget
        sources = await asyncio.to_thread(self.planning.sources, question, mode, budget)
        if reranker is not None:
            reranked = await reranker.rerank(sources, budget, self.counter)
            sources = replace(sources, retrieval=reranked)
        if picker is not None:
            picked = await picker.pick(sources, budget, self.counter)
            sources = replace(sources, retrieval=picked)
        return replace(question, retrieval=sources.retrieval)

    def _plan(self, question: Question, mode: Mode) -> ContextWindow:
        return self.planning.window(question, mode, self.options.budget)

    def _built(
        self, recorder: SendRecorder, turn: Turn, plan: Callable[[], ContextWindow]
    ) -> tuple[WindowBuilt, Sequence[Message]]:
        """Plan and store a window to send, and build its messages, once because they are long.

        Raises SpendingLimitReached if it would exceed a spending limit.
        """
        window = plan()
        messages, longest = window.messages(), self.options.request.max_tokens
        amount = self.spending.ahead(window, self.provider.name, longest).amount
        built = WindowBuilt(window, digest_of(messages, window.tools))
        check = partial(self.spending.check, window, amount, recorder.account)
        return recorder.store_window(turn, built, amount, check), messages

    def _learn_limit(
        self, question: Question, mode: Mode, window: ContextWindow, refusal: ContextOverflow
    ) -> LimitLearnt:
        """Learn the limit from a refusal, and report it.

        Raises:
            ContextOverflow: The refusal itself, if it states no limit and no window of half the
                size can be planned.

        """
        known = self.options
        budget = self._meter.refused(window, refusal, self.options.budget)
        self.take_budget(budget)
        if not refusal.limit:
            try:
                self.planning.window(question, mode, budget)
            except WindowOverflow:
                self.options = known
                raise refusal from None
        sentence = refusal_sentence(self.provider.name, self.provider.model, window, refusal)
        return LimitLearnt(Limit(budget.limit, LEARNT), sentence)

    def message_usage(self) -> tuple[Spent, Usage | None]:
        """Return what the last message has cost, and the usage reported for its answer."""
        if self._last_send is None:
            return Spent(), None
        account, log = self._last_send.account, RequestLog(self.memory.store.database)
        return account.spent_in(log), account.answered_in(log)

    @property
    def has_sent(self) -> bool:
        """Whether anything was sent in this session."""
        return self._last_send is not None

    @property
    def unstored(self) -> int | None:
        """The first character of the last reply that is not stored; None if all of it is."""
        return self._last_send.unstored if self._last_send is not None else None

    def take_budget(self, budget: Budget) -> None:
        """Use another budget, reported by the server or set by the user."""
        self.options = replace(self.options, budget=budget)

    async def aclose(self) -> None:
        await self.provider.aclose()
        for small in (self.options.picker, self.options.summariser):
            if small is not None:
                await small.provider.aclose()
        if self.options.compactor is not None:
            await self.options.compactor.aclose()
        await self.observing.aclose()
        await self.ending.aclose()

    # Windows that would be sent.

    def preview(self, draft: str, mode: Mode, once: Once = NO_MORE) -> ContextWindow:
        """Plan the window that `send` would build now. Changes nothing; call in a thread.

        The picker's model and the reranker are not run; the window says that they may choose
        differently.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        self._read_cache()
        return self._plan(self.question(draft, mode, once), mode)

    async def preview_picked(self, draft: str, mode: Mode, once: Once = NO_MORE) -> ContextWindow:
        """Plan like `preview`, but run the reranker and ask the picker's model.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        question = await asyncio.to_thread(self.planning.question, draft, once)
        picked = await self._choose(question, mode)
        await asyncio.to_thread(self._read_cache)
        return await asyncio.to_thread(self._plan, picked, mode)

    def question(self, draft: str, mode: Mode, once: Once = NO_MORE) -> Question:
        return self.as_previewed(self.planning.question(draft, once), mode)

    def as_previewed(self, question: Question, mode: Mode) -> Question:
        """Note in a question that the reranker and picker, which sending would use, did not run."""
        retrieval, reranker = question.retrieval, self.options.reranker
        if not mode.recalls or not retrieval.candidates:
            return question
        if reranker is not None:
            retrieval = reranker.not_run(retrieval)
        if self.picker is not None:
            retrieval = self.picker.not_asked(retrieval)
        return replace(question, retrieval=retrieval)

    def compare(self, draft: str, once: Once = NO_MORE) -> tuple[Question, Mapping[Mode, Planned]]:
        """Plan the window of every mode for one question, each like `preview`."""
        self._read_cache()
        question, budget = self.planning.question(draft, once), self.options.budget
        return question, {
            mode: self.planning.planned(self.as_previewed(question, mode), mode, budget)
            for mode in Mode
        }

    def explained(self, draft: str, mode: Mode, once: Once = NO_MORE) -> Explained:
        """Plan the window that would be sent for a draft, in order to explain its turns.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        asked = once.again.content if once.again is not None else draft
        return Explained(self.preview(draft, mode, once), asked, None, self.keeps_out(once))

    def wire(self, window: ContextWindow, sent: SentRequest | None = None) -> Wire | None:
        """Make the request for a window; None if the provider sends none. Slow.

        `sent` restores the options of an earlier request; None uses the current ones.

        Raises:
            ProviderError: No request can be made because of the key or the address.

        """
        now = self.request_options(window)
        options = now if sent is None else replace(sent.options, tools=window.tools)
        return self.provider.wire(window.messages(), options, as_posted=sent is not None)

    def request_options(self, window: ContextWindow) -> Options:
        """Return the options of the window's request; some servers need the context size."""
        limit = window.budget.limit
        is_last = bool(window.tools) and window.step >= self.toolbox.most_steps
        return replace(
            self.options.request,
            context=limit,
            room=limit - window.used,
            tools=window.tools,
            tool_choice="none" if is_last else None,
        )

    # The user's steering.

    @property
    def steering(self) -> Steering:
        return self.planning.steering

    def hold(self, position: int, hold: Hold | None) -> HoldChange:
        """Pin or exclude a turn, replacing any earlier decision; None undoes it.

        Raises:
            LookupError: The path has no finished turn at that position.

        """
        before = self.steering.of(position)
        turn = self.memory.turn_at(position)
        if turn is None:
            raise LookupError(position)
        Pins(self.memory.store.database).put(turn, hold)
        self.memory.refresh()
        return HoldChange(position, before, hold)

    def keeps_out(self, once: Once = NO_MORE) -> frozenset[int]:
        """Return the positions of turns that the user excludes from a message's window."""
        return frozenset(once.without(self.steering))

    # Facts about the model.

    @property
    def rules(self) -> WritingRules:
        """What the protocol requires of the texts of a request, as far as is known."""
        return self.provider.rules(self.options.request)

    @property
    def calibration(self) -> Calibration:
        return self._meter.calibration

    def cost_of(self, usage: Usage | None) -> float | None:
        """Price a reply in US dollars; None if the usage or a price is unknown."""
        return cost_of(usage, self.options.prices)

    def prices_of(self, provider: str, model: str) -> Prices | None:
        """Return the prices of a model that answered here; None if unknown."""
        if (provider, model) == (self.provider.name, self.provider.model):
            return self.options.prices
        return self.options.prices_of(provider, model)

    def _with_context(self, small: SmallModel | None) -> SmallModel | None:
        """Give a small model that is also the chat's model the same context size."""
        if small is None or not small.answers:
            return small
        return replace(small, context=lambda: self.options.budget.limit)

    def _offered(self, question: Question, mode: Mode, budget: Budget) -> tuple[ToolOffer, ...]:
        """Choose the tools offered with a question."""
        turn, once = question.turn, question.once
        takes_tools = self.options.takes_tools is not False and self.rules.takes_tools
        is_first = turn.position == 1
        context = OfferContext(
            turn.content, mode, budget.budget, is_first, once.may_ask, takes_tools
        )
        return self._offering.of(context)

    # The files that the user mentions.

    def find_named(self, once: Once) -> Once:
        """Find what the mentions of a message name, unless it was found before.

        Raises:
            FileRefused: A mention names too many files.

        """
        if self.folder is None or once.named is not None:
            return once
        named = tuple(find_mention(name, self.folder) for name in once.mentions)
        return replace(once, named=named)

    def _files_named(self, once: Once) -> tuple[Attachment, ...]:
        once = self.find_named(once)
        if self.folder is None or once.named is None:
            return ()
        if (asked := self.folder_to_allow(once)) is not None:
            raise FolderNotAllowed(
                f"A file of {one_line(str(asked))} is hidden or outside the current folder.",
                "--attach PATH attaches its files; in the chat, Enter asks once for each folder.",
            )
        return attach(once.named, self.folder)

    def folder_to_allow(self, once: Once) -> Path | None:
        """Return the first named folder whose files are attached only if the user allows it."""
        for group in once.named or ():
            asked = folder_to_ask(group, self.folder) if self.folder is not None else None
            if asked and str(asked) not in AllowedFolders(self.memory.store.database).all():
                return asked
        return None

    def allow_folder(self, folder: Path) -> None:
        AllowedFolders(self.memory.store.database).add(str(folder))

    def left_out(self, once: Once) -> str:
        """Say which mentions name nothing, and what folders leave out; usually empty."""
        with suppress(FileRefused):
            once = self.find_named(once)
        if self.folder is None or once.named is None:
            return ""
        known = (*self.memory.files, *once.files)
        pairs = zip(once.mentions, once.named, strict=True)
        named = (
            group
            for name, group in pairs
            if group.files or not any(is_named(name, file) for file in known)
        )
        return left_out(named, self.folder)

    def _model_facts(self) -> ModelFacts:
        model, options = self.provider.model, self.options
        counted = partial(picture_tokens, model)
        known = model, options.system, self.calibration, options.sees, counted
        about = options.system_reason, self.rules, options.cache_life
        return ModelFacts(*known, *about, self._sent.read)
