"""Sources other than web pages: programs configured for a prefix, and local documents in granted folders."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from asky.config.custom_tools import command_of, target_parameter
from asky.config.schema import CustomTool, SourceAdapter
from asky.errors import ConfigError, SourceRefused, SourceUnreadable
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.research.local.adapter_tool import ToolCommand, run_tool
from asky.research.local.discovery import DiscoveredFile, Unread, discover
from asky.research.local.files import LocalRoots
from asky.research.local.names import MAX_TARGET_CHARACTERS, is_local_target, show_target
from asky.research.local.programs import ProgramLimits
from asky.research.local.running import RunningPrograms
from asky.text.scrub import one_line, scrub
from asky.values import Document, Link

Program = str | Sequence[str] | CustomTool
"""A program with its arguments, or a custom tool."""

TARGET_ARGUMENT = "{target}"
MAX_LINKS = 10_000


class DocumentReader(Protocol):
    """Converts a file's bytes to a document; raises `SourceUnreadable`."""

    def __call__(self, data: bytes, *, name: str, media_type: str) -> Document: ...


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """The programs for targets that begin with `prefix`: `tool` for both, or separate ones to discover and to read.

    A program is an argument list, or a string that is split like one (no shell is involved). The target, prefix
    included, replaces the argument `{target}`; without that argument it comes last, so end the list with `--` if the
    program understands it. A custom tool receives the target as its required parameter, and only the variables that it
    names; the limits are those given here.
    """

    name: str
    prefix: str
    tool: Program | None = None
    discover_tool: Program | None = None
    read_tool: Program | None = None
    timeout_s: float = 30.0
    max_output_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        """Check the settings. Raises `ConfigError` for a prefix or program that cannot work."""
        if not self.prefix or self.prefix.startswith("-"):
            raise self._wrong("prefix", "must be the beginning of a target, such as wiki://")
        split = bool(self.discover_tool) + bool(self.read_tool)
        if split != (0 if self.tool else 2):
            raise self._wrong("tool", "give either tool, or discover_tool and read_tool")
        for key, tool in (("tool", self.tool), ("discover_tool", self.discover_tool), ("read_tool", self.read_tool)):
            if tool:
                self._check(key, tool)

    def command(self, *, discovers: bool, target: str) -> ToolCommand:
        """Return the command for one target."""
        tool = self.tool or (self.discover_tool if discovers else self.read_tool) or ()
        argv = self._check("tool", tool)
        if isinstance(tool, CustomTool):
            filled, data = command_of(tool, {target_parameter(tool): target})
            return ToolCommand([argv[0], *filled[1:]], data, tool.environment)
        if TARGET_ARGUMENT in argv:
            return ToolCommand([target if argument == TARGET_ARGUMENT else argument for argument in argv])
        return ToolCommand([*argv, target])

    def _check(self, key: str, tool: Program) -> list[str]:
        if isinstance(tool, CustomTool):
            return list(tool.command)
        try:
            argv = shlex.split(tool) if isinstance(tool, str) else list(tool)
        except ValueError as error:
            raise self._wrong(key, f"cannot be split into arguments: {error}") from error
        if not argv or not argv[0] or argv[0] == TARGET_ARGUMENT:
            raise self._wrong(key, "must begin with a program")
        if any(TARGET_ARGUMENT in argument and argument != TARGET_ARGUMENT for argument in argv):
            raise self._wrong(key, f"{TARGET_ARGUMENT} must be an argument of its own")
        if any("\0" in argument for argument in argv):
            raise self._wrong(key, "must not contain NUL")
        argv[0] = os.path.expanduser(argv[0])  # noqa: PTH111 - a name without a folder stays a name
        if "/" in argv[0] and not PurePath(argv[0]).is_absolute():
            raise self._wrong(key, "must be a program on PATH or an absolute path")
        return argv

    def _wrong(self, key: str, why: str) -> ConfigError:
        return ConfigError(f"research.source_adapters.{self.name}.{key}: {why}")


