"""Every key of the configuration: its type, its default and what it means. `asky.wiring` hands the values down.

A table of TOML is a frozen dataclass, a family of named tables is a `Mapping` from name to one, and anything else is a
value, including a `Mapping` to `Any`: a table of the user's own making. `None` stands for a key that nothing set.
`asky.config.keys` reads this file; the packaged `research.toml` and the reference page are generated from it.

    Settings
    +- research: Research              research.toml
    |  +- chunking: Chunking
    |  +- embedding: Embedding
    |  +- reader: ReaderSettings
    |  +- retrieval: Retrieval
    |  +- reading: Reading
    |  +- shortlist: Shortlist
    |  +- sources: Sources
    |  +- cache: Cache
    |  +- source_adapters: NAME -> SourceAdapter
    +- search: Search                  research.toml
    |  +- searxng, brave, ...: SearchServiceSettings
    +- network: Network                research.toml
    +- budget: Budget                  research.toml
    +- verify: Verify                  research.toml
    +- answer: AnswerSettings          research.toml
    +- ui: Ui                          research.toml
    +- notes: Notes                    research.toml
    +- mcp: Mcp                        research.toml
    +- agent: Agent                    research.toml
    |  +- obstacles: Obstacles
    |  +- domains: NAME -> AgentDomain
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
Engine = Literal["auto", "chroma", "exact"]
When = Literal["auto", "always", "never"]
WebKind = Literal["web", "paper"]
Privacy = Literal["local_only", "cloud_allowed", "hybrid"]

EXTRACTIVE = "extractive"
"""The built-in provider: it needs no table, no key and no network."""

_REQUIRED: Any = dataclasses.MISSING


def _key(
    default: Any, meaning: str, *, low: float | None = None, high: float | None = None, project: bool = False
) -> Any:
    """Define a key of a table.

    `low` and `high` bound a number, both included. `project` says that a project's `.asky.toml` may set the key: only
    if no value of it can run a program, reach other files or hosts, cost money, or lift a limit that protects the
    machine.
    """
    facts = {"meaning": meaning, "low": low, "high": high, "project": project}
    return dataclasses.field(default=default, metadata=facts)


def _table(factory: Any, meaning: str) -> Any:
    return dataclasses.field(default_factory=factory, metadata={"meaning": meaning})


def _free_table(meaning: str) -> Any:
    """Define a key whose value is a table without a schema, replaced whole by a later layer."""
    facts = {"meaning": meaning, "low": None, "high": None, "project": False}
    return dataclasses.field(default_factory=lambda: MappingProxyType({}), metadata=facts)


@dataclass(frozen=True, slots=True)
class Chunking:
    max_tokens: int = _key(
        200, "Maximum chunk size, in tokens of the embedding model.", low=16, high=8192, project=True
    )
    overlap_tokens: int = _key(
        30,
        "Overlap with the previous chunk, in tokens; at most half of max_tokens.",
        low=0,
        high=4096,
        project=True,
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    model: str = _key(
        "all-MiniLM-L6-v2",
        "The model inside asky, or a sentence-transformers model: a name on the Hugging Face hub, or a folder.",
    )
    device: Device = _key("auto", "Device for a model that is named; auto uses CUDA if available.")
    batch_size: int = _key(32, "Maximum number of texts per batch.", low=1, high=1024)
    local_files_only: bool = _key(False, "Never download a model; use an installed or cached one.")


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """The models that read a question with a passage, and a claim with its evidence."""

    answers: str = _key(
        "builtin",
        "What reads questions with passages: builtin, or a cross-encoder, a name on the Hugging Face hub or a folder.",
    )
    verdicts: str = _key(
        "builtin",
        "What reads claims with passages: builtin, or an entailment model, a name on the Hugging Face hub or a folder.",
    )
    answer_scale: float = _key(
        1.0,
        "Factor of the answer logits of a named model; 1 for one whose sigmoid is a probability.",
        low=0.01,
        high=100,
    )
    answer_offset: float = _key(
        0.0,
        "What is added to the answer logits of a named model after that; below 0, asky declines more.",
        low=-100,
        high=100,
    )


@dataclass(frozen=True, slots=True)
class Retrieval:
    engine: Engine = _key(
        "auto",
        "Dense search engine; auto uses an exact scan up to exact_max_chunks and Chroma above that.",
        project=True,
    )
    exact_max_chunks: int = _key(
        1_000_000,
        "Maximum number of chunks in scope for which auto uses an exact scan.",
        low=0,
        high=10_000_000,
        project=True,
    )
    dense_weight: float = _key(
        0.7, "Weight of the dense score; the lexical score gets the remainder.", low=0, high=1, project=True
    )
    candidates: int = _key(
        200,
        "Number of top chunks from each leg, dense and lexical, that are ranked together.",
        low=1,
        high=10_000,
        project=True,
    )
    cross_encoder: str | None = _key(
        None, "Cross-encoder that orders the best 40 chunks again: a name on the Hugging Face hub, or a folder."
    )
    embed_at_once: int = _key(
        128,
        "Maximum number of missing vectors computed before a question is answered.",
        low=1,
        high=100_000,
        project=True,
    )
    embed_in_background: bool = _key(
        True, "Compute the others in a background process of low priority that ends by itself."
    )


@dataclass(frozen=True, slots=True)
class ReadingSettings:
    max_file_mb: int = _key(64, "Maximum file size, in megabytes.", low=1, high=4096)
    timeout_s: float = _key(20.0, "Time limit for reading one file, in seconds.", low=0.1, high=3600)
    memory_mb: int = _key(1024, "Memory limit for reading one file, in megabytes.", low=128, high=1_048_576)
    workers: int = _key(2, "Maximum number of files read concurrently.", low=1, high=64)


@dataclass(frozen=True, slots=True)
class ShortlistSettings:
    """How web sources are selected before a model sees any of them."""

    research: bool = _key(True, "Shortlist web sources for research questions.", project=True)
    standard: bool = _key(True, "Shortlist web sources for standard questions.", project=True)
    max_candidates: int = _key(40, "Maximum number of candidate addresses.", low=1, high=1000)
    max_fetch_urls: int = _key(20, "Maximum number of pages fetched for a shortlist.", low=1, high=200)
    top_k: int = _key(8, "Number of sources that a shortlist keeps.", low=1, high=100, project=True)
    concurrency: int = _key(8, "Maximum number of pages fetched concurrently.", low=1, high=64)


@dataclass(frozen=True, slots=True)
class Sources:
    """Which web sources may be used. Addresses named in the question are read whatever is allowed here."""

    allow_domains: tuple[str, ...] = _key((), "Domains whose pages may be used; empty allows all.", project=True)
    deny_domains: tuple[str, ...] = _key((), "Domains whose pages are never read.", project=True)
    kinds: tuple[WebKind, ...] = _key(
        (), "Kinds of sources that may be used, web or paper; empty allows both.", project=True
    )


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache of web pages."""

    ttl_hours: float = _key(24.0, "Hours before a cached page is revalidated.", low=0, high=87_600)
    search_ttl_hours: float = _key(1.0, "Hours before a search is repeated.", low=0, high=8760)
    max_mb: int = _key(
        1024,
        "Maximum size of cached page text, in megabytes; the least recently used pages are removed first.",
        low=1,
        high=1_000_000,
    )


