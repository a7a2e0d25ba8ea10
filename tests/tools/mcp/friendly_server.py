"""A server of tools, written with the SDK: over standard input and output, or HTTP at a port.

Behind `http`, a header and its value may be named that each request must have.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Image, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

server = MCPServer("friendly", instructions="Adds numbers.")


class Sum(BaseModel):
    total: int


class Colour(BaseModel):
    colour: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(total=a + b)


@server.tool()
def say(text: str) -> str:
    """Says a text again."""
    return text


@server.tool(name="fail.now")
def fail() -> str:
    """Fails."""
    raise ValueError("no such thing")


@server.tool()
def picture() -> Image:
    """Gives a picture."""
    return Image(data=b"\x89PNG" * 25, format="png")


@server.tool()
def environment() -> str:
    """Says its arguments and its variables."""
    everything = f"{sys.argv} {dict(os.environ)}"
    print("told:", everything, file=sys.stderr, flush=True)
    return everything


@server.tool()
def folder() -> str:
    """Names the folder that the server was started in."""
    return str(Path.cwd())


def which() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


@server.tool()
def ask(answer: Annotated[ElicitationResult[Colour], Resolve(which)]) -> str:
    """Asks the user for a colour."""
    return f"{answer.action} {getattr(answer, 'data', None)}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool to the server."""
    server.add_tool(say, name="grown", description="New.")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "grew"


@server.resource("note://today", name="today", mime_type="text/plain")
def today() -> str:
    """What is on today."""
    return "Water the fern."


@server.resource("note://{day}/{part}", name="of a day", mime_type="text/plain")
def of_day(day: str, part: str) -> str:
    """What is on at a part of a day."""
    return f"On {day}, {part}: nothing."


@server.prompt()
def greeting(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name} kindly."


def guarded(app: Any, header: str = "", value: str = "") -> Any:
    """Refuse what comes without a header, if one is named."""

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(header.lower().encode(), b"").decode()
        if scope["type"] == "http" and given != value:
            await PlainTextResponse(f"no such key: {given}", 401)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return guard


if __name__ == "__main__":
    if sys.argv[1:2] in ([], ["stdio"]):
        server.run("stdio")
    else:
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        print(listening.getsockname()[1], flush=True)
        app = guarded(server.streamable_http_app(), *sys.argv[2:])
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
