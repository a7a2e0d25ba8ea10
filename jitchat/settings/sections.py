"""Every setting, defined once: its type, default, description, limits, flag and variable.

`--help`, the checks, the variables, `jitchat config` and the list in `docs` are derived from
these definitions: a new setting is a field of its section.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.statements import Proposing
from jitchat.text.sanitize import one_line
from jitchat.values import AUTO, Mode, Reach, RecallOrder, WindowSize


class Secret(str):
    """A key. `repr` hides it, so that no traceback or log line shows it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'•••'" if self else "''"


@dataclass(frozen=True, slots=True)
class Setting:
    key: str
    """The name used in messages: `section.name`, `providers.NAME.limit` …"""
    kind: type[Any]
    default: object
    help: str
    flag: str = ""
    """The command-line flag; empty if there is none."""
    unit: str = ""
    """The flag's placeholder in `--help`."""
    choices: tuple[str, ...] = ()
    """The only values; of a number, words that are accepted in its place."""
    least: float | None = None
    most: float | None = None
    hidden: bool = False
    """Whether the value may contain a secret without being a `Secret`."""

    @property
    def variable(self) -> str:
        """The environment variable for the setting."""
        return f"JITCHAT_{self.key.replace('.', '_').upper()}"


def setting(help_text: str, default: Any = None, *, flag: str = "", **more: Any) -> Any:  # noqa: ANN401  as its field's type
    """Make the field of a setting. The setting's type is the field's; None means not set.

    `flag` is the flag as the help shows it: `--limit N`.
    """
    spelling, _, unit = flag.partition(" ")
    described = Setting("", type(default), default, help_text, spelling, unit, **more)
    metadata, in_repr = {"setting": described}, not described.hidden
    if default == {}:
        return field(default_factory=dict, metadata=metadata, repr=in_repr)
    return field(default=default, metadata=metadata, repr=in_repr)


def settings_of(table: type[Any], prefix: str) -> dict[str, Setting]:
    return {
        part.name: replace(
            part.metadata["setting"], key=f"{prefix}.{part.name}", kind=_kind_of(part.type)
        )
        for part in fields(table)
        if "setting" in part.metadata
    }


def _kind_of(annotation: Any) -> type[Any]:  # noqa: ANN401  a type, or one of typing's
    """Return the type of a value from its field's annotation: `int` for `int | None`."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    kind: type[Any] = _GENERIC.get(get_origin(annotation), annotation)
    return kind


_GENERIC: dict[Any, type[Any]] = {Mapping: dict, tuple: tuple}


def shown(value: object, *, hidden: bool = False) -> str:
    """Format a value as `jitchat config` does: on one line, with secrets hidden."""
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(name)} (hidden)" for name in value) or "none"
    if isinstance(value, tuple) and not hidden:
        return ", ".join(f'"{one_line(text)}"' for text in value) or "none"
    if hidden or isinstance(value, Secret):
        return "set (hidden)" if value else "not set"
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{one_line(value)}"' if isinstance(value, str) else str(value)


GLOBS = "globs matched against SERVER__TOOL, or server names"
PROTOCOLS = ("openai", "responses", "anthropic", "gemini", "ollama")
SAMPLING = ("temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
"""The names of the parameters that a provider and a persona have."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    mode: str = setting(
        f"how the window is chosen: {', '.join(Mode)}",
        "jit",
        flag="--mode MODE",
        choices=tuple(mode.value for mode in Mode),
    )
    system: str = setting("instructions that replace the built-in ones", "", flag="--system TEXT")
    persona: str = setting(
        "persona of conversations that do not choose one; the flag sets this conversation's",
        "",
        flag="--persona NAME",
    )


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """The provider in use. A value that is not set comes from the provider's table or preset."""

    name: str = setting("the provider to use", "reader", flag="--provider NAME")
    base_url: str = setting(
        "base URL of the API; default: the provider's own", "", flag="--base-url URL"
    )
    model: str = setting(
        "the model, or PROVIDER/MODEL if no base URL is set", "", flag="--model MODEL"
    )
    api_key: Secret = setting("API key", Secret())  # noqa: RUF009  as immutable as any str
    api_key_env: str = setting("name of the environment variable that holds the API key", "")
    api_key_cmd: str = setting("command that prints the API key", "", hidden=True)
    limit: int | None = setting("the model's context size in tokens", flag="--limit N", least=1)
    reserve: int | None = setting(
        "tokens kept free for the reply; default: a quarter of the limit, at most 2,048",
        flag="--reserve N",
        least=1,
    )
    temperature: float | None = setting("sampling temperature; default: the provider's", least=0)
    top_p: float | None = setting(
        "nucleus sampling: total probability of the tokens to sample from", least=0, most=1
    )
    top_k: int | None = setting("number of most likely tokens to sample from", least=0)
    seed: int | None = setting("seed for repeatable sampling, if the provider supports one")
    effort: str = setting("reasoning effort: low, medium, high …", "")
    max_tokens: int | None = setting(
        "maximum length of an answer in tokens, reasoning included", least=1
    )
    connect_seconds: float | None = setting(
        "timeout for connecting, in seconds; default: 5", least=0.1
    )
    read_seconds: float | None = setting(
        "longest wait for more data from the server, in seconds; default: 600", least=1
    )


