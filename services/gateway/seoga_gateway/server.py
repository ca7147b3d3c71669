"""The MCP server: every discovered tool of a toolset, one error shape, nothing loaded before the
first answer."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool as McpTool
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from seoga import __version__, logs, metrics
from seoga.errors import InvalidArgument, NotFound, SeogaError, shown
from seoga.registry import discover
from seoga.wiring import Stack
from seoga_gateway.arenas import few_arenas
from seoga_gateway.library import Library
from seoga_gateway.quoting import NOTICE
from seoga_gateway.stdio import messages
from seoga_gateway.tool import Tool, failure
from seoga_gateway.warmup import WarmUp

NAME = "seoga"
DEFAULT_TOOLSET = "documents"
INSTRUCTIONS = f"""\
Seoga searches a team's own documents (Korean, English, code). Start with search_documents:
without kb_id it
searches every knowledge base; ask in the words of the documents or in a whole question, in either
language.
Each result has a label ([semantic 0.71], [both 0.69], [exact match], or
[keyword match] when only some of the words are there), the place in the original
and a
chunk_id; get_document_chunk shows what stands around it, read_document reads on by page or line.
"No relevant
results" means that nothing passed the threshold: say so instead of guessing, or try other words.
list_knowledge_bases and get_index_info tell what is indexed and how fresh it is; check_changes
compares with
the disk; start_reindex queues a run and returns at once. Cite document and place.
{NOTICE}"""

log = logs.get("gateway")


def discovered() -> dict[str, Tool]:
    """Every tool of the folder tools/, by name."""
    found = [module.TOOL for module in discover("seoga_gateway.tools")]
    return {tool.name: tool for tool in found}


def choose(toolset: str) -> list[Tool]:
    """The tools of a comma list of toolsets. Raises InvalidArgument for an unknown one."""
    tools = discovered()
    known = sorted({name for tool in tools.values() for name in tool.toolsets})
    wanted = [name.strip() for name in toolset.split(",") if name.strip()]
    if not wanted or set(wanted) - set(known):
        raise InvalidArgument(
            f"Unknown toolset {toolset!r}.", f"Known toolsets: {', '.join(known)}."
        )
    return [tool for tool in tools.values() if set(tool.toolsets) & set(wanted)]


def build_server(
    stack: Stack, toolset: str = DEFAULT_TOOLSET, secret: str = ""
) -> MCPServer[Library]:
    """An MCP server over this stack; `secret` is shared by all workers (empty: this process
    alone)."""
    few_arenas()
    return SeogaServer(stack, choose(toolset), secret)


class SeogaServer(MCPServer[Library]):
    """The SDK's server with our error shape and our argument check."""

    def __init__(self, stack: Stack, tools: list[Tool], secret: str) -> None:
        shared = Library(stack)
        warm_up = WarmUp(shared)

        @asynccontextmanager
        async def lifespan(_: MCPServer[Library]) -> AsyncIterator[Library]:
            try:
                yield shared
            finally:
                warm_up.stop()
                shared.close()

        self._schemas = {tool.name: _registered(tool, shared) for tool in tools}
        super().__init__(
            name=NAME,
            title="Seoga",
            description="Search over a team's own documents.",
            version=__version__,
            instructions=INSTRUCTIONS,
            tools=list(self._schemas.values()),
            lifespan=lifespan,
            log_level="WARNING",
            request_state_security=RequestStateSecurity(keys=[secret]) if secret else None,
            middleware=[after_each(warm_up.start)],
        )

    async def run_stdio_async(self) -> None:
        """As the SDK's own, but what is no message is answered."""
        server = self._lowlevel_server
        async with messages() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Library, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Runs a tool; whatever goes wrong comes back in the one error shape, never as a trace."""
        # A label per name that a caller makes up would grow without bound.
        label = name if name in self._schemas else "unknown"
        with metrics.GATEWAY_CALL_SECONDS.labels(label).time():
            outcome, result = await self._outcome(name, arguments, context)
        metrics.GATEWAY_CALLS.labels(label, outcome).inc()
        return result

    async def _outcome(
        self, name: str, arguments: dict[str, Any], context: Context[Library, Any] | None
    ) -> tuple[str, CallToolResult | InputRequiredResult]:
        try:
            self._check(name, arguments)
            return "ok", await super().call_tool(name, arguments, context)
        except MCPError:
            raise
        except Exception as error:
            known = _known(name, error)
            return known.code, failure(known)

    def _check(self, name: str, arguments: dict[str, Any]) -> None:
        if name not in self._schemas:
            raise NotFound(
                f"There is no tool {shown(name)}.", f"Tools here: {', '.join(self._schemas)}."
            )
        # An argument that is accepted and ignored gives a wrong answer that looks right.
        allowed = list(self._schemas[name].parameters["properties"])
        for argument in arguments:
            if argument not in allowed:
                near = difflib.get_close_matches(argument[:100], allowed, 1)
                hint = f"Did you mean {near[0]}?" if near else f"Parameters: {', '.join(allowed)}."
                raise InvalidArgument(f"{name} has no parameter {shown(argument)}.", hint)


def _registered(tool: Tool, shared: Library) -> McpTool:
    made = McpTool.from_function(
        tool.run, title=tool.title, annotations=tool.annotations, structured_output=True
    )
    if "notes" in tool.toolsets and (about := shared.about_notes()):
        # What this project's notes contain, in words that a model decides by.
        made.description = f"{made.description}\n\n{about}"
    made.parameters["additionalProperties"] = False
    made.parameters.setdefault("properties", {})
    return made


def _known(name: str, error: Exception) -> SeogaError:
    """The error a caller may see: the SDK wraps what a tool raises, its cause is the thing
    itself."""
    cause = error if isinstance(error, SeogaError) else error.__cause__
    if isinstance(cause, SeogaError):
        return cause
    if isinstance(cause, ValidationError) and cause.title.endswith("Arguments"):
        first = cause.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return InvalidArgument(f"{where}: {first['msg']}", f"See the input schema of {name}.")
    log.error("tool failed", tool=name, exc_info=error)
    request = logs.request_id.get()
    return SeogaError(
        "An internal error happened.",
        "The log of the gateway has the details" + (f" (request {request})." if request else "."),
    )


def after_each(action: Callable[[], None]) -> Callable[..., Any]:
    """Middleware that runs `action` after every message that was handled, so never before
    `initialize` is answered."""

    async def middleware(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        action()
        return result

    return middleware
