"""`serve`, `service`, `connect`: the server over stdio or HTTP, and how clients reach it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from seoga.cli.listening import listen, url_of
from seoga.cli.options import (
    AsJson,
    BasePath,
    ConfigFile,
    Host,
    Port,
    Tools,
    chosen_settings,
)
from seoga.cli.output import emit, say, show_text
from seoga.cli.targets import one_kb
from seoga.errors import InvalidArgument
from seoga.exposure import refuse_open
from seoga.instances import FOUND, found_upwards
from seoga.kb import CONFIG
from seoga.settings import Settings, settings

DEFAULT_TOOLS = "documents"


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("serve")(serve)
    app.command("service")(service)
    app.command("connect")(connect)


def serve(
    *,
    base_path: BasePath = None,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option("--transport", help="How clients speak to it.")
    ] = "stdio",
    host: Host = None,
    port: Port = None,
    tools: Tools = DEFAULT_TOOLS,
    config: ConfigFile = None,
) -> int:
    """Serve what is indexed over MCP."""
    from seoga.wiring import build_stack, load

    chosen = chosen_settings(base_path, host=host, port=port)
    load("seoga_gateway.server:choose")(tools)
    project = _project(chosen.base_path, config, tools)
    if transport == "stdio":
        stack = build_stack(chosen)
        stack.instance = project
        # The client ends this process when it likes; a run that it asked for must go on.
        stack.detached_worker = True
        load("seoga_gateway.serve:serve_stdio")(stack, tools)
        return 0
    refuse_open(chosen)
    # Asked for here, because a taken port must be one clear line before anything starts.
    with listen(chosen.host, chosen.port) as held:
        say(f"Serving MCP at {url_of(held)}")
        chosen = chosen.model_copy(update={"port": held.getsockname()[1]})
    stack = build_stack(chosen)
    stack.instance = project
    load("seoga_gateway.serve:serve_http")(stack, tools)
    return 0


def _project(base: Path, config: Path | None, tools: str) -> Path | None:
    """The configuration file that search_notes speaks of. Raises NotFound, ConfigError."""
    if config is not None:
        kb = one_kb(base, None, config)
        return kb.file or kb.folder / CONFIG
    return found_upwards(FOUND, Path.cwd()) if "notes" in tools.split(",") else None


def service(
    name: Annotated[
        Literal["gateway", "extraction", "embedding", "indexer", "fake-provider"],
        typer.Argument(
            help="One of the four, or fake-provider: a stand-in for OpenAI, Azure, Ollama, Gemini"
            " and Anthropic, for trying Seoga without a key."
        ),
    ],
    host: Host = None,
    port: Port = None,
) -> int:
    """Run one service under gunicorn; everything else is set by the environment."""
    chosen = chosen_settings(host=host, port=port)
    if name == "fake-provider":
        from seoga.wiring import load

        with listen(chosen.host, chosen.port) as held:
            chosen = chosen.model_copy(update={"port": held.getsockname()[1]})
            say(f"Fake provider (no model behind it) at {url_of(held).removesuffix('/mcp')}")
        load("seoga_embedding.fake.serve:serve")(chosen)
        return 0
    from seoga.service import run_service

    if name == "gateway":
        refuse_open(chosen)
    run_service(name, chosen)
    return 0


def connect(
    base_path: BasePath = None,
    host: Host = None,
    port: Port = None,
    tools: Tools = DEFAULT_TOOLS,
    as_json: AsJson = False,
) -> int:
    """Print client configuration for both transports, ready to paste."""
    from seoga.wiring import load

    chosen = chosen_settings(base_path, host=host, port=port)
    load("seoga_gateway.server:choose")(tools)
    url = reachable_url(chosen)
    if as_json:
        emit({"http": http_config(url), "stdio": stdio_config(chosen.base_path, tools)})
    else:
        show_text(connection_text(url, chosen.base_path, tools))
    return 0


def reachable_url(chosen: Settings) -> str:
    """Where clients reach a server with these settings. Raises InvalidArgument for port 0 and
    ConfigError for an address that a server would refuse."""
    refuse_open(chosen)
    if not chosen.port:
        raise InvalidArgument(
            "port 0 means any free one, which no client can know",
            "Give the port that the server listens on: --port, or SEOGA_PORT.",
        )
    # A container publishes its port under an address of its own.
    address = chosen.published or f"{_bracketed(chosen.host)}:{chosen.port}"
    return f"http://{address}/mcp"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def connection_text(url: str, base_path: Path, tools: str = DEFAULT_TOOLS) -> str:
    """Both client configurations with a line above each."""
    return "\n".join(
        (
            "Client configuration over HTTP, while the server runs:",
            _pretty(http_config(url)),
            "Client configuration over stdio, where the client starts the server itself:",
            _pretty(stdio_config(base_path, tools)),
        )
    )


def http_config(url: str) -> dict[str, Any]:
    """The `mcpServers` object of a client that speaks HTTP."""
    return {"mcpServers": {"seoga": {"type": "http", "url": url}}}


def stdio_config(base_path: Path, tools: str = DEFAULT_TOOLS) -> dict[str, Any]:
    """The `mcpServers` object of a client that starts the server."""
    arguments = ["serve"]
    if base_path != type(settings()).model_fields["base_path"].get_default(
        call_default_factory=True
    ):
        arguments += ["--base-path", str(base_path)]
    if tools != DEFAULT_TOOLS:
        arguments += ["--tools", tools]
    return {"mcpServers": {"seoga": {"command": command(), "args": arguments}}}


def command() -> str:
    """The full path of this command: clients do not share our PATH."""
    beside = Path(sys.executable).parent / "seoga"
    return str(beside if beside.exists() else Path(sys.argv[0]).absolute())


def _pretty(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