@dataclass(frozen=True, slots=True)
class SourceAdapter:
    """Programs that find and read the sources under one prefix: `tool` does both, or each task has its own program."""

    prefix: str = _key(_REQUIRED, 'Prefix of the targets that this adapter handles, such as "wiki://".')
    tool: tuple[str, ...] = _key((), "Command that lists and reads sources, or the NAME of a tool in [tools.NAME].")
    discover_tool: tuple[str, ...] = _key((), "Command or tool that lists the sources of a target.")
    read_tool: tuple[str, ...] = _key((), "Command or tool that reads one source.")
    timeout_s: float = _key(30.0, "Time limit for one call, in seconds.", low=0.1, high=3600)


@dataclass(frozen=True, slots=True)
class Research:
    local_document_roots: tuple[Path, ...] = _key((), "Folders and files that asky may read.")
    max_turns: int = _key(8, "Maximum number of model calls per run.", low=1, high=200)
    passage_tokens: int = _key(
        6000, "Maximum number of passage tokens that one tool call returns.", low=100, high=1_000_000
    )
    history_tokens: int = _key(
        16_000, "Maximum number of tokens of earlier turns sent with a question; 0 sends none.", low=0, high=1_000_000
    )
    max_passages: int = _key(12, "Maximum number of passages that one tool call returns.", low=1, high=1000)
    chunking: Chunking = _table(Chunking, "How documents are split into chunks.")
    embedding: Embedding = _table(Embedding, "The model that computes vectors.")
    reader: ReaderSettings = _table(
        ReaderSettings, "The models that read a question with a passage, and a claim with its evidence."
    )
    retrieval: Retrieval = _table(Retrieval, "How chunks are ranked.")
    reading: ReadingSettings = _table(ReadingSettings, "Limits for reading one file; each is read in its own process.")
    shortlist: ShortlistSettings = _table(
        ShortlistSettings, "How web sources are selected before a model sees any of them."
    )
    sources: Sources = _table(Sources, "Which web sources may be used.")
    cache: Cache = _table(Cache, "The cache of web pages.")
    source_adapters: Mapping[str, SourceAdapter] = _table(
        lambda: MappingProxyType({}), "Programs that provide sources other than files and web pages."
    )