@dataclass(frozen=True, slots=True)
class NamedProvider(ProviderSettings):
    """A table `[providers.NAME]`: a custom provider, or changes to a built-in one."""

    name: str = field(default="")
    protocol: str = setting(f"protocol of the API: {', '.join(PROTOCOLS)}", "", choices=PROTOCOLS)
    headers: Mapping[str, Secret] = setting("additional HTTP headers", {})


def _as_of(table: type[Any], name: str) -> Any:  # noqa: ANN401  as its field's type
    """Make a field with the same setting as the field `name` of another table."""
    known = next(part for part in fields(table) if part.name == name)
    return field(default=known.default, metadata=known.metadata)


@dataclass(frozen=True, slots=True)
class NamedPersona:
    """A table `[personas.NAME]`. A value that is not set comes from the settings."""

    name: str = field(default="")
    system: str = setting("the persona's instructions", "")
    provider: str = setting("the provider to use", "")
    model: str = setting("the model, or PROVIDER/MODEL", "")
    temperature: float | None = _as_of(ProviderSettings, "temperature")
    top_p: float | None = _as_of(ProviderSettings, "top_p")
    top_k: int | None = _as_of(ProviderSettings, "top_k")
    seed: int | None = _as_of(ProviderSettings, "seed")
    effort: str = _as_of(ProviderSettings, "effort")
    max_tokens: int | None = _as_of(ProviderSettings, "max_tokens")
    tools: tuple[str, ...] | None = setting(f"MCP tools to offer ({GLOBS}); default: all")


def _price(of: str) -> Any:  # noqa: ANN401  as its field's type
    return setting(f"price of a million {of}, in US dollars", least=0)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A table `[models."NAME"]`: the user's own data on a model. Prices are in US dollars."""

    name: str = field(default="")
    limit: int | None = setting("context size in tokens", least=1)
    input_price: float | None = _price("input tokens")
    cached_price: float | None = _price("tokens read from the provider's cache")
    written_price: float | None = _price("tokens written to the provider's cache")
    output_price: float | None = _price("output tokens")


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    name: str = setting(
        "the embedder: auto, fastembed, minilm, builtin or none",
        "auto",
        flag="--embedder NAME",
        choices=("auto", "fastembed", "minilm", "builtin", "none"),
    )
    model: str = setting("the embedding model that fastembed loads", DEFAULT_MODEL)
    path: str = setting(
        "folder with the embedding model's ONNX files", "", flag="--embedder-path DIR"
    )


