"""Every key of the configuration: its type, its default and what it means. `asky.wiring` hands the values down.

A table of TOML is a frozen dataclass, a family of named tables is a `Mapping` from name to one, and anything else is a
value; a `Mapping` to `Any` is one too, a table of the user's own making. `None` stands for a key that nothing set.
`asky.config.keys` reads this file; the packaged `research.toml` and the reference page are generated from it.

    Settings
    +- research: Research              research.toml
    |  +- chunking: Chunking
    |  +- embedding: Embedding
    |  +- retrieval: Retrieval
    |  +- reading: Reading
    |  +- shortlist: Shortlist
    |  +- sources: Sources
    |  +- cache: Cache
    |  +- source_adapters: NAME -> SourceAdapter
    +- search: Search                  research.toml
    |  +- searxng, brave, ...: SearchService
    +- network: Network                research.toml
    +- budget: Budget                  research.toml
    +- ui: Ui                          research.toml
    +- prompts: NAME -> text           research.toml
    +- tools: NAME -> CustomTool       research.toml
    +- default: str                    models.toml
    +- providers: NAME -> Provider     models.toml
    |  +- timeouts: Timeouts
    +- models: NAME -> Model           models.toml
"""

# ruff: noqa: RUF009 - the calls in the dataclasses are `dataclasses.field`
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["fp32", "int8"]
Engine = Literal["auto", "chroma", "exact"]
When = Literal["auto", "always", "never"]
WebKind = Literal["web", "paper"]

EXTRACTIVE = "extractive"
"""The provider that is built in: it needs no table, no key and no network."""

_REQUIRED: Any = dataclasses.MISSING


def _key(
    default: Any, meaning: str, *, low: float | None = None, high: float | None = None, project: bool = False
) -> Any:
    """A key of a table.

    `low` and `high` bound a number, both included. `project` says that a project's `.asky.toml` may set the key: only
    where no value of it can run a program, reach other files or hosts, cost money, or lift a limit that protects the
    machine.
    """
    facts = {"meaning": meaning, "low": low, "high": high, "project": project}
    return dataclasses.field(default=default, metadata=facts)


def _table(factory: Any, meaning: str) -> Any:
    return dataclasses.field(default_factory=factory, metadata={"meaning": meaning})


def _free_table(meaning: str) -> Any:
    """A key whose value is a table without a schema, replaced whole by a later layer."""
    facts = {"meaning": meaning, "low": None, "high": None, "project": False}
    return dataclasses.field(default_factory=lambda: MappingProxyType({}), metadata=facts)