@dataclass(frozen=True, slots=True)
class SearchServiceSettings:
    """User settings of one search service; the defaults are in `asky.search.catalog`."""

    base_url: str | None = _key(None, "Address of the service; defaults to the public one.")
    api_key_env: str | None = _key(
        None, "Name of the environment variable that holds the key; defaults to the service's usual one."
    )
    gap_s: float | None = _key(
        None,
        "Minimum seconds between two requests, across all processes; defaults to what the service allows.",
        low=0,
        high=3600,
    )
    timeout_s: float | None = _key(None, "Time limit for one search, in seconds.", low=0.1, high=600)
    parameters: Mapping[str, Any] = _free_table("Parameters sent with every search.")


@dataclass(frozen=True, slots=True)
class SearchPackage:
    """User settings of a search service behind a package: it has neither an address nor a key of its own."""

    base_url: ClassVar[None] = None
    api_key_env: ClassVar[None] = None
    gap_s: float | None = _key(
        None, "Minimum seconds between two searches, across all processes; defaults to 2.5.", low=0, high=3600
    )
    timeout_s: float | None = _key(None, "Time limit for one search, in seconds.", low=0.1, high=600)
    parameters: Mapping[str, Any] = _free_table("Arguments passed to the package with every search.")


@dataclass(frozen=True, slots=True)
class Search:
    """Which services search the web."""

    providers: tuple[str, ...] = _key(
        (),
        "Search services to query, all together; defaults to whichever of searxng, brave, tavily, exa and serper are"
        " set up.",
    )
    max_results: int = _key(
        10,
        "Maximum number of results of a model's own search; a shortlist requests max_candidates of each service.",
        low=1,
        high=100,
        project=True,
    )
    email: str | None = _key(None, "Your email address, for the scholarly services that ask for one.")
    searxng: SearchServiceSettings = _table(
        SearchServiceSettings, "Your own SearXNG instance, with json enabled among its formats."
    )
    brave: SearchServiceSettings = _table(SearchServiceSettings, "Brave Search.")
    tavily: SearchServiceSettings = _table(SearchServiceSettings, "Tavily.")
    exa: SearchServiceSettings = _table(SearchServiceSettings, "Exa.")
    serper: SearchServiceSettings = _table(SearchServiceSettings, "Serper: Google results.")
    ddgs: SearchPackage = _table(
        SearchPackage, "The ddgs package, which scrapes search engines: read their terms before you list it."
    )
    semantic_scholar: SearchServiceSettings = _table(SearchServiceSettings, "Semantic Scholar: papers.")
    pubmed: SearchServiceSettings = _table(SearchServiceSettings, "PubMed: biomedical papers.")
    arxiv: SearchServiceSettings = _table(SearchServiceSettings, "arXiv: preprints.")
    openalex: SearchServiceSettings = _table(SearchServiceSettings, "OpenAlex: papers.")
    crossref: SearchServiceSettings = _table(SearchServiceSettings, "Crossref: papers.")
    unpaywall: SearchServiceSettings = _table(
        SearchServiceSettings, "Unpaywall: open copies of papers by DOI; it does not search."
    )
    wikipedia: SearchServiceSettings = _table(SearchServiceSettings, "Wikipedia; its address determines the language.")


