"""Local paths and adapter targets in a question: finding them, and hiding the paths from the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from asky.errors import SourceError
from asky.research.local.files import LocalRoots
from asky.research.local.names import MAX_TARGET_CHARACTERS, is_local_target, show_name, show_target, uri_path
from asky.values import Span

MAX_QUOTED_CHARACTERS = 1024
MAX_WORDS_IN_NAME = 8  # of a path that contains spaces but is not quoted

NEUTRAL_HANDLE = "the attached documents"  # a folder that was granted
UNNAMED_HANDLE = "a local path"  # for anything whose name may not be shown

_QUOTED = re.compile(
    r'"([^"\n]+)"|“([^”\n]+)”|«([^»\n]+)»|`([^`\n]+)`|(?<!\w)\'([^\'\n]+)\'(?!\w)|(?<!\w)‘([^’\n]+)’(?!\w)'
)
_TOKEN = re.compile(r'[^\s"“”«»`<>|]+')
_PART = re.compile(r"[^,;=()\[\]]+")
_QUOTES = ('""', "“”", "«»", "``", "''", "‘’")
_OPENING = "([{'‘*"
_CLOSING = ".,;:!?'’…*"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_POSSESSIVE = re.compile(r"['’]s\Z")
_LINE_NUMBER = re.compile(r"(?<=\w)(?::[0-9]+){1,2}\Z")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=/)|(?:mailto|data|doi|urn):", re.IGNORECASE)
_ADDRESS = re.compile(
    r"\b(?!(?:file|local):)[A-Za-z][A-Za-z0-9+.-]{0,31}://(?!/)|\b(?:mailto|data|doi|urn):", re.IGNORECASE
)
_EXPLICIT = re.compile(r"\.\.?/.|~/.|[A-Za-z]:[\\/].|\\\\\w|(?:[^/]+/)+\.\./[^/]", re.DOTALL)
_NUMBERS = re.compile(r"[0-9]+(?:[/.-][0-9]+)+")
_SUFFIX = re.compile(r"[^/\s]\.\w{1,9}\Z")
# where users keep files; /api/v1/users and the like are not local paths
_FOLDERS = "/(?:home|Users|root|tmp|private|var|etc|mnt|media|opt|srv|usr|run|proc|dev|sys|Volumes)/[^/]"
_MACHINE_PATH = re.compile(_FOLDERS)
# start of a path within a word: =/etc/x, host:/etc/x, see:file:///etc/x, sqlite:///etc/x
_START = re.compile(
    rf"(?:(?<![\w/.~%-])|(?<=://)|(?<=:///))(?={_FOLDERS}|~/.|\.\.?/.|[A-Za-z]:[\\/].|(?:file|local):/)", re.IGNORECASE
)
_ANOTHER = re.compile(r"\s(?:/|~/|\.\.?/|\\\\|[A-Za-z]:[\\/]|\w+://)")  # a second path in a quoted text
# contains the name of the user
_HOME = re.compile(r"(?:/home|/Users|[A-Za-z]:[\\/]Users)[\\/]+[^\\/]+[\\/]*", re.IGNORECASE)
_NAMELESS = re.compile(r"\.{1,2}|~")
_BEFORE_ROOT = re.compile(r"(?:\b(?:file|local):)?[\w./~%-]*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """A path or target in a question: `text` is what `LocalRoots` takes, `span` its place, including quotes.

    `folder` says that it names a folder that may be read.
    """

    text: str
    span: Span
    folder: bool = False


def extract_local_source_targets(prompt: str, roots: LocalRoots, prefixes: Sequence[str] = ()) -> tuple[Target, ...]:
    """Return the local paths in `prompt`, in order, not overlapping; deterministic for the same prompt and folders.

    Found are: anything with the path of a root in it; `local://` and `file://` targets; paths that begin with `./`,
    `../`, `~/`, a drive letter or a folder of the system (`/home/...`); and, if they exist beneath the roots, other
    paths with a slash or a suffix, and quoted paths with spaces. Explicit ones are found without roots too: a model
    must see none of them, and whether one can be read is checked when it is opened. Words that begin with one of
    `prefixes` (adapters') count too.
    """
    finder = _Finder(prompt, roots, tuple(prefixes))
    finder.find_roots()
    finder.find_quoted()
    finder.find_tokens()
    return tuple(sorted(finder.targets, key=lambda target: target.span.start))


def redact_local_targets(prompt: str, targets: Iterable[Target]) -> str:
    """Return `prompt` with each local target replaced by its last name in quotes, so that it remains readable.

    A folder that may be read becomes a neutral phrase, and so does a target without a name or named after its user.
    Targets of adapters stay, without the passwords and tokens in them.
    """
    pieces: list[str] = []
    end = 0
    for target in sorted(targets, key=lambda target: target.span.start):
        pieces += [prompt[end : target.span.start], _handle(target)]
        end = target.span.end
    return "".join([*pieces, prompt[end:]])


class _Finder:
    """One extraction: the targets found, and the characters they occupy."""

    def __init__(self, prompt: str, roots: LocalRoots, prefixes: tuple[str, ...]) -> None:
        self.targets: list[Target] = []
        self._prompt = prompt
        self._roots = roots
        self._prefixes = prefixes
        self._taken = bytearray(len(prompt))
        self._known: dict[str, bool] = {}  # lookups so far; a question may repeat itself
        self._folders: dict[str, bool] = {}

    def find_roots(self) -> None:
        """Find every occurrence of a root's path, with the path that follows it."""
        for spelling in self._roots.spellings:  # longest first, so that a nested root is not cut off
            at = self._prompt.find(spelling) if spelling != "/" else -1
            while at >= 0:
                end = at + len(spelling)
                if self._taken.find(1, at, end) < 0:
                    end = self._find_root(at, end)
                at = self._prompt.find(spelling, end)

    def find_quoted(self) -> None:
        for match in _QUOTED.finditer(self._prompt):
            text = next(group for group in match.groups() if group is not None)
            if len(text) <= MAX_QUOTED_CHARACTERS and self._free(match.start(), match.end()):
                spaced = re.search(r"\s", text)
                if (self._exists(text) or _is_spaced_path(text)) if spaced else self._is_target(text):
                    self._take(text, match.start(), match.end())

    def find_tokens(self) -> None:
        for match in _TOKEN.finditer(self._prompt):
            if not self._free(match.start(), match.end()) or not re.search(r"[/.:\\]", match.group()):
                continue
            if not self._take_token(match.start(), match.end()):
                for part in _PART.finditer(self._prompt, match.start(), self._address_in(match)):
                    begin = _START.search(self._prompt, *part.span())
                    start = begin.start() if begin else part.start()
                    if (start, part.end()) != match.span():
                        self._take_token(start, part.end())

    def _address_in(self, token: re.Match[str]) -> int:
        """Return where a web address or the like begins in `token`, whose parts are no paths; else its end."""
        for address in _ADDRESS.finditer(self._prompt, *token.span()):
            if not self._prompt.startswith(self._prefixes, address.start()):
                return address.start()
        return token.end()

    def _find_root(self, at: int, end: int) -> int:
        """Take the target around the root's path at `[at, end)`; return its end."""
        before = _BEFORE_ROOT.search(self._prompt, max(0, at - MAX_QUOTED_CHARACTERS), at)
        start = before.start() if before and self._free(before.start(), at) else at
        scheme = re.fullmatch(r"(?:file|local)://", self._prompt[start:at], re.IGNORECASE)
        first = start if scheme else at
        stop = self._end_of_name(first, end)
        text = self._prompt[first:stop]
        if start and self._prompt[start - 1] + self._prompt[stop : stop + 1] in _QUOTES:
            start, stop = start - 1, stop + 1
        self._take(text, start, stop)
        return stop

    def _end_of_name(self, first: int, end: int) -> int:
        """Return the end of the path from `first`: after as many words as form an existing name, else after one."""
        rest = _TOKEN.match(self._prompt, end)
        one = max(end, self._trimmed(first, rest.end())[1]) if rest else end
        best = one
        if self._prompt[end : end + 1] == "/":
            words = re.compile(r"[ \t]*[^\s\"“”«»`<>|]+").finditer(self._prompt, end, end + MAX_QUOTED_CHARACTERS)
            for _, word in zip(range(MAX_WORDS_IN_NAME), words, strict=False):
                if "\n" in self._prompt[end : word.start() + 1]:
                    break
                stop = self._trimmed(first, word.end())[1]
                if stop > best and self._free(end, stop) and self._exists(self._prompt[first:stop]):
                    best = stop
        return best

    def _take_token(self, start: int, end: int) -> bool:
        start, end = self._trimmed(start, end)
        text = self._prompt[start:end]
        if not text or not self._is_target(text):
            return False
        self._take(text, start, end)
        return True

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Return the range without the punctuation of the surrounding sentence."""
        prompt = self._prompt
        if end - start > MAX_TARGET_CHARACTERS:
            return start, end
        while start < end and prompt[start] in _OPENING:
            start += 1
        while start < end:
            last = prompt[end - 1]
            tail = _POSSESSIVE.search(prompt, max(start, end - 2), end)
            if tail is None and "://" not in prompt[start:end]:  # where it would be a port
                tail = _LINE_NUMBER.search(prompt, max(start, end - 16), end)
            if tail:
                end = tail.start()
            elif last in _CLOSING or _is_unopened(prompt[start:end]):
                end -= 1
            else:
                break
        return start, end

    def _is_target(self, text: str) -> bool:
        if any(text.startswith(prefix) and text != prefix for prefix in self._prefixes):
            return True
        if not any(char.isalnum() for char in text):
            return False
        if _is_explicit(text):
            return True
        # a date or a version is no path, even if a folder has that name
        if not self._roots or _SCHEME.match(text) or _NUMBERS.fullmatch(text):
            return False
        return ("/" in text or bool(_SUFFIX.search(text))) and self._exists(text)

    def _exists(self, text: str) -> bool:
        if text not in self._known:
            self._known[text] = self._roots.exists(text)
        return self._known[text]

    def _free(self, start: int, end: int) -> bool:
        return self._taken.find(1, start, end) < 0

    def _is_folder(self, text: str) -> bool:
        if text not in self._folders:
            try:
                found = self._roots.folder(text)
            except SourceError:
                found = None
            self._folders[text] = found is not None
        return self._folders[text]

    def _take(self, text: str, start: int, end: int) -> None:
        self.targets.append(Target(text, Span(start, end), bool(self._roots) and self._is_folder(text)))
        self._taken[start:end] = b"\1" * (end - start)


def _is_unopened(text: str) -> bool:
    """Return whether the last character closes a bracket that `text` does not open."""
    last = text[-1]
    return last in _PAIRS and text.count(last) > text.count(_PAIRS[last])


def _is_explicit(text: str) -> bool:
    """Return whether `text` looks like a local path, regardless of what exists."""
    scheme = _SCHEME.match(text)
    if scheme and (scheme.group(1) or "").casefold() in ("local", "file"):
        return bool(text[scheme.end() :].strip("/"))
    if scheme and not re.match(r"[A-Za-z]:[\\/]", text):
        return False
    return bool(_EXPLICIT.match(text) or _MACHINE_PATH.match(text))


def _is_spaced_path(text: str) -> bool:
    """Return whether a quoted text with spaces is one explicit path, not a sentence that begins with one."""
    return _is_explicit(text) and bool(_SUFFIX.search(text)) and not _ANOTHER.search(text)


def _handle(target: Target) -> str:
    if not is_local_target(target.text):
        return show_target(target.text)
    if target.folder:
        return NEUTRAL_HANDLE
    path = uri_path(target.text) or target.text
    name = next((part for part in reversed(re.split(r"[/\\]", path)) if part and not _NAMELESS.fullmatch(part)), "")
    return UNNAMED_HANDLE if not name or '"' in name or _HOME.fullmatch(path) else f'"{show_name(name)}"'