@dataclass(frozen=True, slots=True)
class Chunking:
    max_tokens: int = _key(200, "Longest chunk, in tokens of the embedding model.", low=16, high=8192, project=True)
    overlap_tokens: int = _key(
        30,
        "Tokens that a chunk repeats from the one before it; at most half of max_tokens.",
        low=0,
        high=4096,
        project=True,
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    model: str = _key("all-MiniLM-L6-v2", "A sentence-transformers model: a name on the Hugging Face hub, or a folder.")
    device: Device = _key("auto", "Where vectors are computed; auto takes CUDA where there is one.")
    precision: Precision = _key("fp32", "int8 computes faster on a CPU and ranks slightly differently.")
    batch_size: int = _key(32, "Texts that are embedded together.", low=1, high=1024)
    local_files_only: bool = _key(False, "Never download a model; use what is installed or cached.")


@dataclass(frozen=True, slots=True)
class Retrieval:
    engine: Engine = _key(
        "auto", "Dense search: an exact scan, Chroma, or the scan up to exact_max_chunks.", project=True
    )
    exact_max_chunks: int = _key(
        400_000, "Chunks in scope up to which auto scans exactly.", low=0, high=10_000_000, project=True
    )
    dense_weight: float = _key(
        0.7, "Weight of the dense score; the lexical score has the rest.", low=0, high=1, project=True
    )
    candidates: int = _key(200, "Best chunks of each leg that are ranked together.", low=1, high=10_000, project=True)
    embed_at_once: int = _key(
        128,
        "Passages that a question embeds at once where some are not embedded yet.",
        low=1,
        high=100_000,
        project=True,
    )


@dataclass(frozen=True, slots=True)
class Reading:
    max_file_mb: int = _key(64, "Largest file that is read, in megabytes.", low=1, high=4096)
    timeout_s: float = _key(20.0, "Longest time for reading one file, in seconds.", low=0.1, high=3600)
    memory_mb: int = _key(1024, "Most memory for reading one file, in megabytes.", low=128, high=1_048_576)
    workers: int = _key(2, "Files that are read at the same time.", low=1, high=64)


@dataclass(frozen=True, slots=True)
class Shortlist:
    """How web sources are chosen before a model sees any of them."""

    research: bool = _key(True, "Whether research questions rank their web sources first.", project=True)
    standard: bool = _key(True, "Whether other questions rank their web sources first.", project=True)
    max_candidates: int = _key(40, "Addresses that are considered, at most.", low=1, high=1000)
    max_fetch_urls: int = _key(20, "Pages that are fetched for a shortlist, at most.", low=1, high=200)
    top_k: int = _key(8, "Sources that a shortlist keeps.", low=1, high=100, project=True)
    concurrency: int = _key(8, "Pages that are fetched at the same time.", low=1, high=64)


@dataclass(frozen=True, slots=True)
class Sources:
    """Which sources on the web are wanted. Addresses that the question names are read whatever is allowed here."""

    allow_domains: tuple[str, ...] = _key((), "Domains whose pages are used; without any, all.", project=True)
    deny_domains: tuple[str, ...] = _key((), "Domains whose pages are never read.", project=True)
    kinds: tuple[WebKind, ...] = _key(
        (), "Kinds of sources that are used, web or paper; without any, both.", project=True
    )


@dataclass(frozen=True, slots=True)
class Cache:
    """Web pages that were read before."""

    ttl_hours: float = _key(24.0, "Hours for which a page is used again without asking for it.", low=0, high=87_600)
    search_ttl_hours: float = _key(1.0, "Hours for which a search is not made again.", low=0, high=8760)
    max_mb: int = _key(
        1024, "Text of pages that is kept, in megabytes; the longest unused go first.", low=1, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class SourceAdapter:
    """Programs that find and read the sources under one prefix: `tool` does both, or each has its own."""

    prefix: str = _key(_REQUIRED, 'Targets that start with this go to the adapter, such as "wiki://".')
    tool: tuple[str, ...] = _key((), "Program, with its arguments, that discovers and reads.")
    discover_tool: tuple[str, ...] = _key((), "Program, with its arguments, that lists the sources of a target.")
    read_tool: tuple[str, ...] = _key((), "Program, with its arguments, that reads one source.")
    timeout_s: float = _key(30.0, "Longest time for one call, in seconds.", low=0.1, high=3600)


@dataclass(frozen=True, slots=True)
class Research:
    local_document_roots: tuple[Path, ...] = _key((), "Folders and files whose documents may be read.")
    max_turns: int = _key(8, "Model calls in one run, at most.", low=1, high=200)
    passage_tokens: int = _key(6000, "Tokens of passages that one tool call may return.", low=100, high=1_000_000)
    history_tokens: int = _key(
        16_000, "Tokens of earlier turns of the session that go with a question; 0 sends none.", low=0, high=1_000_000
    )
    max_passages: int = _key(12, "Passages that one tool call may return.", low=1, high=1000)
    chunking: Chunking = _table(Chunking, "How documents are cut into chunks.")
    embedding: Embedding = _table(Embedding, "The model that turns text into vectors.")
    retrieval: Retrieval = _table(Retrieval, "How chunks are ranked.")
    reading: Reading = _table(Reading, "What one file may cost; each is read in a process of its own.")
    shortlist: Shortlist = _table(Shortlist, "How web sources are chosen before a model sees any of them.")
    sources: Sources = _table(Sources, "Which sources on the web are wanted.")
    cache: Cache = _table(Cache, "Web pages that were read before.")
    source_adapters: Mapping[str, SourceAdapter] = _table(
        lambda: MappingProxyType({}), "Programs that provide sources other than files and web pages."
    )


@dataclass(frozen=True, slots=True)
class SearchService:
    """What the user says of one search service; what is not said is in `asky.search.catalog`."""

    base_url: str | None = _key(None, "Where the service is; by default where its makers run it.")
    api_key_env: str | None = _key(
        None, "Name of the environment variable that holds the key; by default its usual one."
    )
    gap_s: float | None = _key(
        None,
        "Least seconds between two requests of all processes; by default what the service allows.",
        low=0,
        high=3600,
    )
    timeout_s: float | None = _key(None, "Longest time for one search, in seconds.", low=0.1, high=600)
    parameters: Mapping[str, Any] = _free_table("Parameters that are sent with every search.")


@dataclass(frozen=True, slots=True)
class SearchPackage:
    """What the user says of a search service that a package asks: it has neither an address nor a key of its own."""

    base_url: ClassVar[None] = None
    api_key_env: ClassVar[None] = None
    gap_s: float | None = _key(
        None, "Least seconds between two searches of all processes; by default 2.5.", low=0, high=3600
    )
    timeout_s: float | None = _key(None, "Longest time for one search, in seconds.", low=0.1, high=600)
    parameters: Mapping[str, Any] = _free_table("Arguments that the package is given with every search.")


@dataclass(frozen=True, slots=True)
class Search:
    """Who is asked for sources on the web."""

    providers: tuple[str, ...] = _key(
        (),
        "Services that are asked, together; by default those of searxng, brave, tavily, exa, serper that are set up.",
    )
    max_results: int = _key(10, "Results of one search that are used.", low=1, high=100, project=True)
    email: str | None = _key(None, "Your address, for the scholarly services that ask their users for one.")
    searxng: SearchService = _table(SearchService, "A SearXNG instance of your own, with json among its formats.")
    brave: SearchService = _table(SearchService, "Brave Search.")
    tavily: SearchService = _table(SearchService, "Tavily.")
    exa: SearchService = _table(SearchService, "Exa.")
    serper: SearchService = _table(SearchService, "Serper: results of Google.")
    ddgs: SearchPackage = _table(
        SearchPackage, "The package ddgs, which scrapes search engines: look at their terms before you name it."
    )
    semantic_scholar: SearchService = _table(SearchService, "Semantic Scholar: papers.")
    pubmed: SearchService = _table(SearchService, "PubMed: biomedical papers.")
    arxiv: SearchService = _table(SearchService, "arXiv: preprints.")
    openalex: SearchService = _table(SearchService, "OpenAlex: papers.")
    crossref: SearchService = _table(SearchService, "Crossref: papers.")
    unpaywall: SearchService = _table(
        SearchService, "Unpaywall: open copies of papers by their DOI; it does not search."
    )
    wikipedia: SearchService = _table(SearchService, "Wikipedia; its address names the language.")


@dataclass(frozen=True, slots=True)
class Network:
    """How pages are fetched."""

    allow_private: tuple[str, ...] = _key(
        (),
        "Private names, addresses or networks whose pages may be fetched, such as 192.168.1.5 or wiki.lan:8080; without"
        " a port, on usual ones.",
    )
    timeout_s: float = _key(20.0, "Longest time for fetching one page, in seconds.", low=0.1, high=600)
    max_page_mb: int = _key(10, "Largest page that is read, in megabytes; the rest is cut.", low=1, high=1024)
    max_pdf_mb: int = _key(50, "Largest PDF that is read, in megabytes.", low=1, high=1024)
    per_host: int = _key(2, "Fetches from one host at the same time, over all processes.", low=1, high=16)
    host_gap_s: float = _key(0.5, "Least seconds between two fetches from one host.", low=0, high=60)
    robots: bool = _key(True, "Keep to what hosts say to crawlers in robots.txt.")
    browser: bool = _key(False, "Read pages that need JavaScript in a browser; needs the extra browser.")


@dataclass(frozen=True, slots=True)
class Ui:
    color: When = _key("auto", "Colour; auto colours a terminal unless NO_COLOR is set or TERM is dumb.", project=True)
    progress: bool = _key(True, "Show a progress line on a terminal.", project=True)


@dataclass(frozen=True, slots=True)
class CustomTool:
    """A program of the user's that a model may call. It runs without a shell, in the folder `/`."""

    description: str = _key(_REQUIRED, "What the model is told that the tool does.")
    command: tuple[str, ...] = _key(
        _REQUIRED,
        "Program and arguments; {NAME} in an argument is replaced by that parameter. Parameters that it does not name"
        " are sent to the program's standard input, as one JSON object.",
    )
    parameters: Mapping[str, Any] = _free_table(
        "JSON Schema of the arguments: a table of type object. Without one the tool takes none."
    )
    timeout_s: float = _key(30.0, "Longest time for one call, in seconds.", low=0.1, high=3600)
    max_output_bytes: int = _key(
        65_536, "Most bytes of output of one call; a program that writes more is ended.", low=1, high=16_777_216
    )
    environment: tuple[str, ...] = _key(
        ("PATH", "LANG"), "Names of the environment variables that the program gets; it gets no others."
    )
    enabled: bool = _key(False, "Offer the tool to models.")


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent. `0` sets no limit, so that each layer can lift what an earlier one has set."""

    max_tokens: int = _key(
        0, "Most tokens of one run, prompts and answers together; 0 sets no limit.", low=0, high=10_000_000_000
    )
    max_cost_usd: float = _key(0.0, "Most money for one run, in US dollars; 0 sets no limit.", low=0, high=1_000_000)
    max_time_s: float = _key(0.0, "Longest time of one run, in seconds; 0 sets no limit.", low=0, high=604_800)
    max_tokens_per_day: int = _key(
        0, "Most tokens of all runs of one day; 0 sets no limit.", low=0, high=10_000_000_000
    )
    max_cost_per_day_usd: float = _key(
        0.0, "Most money for all runs of one day, in US dollars; 0 sets no limit.", low=0, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class Timeouts:
    connect_s: float = _key(5.0, "Longest time for a connection, in seconds.", low=0.1, high=300)
    first_token_s: float = _key(
        120.0,
        "Longest time from the request to the first token; a local server may load the model first.",
        low=0.1,
        high=86_400,
    )
    between_tokens_s: float = _key(60.0, "Longest silence within an answer, in seconds.", low=0.1, high=86_400)
    total_s: float = _key(900.0, "Longest time for one call, in seconds.", low=0.1, high=86_400)


@dataclass(frozen=True, slots=True)
class Provider:
    """An endpoint that speaks the chat-completions dialect."""

    base_url: str = _key(_REQUIRED, "Where the endpoint is: the address before /chat/completions.")
    api_key_env: str | None = _key(
        None, "Name of the environment variable that holds the key; without one no key is sent."
    )
    context_tokens: int = _key(
        32_768,
        "Context size, in tokens, that a model is taken to have where its own entry names none.",
        low=512,
        high=100_000_000,
    )
    tools: bool = _key(True, "Whether models can be offered tools.")
    text_tool_calls: bool = _key(
        False, "Whether tool calls that arrive as text are understood; only for models that make no others."
    )
    parameters: Mapping[str, Any] = _free_table("Parameters that are sent with every request.")
    timeouts: Timeouts = _table(Timeouts, "How long a call may take.")


@dataclass(frozen=True, slots=True)
class Model:
    provider: str = _key(
        _REQUIRED, "Who answers: a name below providers; extractive quotes sentences and needs no key and no network."
    )
    id: str | None = _key(None, "What the endpoint calls the model; required unless the provider is extractive.")
    context_tokens: int | None = _key(
        None,
        "Largest prompt and answer together, in tokens; by default what the provider says.",
        low=512,
        high=100_000_000,
    )
    tokenizer: str | None = _key(
        None, "A tokenizer.json of the model, to count its prompts with; without one they are estimated."
    )
    max_output_tokens: int | None = _key(None, "Longest answer of one call, in tokens.", low=16, high=100_000_000)
    input_price: float | None = _key(None, "US dollars for a million tokens of prompt.", low=0, high=100_000)
    output_price: float | None = _key(None, "US dollars for a million tokens of answer.", low=0, high=100_000)
    cached_input_price: float | None = _key(
        None,
        "US dollars for a million tokens of prompt that the endpoint had in its cache; by default input_price.",
        low=0,
        high=100_000,
    )
    parameters: Mapping[str, Any] = _free_table(
        "Parameters that are sent with the request, on top of the provider's, such as temperature."
    )
    tools: bool | None = _key(None, "Whether the model can be offered tools; by default what the provider says.")
    text_tool_calls: bool | None = _key(
        None, "Whether tool calls that arrive as text are understood; by default what the provider says."
    )
    max_turns: int | None = _key(
        None, "Model calls in one run, at most; by default research.max_turns.", low=1, high=200
    )
    source_shortlist_enabled: bool | None = _key(
        None, "Whether web sources are ranked before the model reads them; by default what the mode says."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The root of the tree."""

    research: Research = _table(Research, "Reading, indexing and answering.")
    search: Search = _table(Search, "Who is asked for sources on the web.")
    network: Network = _table(Network, "How pages are fetched.")
    budget: Budget = _table(Budget, "What runs may spend.")
    ui: Ui = _table(Ui, "What the terminal shows.")
    prompts: Mapping[str, Any] = _free_table(
        "Saved prompts: /NAME at the beginning of a question stands for the text, or for what is in its file://PATH."
    )
    tools: Mapping[str, CustomTool] = _table(
        lambda: MappingProxyType({}), "Programs of yours that models may call, by the name under which they call them."
    )
    default: str = _key(
        EXTRACTIVE, "The model that answers where -m and ASKY_MODEL name none: an alias or PROVIDER:ID."
    )
    providers: Mapping[str, Provider] = _table(
        lambda: MappingProxyType({}), "Endpoints by the name that a model gives as its provider."
    )
    models: Mapping[str, Model] = _table(
        lambda: MappingProxyType({EXTRACTIVE: Model(provider=EXTRACTIVE)}), "Models by the alias that -m takes."
    )


FILES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "research.toml": ("research", "search", "network", "budget", "ui", "prompts", "tools"),
        "models.toml": ("default", "providers", "models"),
    }
)
"""The top-level keys of each configuration file."""
