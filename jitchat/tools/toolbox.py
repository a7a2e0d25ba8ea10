"""The tools of one conversation: their list, and how the calls of an answer are run."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from jitchat.errors import JitchatError
from jitchat.metering import charged_to
from jitchat.providers.tools import arguments_of, problem_with
from jitchat.tools.approvals import Approvals
from jitchat.tools.source import Step, ToolOutput, ToolSource
from jitchat.values import Tool, ToolCall, ToolResult

MOST_STEPS = 12


_Events = asyncio.Queue[ToolCall | asyncio.Task[ToolOutput]]
"""Calls that have started, and tasks that have finished."""


async def _all_events(events: _Events) -> tuple[list[ToolCall], list[asyncio.Task[ToolOutput]]]:
    """Wait for an event, and take all events that have arrived by then."""
    taken = [await events.get()]
    while not events.empty():
        taken.append(events.get_nowait())
    begun = [each for each in taken if isinstance(each, ToolCall)]
    return begun, [each for each in taken if isinstance(each, asyncio.Task)]


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Sources of tools, and the approval of their calls."""

    sources: tuple[ToolSource, ...] = ()
    approvals: Approvals | None = None
    """None if every call is allowed."""
    most_steps: int = MOST_STEPS
    """Maximum answers with calls in a turn; the next request offers no more calls."""

    def with_sources(self, *sources: ToolSource) -> "Toolbox":
        """Add sources before the others."""
        return replace(self, sources=(*sources, *self.sources))

    def tools(self) -> tuple[Tool, ...]:
        """List the tools that can be called now, by name; the first source wins a name clash."""
        return tuple(tool for _, (_, tool) in sorted(self._by_name().items()))

    async def run(
        self, calls: Sequence[ToolCall], step: Step
    ) -> AsyncGenerator[ToolCall | tuple[ToolOutput, ...], None]:
        """Run the calls of one answer concurrently: yield each when it starts, then the outputs.

        Outputs that return together are yielded together. A refused call does not start. Closing
        the generator stops the calls that are still running.
        """
        cut = calls[-1] if step.is_cut else None
        events: _Events = asyncio.Queue()
        running = [
            asyncio.ensure_future(self._run(call, step, events.put_nowait, is_cut=call is cut))
            for call in calls
        ]
        for task in running:
            task.add_done_callback(events.put_nowait)
        left = len(running)
        try:
            while left:
                begun, done = await _all_events(events)
                for call in begun:
                    yield call
                left -= len(done)
                if returned := tuple(task.result() for task in done if not task.exception()):
                    yield returned
                for task in done:
                    task.result()  # re-raises an unexpected error of a tool
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _run(
        self,
        call: ToolCall,
        step: Step,
        on_begin: Callable[[ToolCall], object],
        *,
        is_cut: bool,
    ) -> ToolOutput:
        if (problem := problem_with(call, step.window.tools, is_cut=is_cut)) is not None:
            return ToolOutput(problem)
        found = self._by_name().get(call.name)
        if found is None:
            gone = f"The tool {call.name!r} is not there any more. Go on without it."
            return ToolOutput(ToolResult(call, gone, is_error=True))
        source, tool = found
        if self.approvals is not None:
            refusal = await self.approvals.refusal(source.name, tool, call)
            if refusal is not None:
                return ToolOutput(refusal)
        on_begin(call)
        started = perf_counter()
        try:
            with charged_to(step.account):
                output = await source.run(call, arguments_of(call) or {}, step)
        except JitchatError as error:
            failed = f"The call failed: {error}"
            output = ToolOutput(ToolResult(call, failed, is_error=True))
        took = perf_counter() - started
        return replace(output, result=replace(output.result, seconds=round(took, 3)))

    def _by_name(self) -> dict[str, tuple[ToolSource, Tool]]:
        listed = [(source, tool) for source in self.sources for tool in source.tools()]
        return {tool.name: (source, tool) for source, tool in reversed(listed)}