@dataclass(frozen=True, slots=True)
class Network:
    """Options for fetching pages."""

    allow_private: tuple[str, ...] = _key(
        (),
        "Private names, addresses or networks whose pages may be fetched, such as 192.168.1.5 or wiki.lan:8080; without"
        " a port, the usual ports apply.",
    )
    timeout_s: float = _key(20.0, "Time limit for fetching one page, in seconds.", low=0.1, high=600)
    max_page_mb: int = _key(10, "Maximum page size, in megabytes; longer pages are truncated.", low=1, high=1024)
    max_pdf_mb: int = _key(50, "Maximum PDF size, in megabytes.", low=1, high=1024)
    per_host: int = _key(2, "Maximum number of concurrent fetches from one host, across all processes.", low=1, high=16)
    host_gap_s: float = _key(0.5, "Minimum seconds between two fetches from one host.", low=0, high=60)
    robots: bool = _key(True, "Obey robots.txt.")
    browser: bool = _key(False, "Use a browser to read pages that need JavaScript; requires the browser extra.")


@dataclass(frozen=True, slots=True)
class Verify:
    """What reads the sentences of an answer, beside the check that always does."""

    chat: bool = _key(False, "Have the chat model judge each cited sentence of its answer, in one more call.")


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """When an answer is given."""

    min_confidence: float = _key(
        0.0,
        "Least confidence of an answer of the built-in model; below it, the model abstains. 0 turns this off.",
        low=0,
        high=1,
        project=True,
    )


@dataclass(frozen=True, slots=True)
class Ui:
    color: When = _key(
        "auto", "Coloured output; auto colours a terminal unless NO_COLOR is set or TERM is dumb.", project=True
    )
    progress: bool = _key(True, "Show a progress line on a terminal.", project=True)


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes that asky searches and researches."""

    vault: Path | None = _key(None, "Obsidian vault or folder of notes.")
    model: str | None = _key(None, "Model for research into notes; defaults to the default model.")
    approve_queries: bool = _key(False, "Send the search queries of a note without asking.")


@dataclass(frozen=True, slots=True)
class Mcp:
    """Options for `asky mcp`."""

    write: bool = _key(False, "Offer the tools that save something.")


@dataclass(frozen=True, slots=True)
class AgentDomain:
    """A field of research: which sources count in it, and how a question of the field is recognised."""

    primary_sources: tuple[str, ...] = _key(_REQUIRED, "Search services that are asked first, best first.")
    secondary_sources: tuple[str, ...] = _key((), "Search services that are asked after those.")
    academic_required: bool = _key(False, "Verify a fact only if a paper supports it.")
    verification_threshold: float = _key(
        0.6, "Confidence from which a fact that its sources support is verified.", low=0, high=1
    )
    keywords: tuple[str, ...] = _key((), "Words of questions that belong to the field.")
    excluded_sources: tuple[str, ...] = _key((), "Services, sites and domains that are not used, such as wikipedia.")


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What the agent does about sources that fail."""

    attempts: int = _key(5, "Maximum number of attempts at a source that limits its requests.", low=1, high=20)
    min_wait_s: float = _key(4.0, "Minimum seconds before another attempt.", low=0, high=600)
    max_wait_s: float = _key(60.0, "Maximum seconds before another attempt.", low=0, high=3600)
    longer_timeouts: int = _key(
        3, "Maximum number of attempts with twice the time, after an attempt that timed out.", low=0, high=10
    )
    breaker_failures: int = _key(
        5, "Number of failures in a row after which a search service is not asked for a while.", low=1, high=100
    )
    breaker_rest_s: float = _key(60.0, "Seconds for which it is not asked at first.", low=1, high=3600)


