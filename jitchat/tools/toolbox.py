"""The tools of one conversation: which there are, and how the calls of an answer are run."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

from jitchat.errors import JitchatError
from jitchat.providers.tools import arguments_of, problem_with
from jitchat.tools.source import Step, ToolOutput, ToolSource
from jitchat.values import Tool, ToolCall, ToolResult

MOST_STEPS = 12


class Approvals(Protocol):
    async def refusal(self, source: str, tool: Tool, call: ToolCall) -> ToolResult | None:
        """Ask where that is needed; the result of a call that may not be run, None of one that may.

        Cancelling it withdraws the question.
        """


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Sources of tools, and who allows their calls."""

    sources: tuple[ToolSource, ...] = ()
    approvals: Approvals | None = None
    """None where every call is allowed."""
    most_steps: int = MOST_STEPS
    """Answers with calls that a turn may have; the one after them is asked for words."""

    def with_sources(self, *sources: ToolSource) -> "Toolbox":
        """Add sources ahead of the others."""
        return replace(self, sources=(*sources, *self.sources))

    def tools(self) -> tuple[Tool, ...]:
        """List what can be called now, by name; of two of one name, that of the first source."""
        return tuple(tool for _, (_, tool) in sorted(self._by_name().items()))

    async def run(
        self, calls: Sequence[ToolCall], step: Step
    ) -> AsyncGenerator[ToolCall | ToolOutput, None]:
        """Run the calls of one answer at once: gives each as it is begun, and what it returns.

        A call that is refused is not begun. Closing the generator stops what still runs.
        """
        news: asyncio.Queue[ToolCall | asyncio.Task[ToolOutput]] = asyncio.Queue()
        running = [asyncio.ensure_future(self._run(call, step, news.put_nowait)) for call in calls]
        for task in running:
            task.add_done_callback(news.put_nowait)
        left = len(running)
        try:
            while left:
                each = await news.get()
                if isinstance(each, ToolCall):
                    yield each
                else:
                    left -= 1
                    yield each.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _run(
        self, call: ToolCall, step: Step, on_begin: Callable[[ToolCall], object]
    ) -> ToolOutput:
        if (problem := problem_with(call, step.window.tools)) is not None:
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
            output = await source.run(call, arguments_of(call) or {}, step)
        except JitchatError as error:
            failed = f"The call failed: {error}"
            output = ToolOutput(ToolResult(call, failed, is_error=True))
        took = perf_counter() - started
        return replace(output, result=replace(output.result, seconds=round(took, 3)))

    def _by_name(self) -> dict[str, tuple[ToolSource, Tool]]:
        listed = [(source, tool) for source in self.sources for tool in source.tools()]
        return {tool.name: (source, tool) for source, tool in reversed(listed)}