@dataclass(frozen=True, slots=True)
class AdapterLink:
    """A link of a source: a target or web address, and the text of the link."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class AdapterListing:
    """The result of a discovery: the links, and for local folders the entries left out, with reasons.

    `why_unread` is why a program that lists a target cannot read it as well.
    """

    links: tuple[AdapterLink, ...]
    unread: tuple[Unread, ...] = ()
    why_unread: str | None = None


@dataclass(frozen=True, slots=True)
class AdapterPayload:
    """A source that was read, and its links. A source of a program has them in its document too."""

    document: Document
    links: tuple[AdapterLink, ...] = ()

    @property
    def title(self) -> str | None:
        return self.document.title

    @property
    def content(self) -> str:
        return self.document.text


@dataclass(frozen=True, slots=True)
class _ToolOutput:
    title: str | None
    content: str
    links: tuple[AdapterLink, ...]


class SourceAdapters:
    """Finds and reads targets: the configured adapter with the longest matching prefix, else the local documents.

    Local targets are handled only if `roots` grants something. `read_document` converts local files of at most
    `max_file_bytes` each. `environ` provides the few variables that programs get; the default is this process's.
    Programs end when `running` is closed.
    """

    def __init__(
        self,
        settings: Sequence[AdapterSettings],
        roots: LocalRoots,
        *,
        read_document: DocumentReader,
        max_file_bytes: int,
        environ: Mapping[str, str] | None = None,
        running: RunningPrograms | None = None,
    ) -> None:
        self._settings = sorted(settings, key=lambda each: -len(each.prefix))  # stable: equal ones in configured order
        self.roots = roots
        self._read_document = read_document
        self._max_file_bytes = max_file_bytes
        self._environ = os.environ if environ is None else environ
        self._running = running or RunningPrograms()

    @classmethod
    def configured(
        cls,
        adapters: Mapping[str, SourceAdapter],
        tools: Mapping[str, CustomTool],
        roots: LocalRoots,
        *,
        read_document: DocumentReader,
        max_file_bytes: int,
        environ: Mapping[str, str],
        running: RunningPrograms | None = None,
    ) -> SourceAdapters:
        """Return the adapters of a configuration; a command that is the name of one of `tools` stands for that tool."""

        def program(command: Sequence[str]) -> Program:
            return tools.get(command[0], command) if len(command) == 1 else command

        settings = [
            AdapterSettings(
                name=name,
                prefix=each.prefix,
                tool=program(each.tool),
                discover_tool=program(each.discover_tool),
                read_tool=program(each.read_tool),
                timeout_s=each.timeout_s,
            )
            for name, each in adapters.items()
        ]
        return cls(
            settings,
            roots,
            read_document=read_document,
            max_file_bytes=max_file_bytes,
            environ=environ,
            running=running,
        )

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return the prefixes of the configured adapters, longest first."""
        return tuple(each.prefix for each in self._settings)

    def handles(self, target: str) -> bool:
        """Return whether `target` is handled: by an adapter's prefix, or as a local target if folders are granted."""
        return self._adapter(target) is not None or (bool(self.roots) and is_local_target(target))

    def runs_program(self, target: str) -> bool:
        """Return whether `target` is handled by an adapter's program."""
        return self._adapter(target) is not None

    def discover(self, target: str) -> AdapterListing:
        """Return the links of `target`: those of an adapter, the files of a folder (one level), or a local file itself.

        Local links are `local://` targets. Raises `SourceRefused` and `SourceUnreadable`; see `read`.
        """
        adapter = self._adapter(target)
        if adapter is not None:
            return AdapterListing(self._run(adapter, target, discovers=True).links)
        self._check_local(target)
        if self.roots.folder(target) is None:
            with self.roots.open(target) as opened:
                file = opened.file
            return AdapterListing((AdapterLink(self.roots.link(file) or target, file.path.name),))
        links: list[AdapterLink] = []
        unread: list[Unread] = []
        for item in discover(self.roots, target, recursive=False):
            if isinstance(item, Unread):
                unread.append(item)
            elif (link := self.roots.link(item.file)) is None:
                unread.append(_unaddressable(item))
            else:
                links.append(AdapterLink(link, item.file.path.name))
        return AdapterListing(tuple(links), tuple(unread))

    def read(self, target: str) -> AdapterPayload:
        """Return the document that `target` names.

        Raises `SourceRefused` for a target that policy forbids (see `LocalRoots.open`) or that nothing here handles,
        `SourceUnreadable` for a file that cannot be read and for an adapter whose program fails ("failed"), takes too
        long ("timed_out"), prints too much ("too_large") or finds no text ("empty").
        """
        adapter = self._adapter(target)
        if adapter is not None:
            output = self._run(adapter, target, discovers=False)
            if not output.content.strip():
                raise _has_no_text(adapter, target)
            return _payload(output, output.links)
        self._check_local(target)
        with self.roots.open(target) as opened:
            data, file = opened.read(self._max_file_bytes), opened.file
        media_type = media_type_of(file.path.name, data[:HEAD_BYTES])
        if media_type is None:
            raise SourceUnreadable(f"{file.shown}: no reader supports this kind of file", verdict="unsupported")
        return AdapterPayload(self._read_document(data, name=file.shown, media_type=media_type))

    def load(self, target: str) -> AdapterPayload | AdapterListing:
        """Return the source that `target` names with its links, or the list that it is: links without a text.

        An adapter with separate programs runs both: the links of `discover_tool` come after those of `read_tool`, and
        a target that `read_tool` fails on is a list if it has links. Raises as `read` does.
        """
        adapter = self._adapter(target)
        if adapter is None:
            return self.read(target)
        listed = self._run(adapter, target, discovers=True)
        read, why_unread = listed, None
        if not adapter.tool:
            try:
                read = self._run(adapter, target, discovers=False)
            except SourceUnreadable as error:
                if not listed.links or error.verdict != "failed":
                    raise
                read, why_unread = _ToolOutput(None, "", ()), error.message
        unique: dict[str, AdapterLink] = {}
        for link in (*read.links, *listed.links):
            unique.setdefault(link.url, link)
        links = tuple(unique.values())
        if read.content.strip():
            return _payload(read, links)
        if not links:
            raise _has_no_text(adapter, target)
        return AdapterListing(links, why_unread=why_unread)

    def version(self, target: str) -> str | None:
        """Return a digest of the commands that read `target`: others may read it differently. `None` without any."""
        adapter = self._adapter(target)
        if adapter is None:
            return None
        commands = [adapter.command(discovers=discovers, target="") for discovers in (True, False)]
        return hashlib.sha256(repr(commands).encode()).hexdigest()

    def _adapter(self, target: str) -> AdapterSettings | None:
        return next((each for each in self._settings if target.startswith(each.prefix)), None)

    def _check_local(self, target: str) -> None:
        if not is_local_target(target):
            raise SourceRefused(f"{show_target(target)}: no adapter is configured for it")

    def _run(self, adapter: AdapterSettings, target: str, *, discovers: bool) -> _ToolOutput:
        _check_argument(target)
        command = adapter.command(discovers=discovers, target=target)
        limits = ProgramLimits(adapter.timeout_s, adapter.max_output_bytes)
        return _parse_output(adapter.name, run_tool(adapter.name, command, limits, self._environ, self._running))