@dataclass(frozen=True, slots=True)
class Agent:
    """Options for `asky agent`. Time, tokens and costs are limited by `budget`."""

    max_cycles: int = _key(12, "Maximum number of rounds of searching and reading per run.", low=1, high=1000)
    max_fetches: int = _key(200, "Maximum number of pages fetched per run.", low=0, high=100_000)
    stopping_rule: str = _key("estimated", "Name of the rule that ends a run whose sources say nothing new.")
    privacy_mode: Privacy = _key(
        "cloud_allowed",
        "What may leave this machine: with local_only nothing does, with hybrid no passage of your own documents goes"
        " to a model elsewhere.",
    )
    clarify_s: float = _key(
        300.0, "Seconds to wait for the answer to a question that the agent asks you.", low=0, high=86_400
    )
    obstacles: Obstacles = _table(Obstacles, "What the agent does about sources that fail.")
    domains: Mapping[str, AgentDomain] = _table(
        lambda: MappingProxyType({}), "Fields of research, in addition to the built-in ones or in their place."
    )


@dataclass(frozen=True, slots=True)
class CustomTool:
    """A user's program that a model may call. It runs without a shell, in the folder `/`."""

    description: str = _key(_REQUIRED, "Description of the tool, for the model.")
    command: tuple[str, ...] = _key(
        _REQUIRED,
        "Program and arguments; {NAME} in an argument is replaced by that parameter. Parameters not named there are"
        " sent to the program's standard input, as one JSON object.",
    )
    parameters: Mapping[str, Any] = _free_table(
        "JSON Schema of the arguments: a table of type object. Without one, the tool takes none."
    )
    timeout_s: float = _key(30.0, "Time limit for one call, in seconds.", low=0.1, high=3600)
    max_output_bytes: int = _key(
        65_536, "Maximum output of one call, in bytes; a program that writes more is killed.", low=1, high=16_777_216
    )
    environment: tuple[str, ...] = _key(
        ("PATH", "LANG"), "Names of the environment variables passed to the program; it gets no others."
    )
    enabled: bool = _key(False, "Offer the tool to models.")


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Spending limits. `0` means no limit, so that each layer can lift a limit set by an earlier one."""

    max_tokens: int = _key(
        0,
        "Maximum number of tokens per run, prompts and answers together; 0 means no limit.",
        low=0,
        high=10_000_000_000,
    )
    max_cost_usd: float = _key(0.0, "Maximum cost per run, in US dollars; 0 means no limit.", low=0, high=1_000_000)
    max_time_s: float = _key(0.0, "Time limit per run, in seconds; 0 means no limit.", low=0, high=604_800)
    max_tokens_per_day: int = _key(
        0, "Maximum number of tokens per day, all runs together; 0 means no limit.", low=0, high=10_000_000_000
    )
    max_cost_per_day_usd: float = _key(
        0.0, "Maximum cost per day, all runs together, in US dollars; 0 means no limit.", low=0, high=1_000_000
    )


@dataclass(frozen=True, slots=True)
class Timeouts:
    connect_s: float = _key(5.0, "Time limit for connecting, in seconds.", low=0.1, high=300)
    first_token_s: float = _key(
        120.0,
        "Time limit from the request to the first token, in seconds; a local server may load the model first.",
        low=0.1,
        high=86_400,
    )
    between_tokens_s: float = _key(60.0, "Maximum silence within an answer, in seconds.", low=0.1, high=86_400)
    total_s: float = _key(900.0, "Time limit for one call, in seconds.", low=0.1, high=86_400)


@dataclass(frozen=True, slots=True)
class Provider:
    """An endpoint that speaks the chat-completions dialect."""

    base_url: str = _key(_REQUIRED, "Address of the endpoint, without /chat/completions.")
    api_key_env: str | None = _key(
        None, "Name of the environment variable that holds the key; without one, no key is sent."
    )
    context_tokens: int = _key(
        32_768,
        "Context size, in tokens, of models whose own entry sets none.",
        low=512,
        high=100_000_000,
    )
    tools: bool = _key(True, "Offer tools to models.")
    text_tool_calls: bool = _key(False, "Parse tool calls written as text; only for models that make no others.")
    parameters: Mapping[str, Any] = _free_table("Parameters sent with every request.")
    timeouts: Timeouts = _table(Timeouts, "Time limits for a call.")


@dataclass(frozen=True, slots=True)
class Model:
    provider: str = _key(
        _REQUIRED, "Name of the provider; extractive quotes sentences and needs no key and no network."
    )
    id: str | None = _key(None, "The endpoint's name for the model; required unless the provider is extractive.")
    context_tokens: int | None = _key(
        None,
        "Maximum size of prompt and answer together, in tokens; defaults to the provider's setting.",
        low=512,
        high=100_000_000,
    )
    tokenizer: str | None = _key(
        None, "Path of the model's tokenizer.json, to count prompt tokens; without one, they are estimated."
    )
    max_output_tokens: int | None = _key(
        None, "Maximum length of the answer of one call, in tokens.", low=16, high=100_000_000
    )
    input_price: float | None = _key(None, "Price of a million prompt tokens, in US dollars.", low=0, high=100_000)
    output_price: float | None = _key(None, "Price of a million answer tokens, in US dollars.", low=0, high=100_000)
    cached_input_price: float | None = _key(
        None,
        "Price of a million cached prompt tokens, in US dollars; defaults to input_price.",
        low=0,
        high=100_000,
    )
    parameters: Mapping[str, Any] = _free_table(
        "Parameters sent with the request in addition to the provider's, such as temperature."
    )
    tools: bool | None = _key(None, "Offer tools to the model; defaults to the provider's setting.")
    text_tool_calls: bool | None = _key(None, "Parse tool calls written as text; defaults to the provider's setting.")
    max_turns: int | None = _key(
        None, "Maximum number of model calls per run; defaults to research.max_turns.", low=1, high=200
    )
    source_shortlist_enabled: bool | None = _key(
        None, "Shortlist web sources before the model reads them; defaults to the mode's setting."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The root of the tree."""

    research: Research = _table(Research, "Reading, indexing and answering.")
    search: Search = _table(Search, "Which services search the web.")
    network: Network = _table(Network, "How pages are fetched.")
    budget: BudgetSettings = _table(BudgetSettings, "Spending limits.")
    verify: Verify = _table(Verify, "What reads the sentences of an answer, beside the rules.")
    answer: AnswerSettings = _table(AnswerSettings, "When an answer is given.")
    ui: Ui = _table(Ui, "What the terminal shows.")
    notes: Notes = _table(Notes, "Notes to search and research.")
    mcp: Mcp = _table(Mcp, "What the MCP server offers to its hosts.")
    agent: Agent = _table(Agent, "Research by the agent.")
    prompts: Mapping[str, Any] = _free_table(
        "Saved prompts: /NAME at the start of a question expands to the text, or to the contents of its file://PATH."
    )
    tools: Mapping[str, CustomTool] = _table(
        lambda: MappingProxyType({}), "Your own programs that models may call, by tool name."
    )
    default: str = _key(EXTRACTIVE, "Default model, used when -m and ASKY_MODEL name none: an alias or PROVIDER:ID.")
    providers: Mapping[str, Provider] = _table(lambda: MappingProxyType({}), "Endpoints by provider name.")
    models: Mapping[str, Model] = _table(
        lambda: MappingProxyType({EXTRACTIVE: Model(provider=EXTRACTIVE)}), "Models by alias, as used with -m."
    )


FILES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "research.toml": (
            "research",
            "search",
            "network",
            "budget",
            "verify",
            "answer",
            "ui",
            "notes",
            "mcp",
            "agent",
            "prompts",
            "tools",
        ),
        "models.toml": ("default", "providers", "models"),
    }
)
"""The top-level keys of each configuration file."""