@dataclass(frozen=True, slots=True)
class WindowSettings:
    size: WindowSize = setting(  # noqa: RUF009  as immutable as any int
        "tokens that a window may have once not everything fits; auto: what suits the model",
        AUTO,
        flag="--size N|auto",
        choices=(AUTO,),
        least=1,
    )
    order: str = setting(
        "order of recalled turns: date, best-last (best match nearest the question), or auto: by"
        " date except in windows of less than 2,000 tokens",
        RecallOrder.AUTO.value,
        choices=tuple(order.value for order in RecallOrder),
    )


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What is remembered across conversations, and the scope of recall."""

    facts: str = setting(
        "facts found in your messages: ask (propose them), auto (keep them) or off",
        Proposing.ASK.value,
        choices=tuple(each.value for each in Proposing),
    )
    recall: str = setting(
        "where turns are recalled from: this conversation, its project or all",
        Reach.CONVERSATION.value,
        flag=f"--recall {'|'.join(Reach)}",
        choices=tuple(each.value for each in Reach),
    )


@dataclass(frozen=True, slots=True)
class SpendingSettings:
    """Spending limits in US dollars; None for no limit."""

    day: float | None = setting("spending limit per day, in US dollars", least=0)
    conversation: float | None = setting("spending limit per conversation, in US dollars", least=0)
    send: float | None = setting(
        "limit on the cost of one message, all requests included, in US dollars", least=0
    )
    warn: float = setting("fraction of a limit at which a warning is shown", 0.8, least=0, most=1)


@dataclass(frozen=True, slots=True)
class SmallModelSettings:
    """A small model for one task; each subclass sets the task's own default model and timeout."""

    provider: str = setting("provider of the small model; empty: the provider in use", "")
    model: str = setting("a small model; empty: none", "")
    base_url: str = setting("base URL of a separate server for the small model", "")
    api_key: Secret = setting(  # noqa: RUF009  see ProviderSettings
        "API key of that server; default: the provider's key, if the server is the same", Secret()
    )
    timeout: float = setting("timeout for an answer, in seconds", 2.0, least=0.1)


@dataclass(frozen=True, slots=True)
class PickerSettings(SmallModelSettings):
    model: str = setting("a small model that picks the turns to recall; empty: none", "")


@dataclass(frozen=True, slots=True)
class SummariserSettings(SmallModelSettings):
    model: str = setting("a small model that writes index lines; empty: none", "")
    timeout: float = setting("timeout for an answer, in seconds", 60.0, least=0.1)


@dataclass(frozen=True, slots=True)
class CompactorSettings(SmallModelSettings):
    model: str = setting(
        "a small, fast model that compacts large results; empty: the picker's, if any", ""
    )
    fallback: str = setting(
        "a model of the same provider with a larger context, for larger inputs; empty: none", ""
    )
    timeout: float = setting(
        "timeout for all results of an answer together, in seconds", 8.0, least=0.1, most=8.0
    )


@dataclass(frozen=True, slots=True)
class ObserverSettings(SmallModelSettings):
    """Which model makes the observations of the mode `observe`, and when."""

    model: str = setting(
        "a small model that makes observations and finds facts; empty: built-in rules", ""
    )
    fallback: str = _as_of(CompactorSettings, "fallback")
    timeout: float = setting("timeout for an answer, in seconds", 60.0, least=0.1)
    consent: str = setting(
        "whether turns are observed after a reply: auto, ask (first) or off",
        "auto",
        choices=("ask", "auto", "off"),
    )
    observe: float = setting(
        "fraction of the limit that turns and observations may fill before turns are observed",
        0.30,
        least=0.01,
        most=1,
    )
    reflect: float = setting(
        "fraction of observer.observe that observations may fill before they are rewritten",
        0.50,
        least=0.05,
        most=1,
    )


@dataclass(frozen=True, slots=True)
class WriterSettings(SmallModelSettings):
    model: str = setting("a small model that writes the memory document; empty: built-in rules", "")
    fallback: str = _as_of(CompactorSettings, "fallback")
    timeout: float = setting("timeout for an answer, in seconds", 60.0, least=0.1)


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """A cross-encoder of fastembed's list, used if it is on this machine."""

    model: str = setting("a cross-encoder that reranks the shortlist; empty: none", "")
    path: str = setting("folder with the cross-encoder's ONNX files", "")
    timeout: float = setting("timeout for reranking, in seconds", 1.0, least=0.05)


