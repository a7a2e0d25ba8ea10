"""What can be set: each setting's type, default, meaning, limits, flag and variable, once.

`--help`, the checks, the variables, `jitchat config` and the list in `docs` go by what stands here:
a new setting is a field of its section.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.statements import Proposing
from jitchat.text.sanitize import one_line
from jitchat.values import Mode, Reach, RecallOrder


class Secret(str):
    """A key: never shown by `repr`, so neither by a traceback nor by a log line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'•••'" if self else "''"


@dataclass(frozen=True, slots=True)
class Setting:
    key: str
    """As messages call it: `section.name`, `providers.NAME.limit` …"""
    kind: type[Any]
    default: object
    help: str
    flag: str = ""
    """The command line's name for it; empty where it has none."""
    unit: str = "TEXT"
    """What the flag takes, as `--help` writes it."""
    variable: str = ""
    """A well-known variable; every setting has JITCHAT_SECTION_NAME besides."""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    hidden: bool = False
    """Whether the value may hold a secret, as a Secret does."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it; the last one that is set wins."""
        own = f"JITCHAT_{self.key.replace('.', '_').upper()}"
        return (self.variable, own) if self.variable else (own,)


def setting(default: Any, help_text: str, **more: Any) -> Any:  # noqa: ANN401  as its field's type
    """Make the field of a setting; its type is that of the field, where None means not set."""
    described = Setting("", type(default), default, help_text, **more)
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
    """Take the type of a value from its field's annotation: `int` from `int | None`."""
    if isinstance(annotation, UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    kind: type[Any] = _GENERIC.get(get_origin(annotation), annotation)
    return kind


_GENERIC: dict[Any, type[Any]] = {Mapping: dict, tuple: tuple}


def shown(value: object, *, hidden: bool = False) -> str:
    """Write a value as `jitchat config` does: on one line, and never a secret."""
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


GLOBS = "globs over SERVER__TOOL, or a server's name"
PROTOCOLS = ("openai", "responses", "anthropic", "gemini", "ollama")


@dataclass(frozen=True, slots=True)
class ChatSettings:
    mode: str = setting(
        "jit",
        f"how the window is chosen: {', '.join(Mode)}",
        flag="--mode",
        unit="MODE",
        variable="JITCHAT_MODE",
        choices=tuple(mode.value for mode in Mode),
    )
    system: str = setting(
        "", "instructions in place of the built-in ones", flag="--system", unit="TEXT"
    )
    persona: str = setting(
        "",
        "the persona of conversations that have none of their own",
        flag="--persona",
        unit="NAME",
    )


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Who answers. What is not set is as the provider's own table or its preset has it."""

    name: str = setting("reader", "who answers", flag="--provider", unit="NAME")
    base_url: str = setting(
        "", "the address of its API, in place of its own", flag="--base-url", unit="URL"
    )
    model: str = setting(
        "", "the model there, or PROVIDER/MODEL without a base URL", flag="--model", unit="MODEL"
    )
    api_key: Secret = setting(Secret(), "its key")  # noqa: RUF009  as immutable as any str
    api_key_env: str = setting("", "the variable that holds its key")
    api_key_cmd: str = setting("", "a command that prints its key", hidden=True)
    limit: int | None = setting(None, "the model's context size", flag="--limit", unit="N", least=1)
    reserve: int | None = setting(
        None,
        "tokens kept free for the reply; a quarter, 2,048 at most",
        flag="--reserve",
        unit="N",
        least=1,
    )
    temperature: float | None = setting(
        None, "the sampling temperature; not sent if not set", least=0
    )
    top_p: float | None = setting(None, "the share of likely words to choose from", least=0, most=1)
    top_k: int | None = setting(None, "how many likely words to choose from", least=0)
    seed: int | None = setting(None, "what makes sampling repeatable, where it is")
    effort: str = setting("", "how hard a reasoning model thinks: low, medium, high …")
    max_tokens: int | None = setting(None, "the longest answer in tokens", least=1)
    connect_seconds: float | None = setting(
        None, "how long connecting may take; 5 if not set", least=0.1
    )
    read_seconds: float | None = setting(
        None, "how long a silence of the server may last; 600 if not set", least=1
    )


@dataclass(frozen=True, slots=True)
class NamedProvider(ProviderSettings):
    """A table `[providers.NAME]`: a provider of one's own, or changes to a built-in one."""

    name: str = field(default="")
    protocol: str = setting("", "what its API speaks", choices=PROTOCOLS)
    headers: Mapping[str, Secret] = setting({}, "headers to send besides")


def _as_of_provider(name: str) -> Any:  # noqa: ANN401  as its field's type
    """Make the field of a setting that ProviderSettings has, too."""
    known = next(part for part in fields(ProviderSettings) if part.name == name)
    return field(default=known.default, metadata=known.metadata)


@dataclass(frozen=True, slots=True)
class NamedPersona:
    """A table `[personas.NAME]`; what is not set is as the settings have it."""

    name: str = field(default="")
    system: str = setting("", "its instructions")
    provider: str = setting("", "who answers")
    model: str = setting("", "the model there, or PROVIDER/MODEL")
    temperature: float | None = _as_of_provider("temperature")
    top_p: float | None = _as_of_provider("top_p")
    top_k: int | None = _as_of_provider("top_k")
    seed: int | None = _as_of_provider("seed")
    effort: str = _as_of_provider("effort")
    max_tokens: int | None = _as_of_provider("max_tokens")
    tools: tuple[str, ...] | None = setting(
        None, f"which tools of servers are offered, all if not set: {GLOBS}"
    )


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A table `[models."NAME"]`: what the user knows of a model. Prices are in US dollars."""

    limit: int | None = setting(None, "its context size", least=1)
    input_price: float | None = setting(None, "what a million tokens of input cost", least=0)
    cached_price: float | None = setting(
        None, "what a million tokens from the provider's cache cost", least=0
    )
    written_price: float | None = setting(
        None, "what a million tokens put into that cache cost", least=0
    )
    output_price: float | None = setting(None, "what a million tokens of output cost", least=0)


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    name: str = setting(
        "auto",
        "the embedder: auto, fastembed, minilm, builtin or none",
        flag="--embedder",
        unit="NAME",
        choices=("auto", "fastembed", "minilm", "builtin", "none"),
    )
    model: str = setting(DEFAULT_MODEL, "the model for fastembed")
    path: str = setting(
        "", "a folder with the embedding model's ONNX files", flag="--embedder-path", unit="DIR"
    )
    download: bool = setting(True, "with auto: fetch a missing model in the background")


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """What a window spends on what, in tokens."""

    recent: int = setting(384, "tokens for the recent block; of long turns it holds more", least=0)
    retrieved: int = setting(
        1_536, "tokens for retrieved turns at most; a short conversation gets fewer", least=0
    )
    index: int = setting(256, "tokens for index lines", least=0)
    order: str = setting(
        RecallOrder.BEST_LAST.value,
        "the order of recalled turns: best-last, nearest to the question, or date",
        choices=tuple(order.value for order in RecallOrder),
    )
    standing: int = setting(256, "tokens for standing instructions, in every mode", least=0)
    facts: int = setting(192, "tokens for facts that fit the message", least=0)
    whole_file: int = setting(
        1_536, "jit: tokens up to which an attached file goes along whole with its turn", least=0
    )
    documents: int = setting(2_048, "jit: tokens for the parts of files that are needed", least=0)


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What is remembered across conversations, and how far recall reaches."""

    facts: str = setting(
        Proposing.ASK.value,
        "facts in what you say: ask proposes them, auto keeps them, off looks for none",
        unit="WHEN",
        choices=tuple(each.value for each in Proposing),
    )
    recall: str = setting(
        Reach.CONVERSATION.value,
        "where turns are recalled from: this conversation, its project, or all",
        flag="--recall",
        unit="|".join(Reach),
        choices=tuple(each.value for each in Reach),
    )


@dataclass(frozen=True, slots=True)
class SpendingSettings:
    """What may be spent, in US dollars; what is not set has no limit."""

    day: float | None = setting(None, "US dollars that may be spent on a day", least=0)
    conversation: float | None = setting(
        None, "US dollars that may be spent on a conversation", least=0
    )
    send: float | None = setting(
        None, "US dollars that a message may cost, with all requests of its answer", least=0
    )
    warn: float = setting(
        0.8, "the share of a limit from which on a warning is given", least=0, most=1
    )


@dataclass(frozen=True, slots=True)
class SmallModelSettings:
    """A small model that does a part of the work; each part says which and how long, anew."""

    provider: str = setting("", "who serves it, by name; empty: the provider that answers")
    model: str = setting("", "a small model; empty: none")
    base_url: str = setting("", "address of a server of its own")
    api_key: Secret = setting(  # noqa: RUF009  see ProviderSettings
        Secret(), "the key of that server; where it is the provider's, so is the key"
    )
    timeout: float = setting(2.0, "how many seconds its answer may take", least=0.1)


@dataclass(frozen=True, slots=True)
class PickerSettings(SmallModelSettings):
    model: str = setting("", "a small model that picks the turns to recall; empty: none")


@dataclass(frozen=True, slots=True)
class SummariserSettings(SmallModelSettings):
    model: str = setting("", "a small model that writes index lines; empty: none")
    timeout: float = setting(60.0, "how many seconds its answer may take", least=0.1)


@dataclass(frozen=True, slots=True)
class CompactorSettings(SmallModelSettings):
    model: str = setting(
        "", "a small fast model that compacts large results; empty: the picker's, or none"
    )
    fallback: str = setting(
        "", "a model of the same provider with a larger context, for what is too large; empty: none"
    )
    timeout: float = setting(
        8.0, "how many seconds all results of an answer may take together", least=0.1, most=8.0
    )


@dataclass(frozen=True, slots=True)
class ObserverSettings(SmallModelSettings):
    """Who makes the observations of the mode `observe`, and when."""

    model: str = setting(
        "", "a small model that makes observations and finds facts; empty: what is built in"
    )
    fallback: str = setting(
        "", "a model of the same provider with a larger context, for what is too large; empty: none"
    )
    timeout: float = setting(60.0, "how many seconds its answer may take", least=0.1)
    consent: str = setting(
        "auto",
        "whether turns are observed after a reply: auto, ask first, or off",
        choices=("ask", "auto", "off"),
    )
    observe: float = setting(
        0.30,
        "the share of the limit that turns and observations may take before turns are observed",
        least=0.01,
        most=1,
    )
    reflect: float = setting(
        0.50,
        "the share of that which observations may take before they are rewritten",
        least=0.05,
        most=1,
    )


@dataclass(frozen=True, slots=True)
class WriterSettings(SmallModelSettings):
    model: str = setting(
        "", "a small model that writes the memory document; empty: what is built in"
    )
    fallback: str = setting(
        "", "a model of the same provider with a larger context, for what is too large; empty: none"
    )
    timeout: float = setting(60.0, "how many seconds its answer may take", least=0.1)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    context_only: bool = setting(
        True,
        "whether the memory benchmark runs the memory document alone; false: entries per message",
    )


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """A cross-encoder of fastembed's list, which is used where it is on this machine."""

    model: str = setting("", "a cross-encoder that reranks the shortlist; empty: none")
    path: str = setting("", "a folder with its ONNX files", unit="DIR")
    timeout: float = setting(1.0, "how many seconds it may take", least=0.05)


@dataclass(frozen=True, slots=True)
class ToolsSettings:
    """What a model may call, and how much of what comes back enters the window."""

    request_context: str = setting(
        "auto",
        "when a model may ask the store for more: off, on, or auto, but in full and recency",
        flag="--request-context",
        unit="WHEN",
        choices=("off", "auto", "on"),
    )
    max_steps: int = setting(12, "how many answers of a turn may call tools", least=1, most=1000)
    large_result: int = setting(4_000, "tokens from which on a result is held back", least=1)
    tools: str = setting(
        "auto",
        "which are offered: all, or auto, those that fit the message where all would take more"
        " than a tenth of the budget",
        choices=("auto", "all"),
    )
    allow: tuple[str, ...] = setting((), f"what runs without a question: {GLOBS}")
    ask: tuple[str, ...] = setting((), f"what is asked about, whatever is allowed: {GLOBS}")
    deny: tuple[str, ...] = setting((), f"what is neither offered nor run: {GLOBS}")


@dataclass(frozen=True, slots=True)
class McpServer:
    """A table `[mcp.NAME]`: a server of tools that runs here, or that has an address.

    In command, args, env, cwd, url and headers, `${NAME}` and `${NAME:-default}` stand for
    variables, which are read when the server is started.
    """

    name: str = field(default="")
    command: str = setting("", "the program that is the server")
    args: tuple[str, ...] = setting((), "its arguments", hidden=True)
    env: Mapping[str, Secret] = setting({}, "variables for it besides", hidden=True)
    cwd: str = setting("", "the folder in which it runs")
    url: str = setting("", "its address, for one that is reached over HTTP", hidden=True)
    headers: Mapping[str, Secret] = setting({}, "headers to send besides", hidden=True)
    allow: tuple[str, ...] = setting((), "globs of its tools that run without a question")
    ask: tuple[str, ...] = setting((), "globs of its tools that are asked about")
    deny: tuple[str, ...] = setting((), "globs of its tools that are neither offered nor run")
    timeout: float = setting(30.0, "how many seconds starting it may take", least=0.1, most=600)
    enabled: bool = setting(True, "whether it is started")


@dataclass(frozen=True, slots=True)
class LabSettings:
    answer: int | None = setting(
        None,
        "tokens that an answer of the rot lab may take; not set: 64, and 32 of a model run here",
        least=1,
    )


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    theme: str = setting("textual-dark", "one of Textual's themes")
    inspector: bool | None = setting(
        None, "whether the inspector is open at the start; not set: as it was left"
    )


SECTIONS: dict[str, type[Any]] = {
    "chat": ChatSettings,
    "provider": ProviderSettings,
    "embedder": EmbedderSettings,
    "window": WindowSettings,
    "memory": MemorySettings,
    "spending": SpendingSettings,
    "picker": PickerSettings,
    "summariser": SummariserSettings,
    "compactor": CompactorSettings,
    "observer": ObserverSettings,
    "writer": WriterSettings,
    "reranker": RerankerSettings,
    "tools": ToolsSettings,
    "agent": AgentSettings,
    "lab": LabSettings,
    "screen": ScreenSettings,
}
SETTINGS = {
    made.key: made
    for section, kind in SECTIONS.items()
    for made in settings_of(kind, section).values()
}
"""Every setting of a section by `section.name`, in order."""