def _payload(output: _ToolOutput, links: tuple[AdapterLink, ...]) -> AdapterPayload:
    end = len(output.content)
    kept = tuple(Link(link.url, link.text, end) for link in links)
    return AdapterPayload(Document(output.content, "text/plain", output.title, links=kept), links)


def _has_no_text(adapter: AdapterSettings, target: str) -> SourceUnreadable:
    return SourceUnreadable(f"adapter {adapter.name}: {show_target(target)} has no text", verdict="empty")


def _check_argument(target: str) -> None:
    """Raise `SourceRefused` for text that no argument can hold. It cannot be an option: it begins with a prefix."""
    if len(target) > MAX_TARGET_CHARACTERS or "\0" in target or re.search("[\ud800-\udfff]", target):
        raise SourceRefused(f"{show_target(target)}: not a target that can be passed to a program")


def _unaddressable(item: DiscoveredFile) -> Unread:
    return Unread(
        item.file.path, item.file.relative, "failed", "no link can name it alongside the files of the other folders"
    )


def _parse_output(name: str, output: bytes) -> _ToolOutput:
    """Parse the output of a program; unknown keys are ignored.

    `{"title": text?, "content": text?, "links": [text or {"url" or "href": text, "text" or "title": text?}]?}`
    """
    try:
        value = json.loads(output.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SourceUnreadable(f"adapter {name}: its output is not JSON") from error
    if not isinstance(value, dict):
        raise SourceUnreadable(f"adapter {name}: its output is not a JSON object")
    for key, kind, described in (("title", str, "a text"), ("content", str, "a text"), ("links", list, "a list")):
        if not isinstance(value.get(key), kind | None):
            raise SourceUnreadable(f'adapter {name}: "{key}" is not {described}')
    links = value.get("links") or []
    if len(links) > MAX_LINKS:
        raise SourceUnreadable(f"adapter {name}: more than {MAX_LINKS:,} links", verdict="too_large")
    title = one_line(value.get("title") or "") or None
    return _ToolOutput(title, scrub(value.get("content") or ""), tuple(_parse_link(name, link) for link in links))


def _parse_link(name: str, link: object) -> AdapterLink:
    url, text = link, None
    if isinstance(link, dict):
        url = link.get("url", link.get("href"))
        text = link.get("text", link.get("title"))
    if not isinstance(url, str) or not url.strip() or not isinstance(text, str | None):
        raise SourceUnreadable(f'adapter {name}: a link is neither a text nor {{"url": text, "text": text}}')
    url = scrub(url).strip()
    return AdapterLink(url, one_line(text or "") or url)