@dataclass(frozen=True, slots=True)
class ToolsSettings:
    """Which tools the model may call, and how much of a result enters the window."""

    request_context: str = setting(
        "when the model may request more context: off, on or auto (every mode except full and"
        " recency)",
        "auto",
        flag="--request-context WHEN",
        choices=("off", "auto", "on"),
    )
    max_steps: int = setting(
        "maximum number of answers per turn that may call tools", 12, least=1, most=1000
    )
    large_result: int = setting(
        "size in tokens from which a tool result is held at the gate", 4_000, least=1
    )
    tools: str = setting(
        "which tools are offered: all, or auto (only those that match the message, if all would"
        " take more than a tenth of the budget)",
        "auto",
        choices=("auto", "all"),
    )
    allow: tuple[str, ...] = setting(f"tools that run without confirmation: {GLOBS}", ())
    ask: tuple[str, ...] = setting(f"tools that need confirmation even if allowed: {GLOBS}", ())
    deny: tuple[str, ...] = setting(f"tools that are neither offered nor run: {GLOBS}", ())


@dataclass(frozen=True, slots=True)
class McpServer:
    """A table `[mcp.NAME]`: an MCP server, run on this machine or reached over HTTP.

    In command, args, env, cwd, url and headers, `${NAME}` and `${NAME:-default}` are replaced by
    the variables' values when the server is started.
    """

    name: str = field(default="")
    command: str = setting("program that runs the server", "")
    args: tuple[str, ...] = setting("arguments of the command", (), hidden=True)
    env: Mapping[str, Secret] = setting(
        "additional environment variables for the command", {}, hidden=True
    )
    cwd: str = setting("working directory of the command; empty: your home folder", "")
    url: str = setting("URL of a server that is reached over HTTP", "", hidden=True)
    headers: Mapping[str, Secret] = setting("additional HTTP headers", {}, hidden=True)
    allow: tuple[str, ...] = setting("globs of tools that run without confirmation", ())
    ask: tuple[str, ...] = setting("globs of tools that need confirmation even if allowed", ())
    deny: tuple[str, ...] = setting("globs of tools that are neither offered nor run", ())
    timeout: float = setting(
        "timeout for starting the server, in seconds", 30.0, least=0.1, most=600
    )
    enabled: bool = setting("whether the server is started", True)


@dataclass(frozen=True, slots=True)
class LabSettings:
    answer: int | None = setting(
        "maximum tokens of an answer in the rot lab; default: 64, or 32 for a model run locally",
        least=1,
    )


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    theme: str = setting("name of a Textual theme", "textual-dark")
    inspector: bool | None = setting(
        "whether the inspector is open at startup; default: as you last left it"
    )


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of the configuration."""

    chat: ChatSettings = field(default_factory=ChatSettings)
    provider: ProviderSettings = field(default_factory=ProviderSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    window: WindowSettings = field(default_factory=WindowSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    spending: SpendingSettings = field(default_factory=SpendingSettings)
    picker: PickerSettings = field(default_factory=PickerSettings)
    summariser: SummariserSettings = field(default_factory=SummariserSettings)
    compactor: CompactorSettings = field(default_factory=CompactorSettings)
    observer: ObserverSettings = field(default_factory=ObserverSettings)
    writer: WriterSettings = field(default_factory=WriterSettings)
    reranker: RerankerSettings = field(default_factory=RerankerSettings)
    tools: ToolsSettings = field(default_factory=ToolsSettings)
    lab: LabSettings = field(default_factory=LabSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)


SECTIONS: dict[str, type[Any]] = get_type_hints(Sections)
NAMED: dict[str, type[Any]] = {
    "providers": NamedProvider,
    "models": NamedModel,
    "mcp": McpServer,
    "personas": NamedPersona,
}
"""Sections that consist of tables with names chosen by the user, each with its table."""


def key_of_table(section: str, name: str) -> str:
    """Return what the keys of a table start with: `providers.work`, `models."gpt-5-mini"`."""
    return f'models."{name}"' if section == "models" else f"{section}.{name}"


SETTINGS = {
    made.key: made
    for section, kind in SECTIONS.items()
    for made in settings_of(kind, section).values()
}
"""Every setting of a section by `section.name`, in order."""

_FORMER_PARTS = {
    "recent": 384,
    "retrieved": 1_536,
    "index": 256,
    "standing": 256,
    "facts": 192,
    "whole_file": 1_536,
    "documents": 2_048,
}
RETIRED = {
    key: Setting(key, int, tokens, "a share of window.size now")
    for key, tokens in ((f"window.{name}", tokens) for name, tokens in _FORMER_PARTS.items())
}
"""Settings of earlier versions with their defaults; they are still read, and what became of them is
said once."""
