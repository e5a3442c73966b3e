"""Names of local documents: parsing targets, recognizing secrets, and formatting names.

Pure functions over strings: nothing here accesses the file system.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from asky.errors import SourceRefused
from asky.reading.formats import format_of

if TYPE_CHECKING:
    from asky.values import Document

MAX_TARGET_CHARACTERS = 4096  # the longest path that Linux opens
MAX_SHOWN_CHARACTERS = 200
MAX_DECODINGS = 4  # a name that still changes after this many percent-decodings was built to mislead

OUTSIDE = "outside the configured folders"
"""The end of the message for everything that is not beneath a configured folder."""

_SECRET_FOLDERS = frozenset({".git", ".ssh", ".obsidian"})
_SECRET_FILE = re.compile(r".*\.(?:pem|key|db|sqlite.*)", re.DOTALL)
_SSH_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\..*)?", re.DOTALL)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_LOCAL_URI = re.compile(r"file:(?=/)(?://)?|local://", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_SECRET_VALUE = re.compile(
    r"([?&;#][^=&#\s]*(?:token|key|secret|passw|sig|auth|session|credential)[^=&#\s]*=)[^&#\s]+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TargetPath:
    """A parsed target: path components without `.`, `..` or empty ones, and whether it began at `/`."""

    parts: tuple[str, ...]
    absolute: bool


def parse_target(target: str) -> TargetPath:
    """Parse `local://relative`, `file:///absolute` (both percent-decoded once) or a plain path (taken literally).

    Raises `SourceRefused`: "outside the configured folders" for `..`, a leading `~`, NUL, a backslash, a drive letter,
    a host, percent-encoded traversal however often it was encoded, and text that no file name can contain; "not a local
    file" for any other scheme. The message depends on the target alone, never on what exists.
    """
    path = _path_text(target)
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if len(target) > MAX_TARGET_CHARACTERS or _escapes(path) or (parts and parts[0].startswith("~")):
        raise refuse_outside(target)
    return TargetPath(parts, path.startswith("/"))


def uri_path(text: str) -> str | None:
    """Return the path in a `file:` or `local:` URI, percent-decoded once; `None` for text that is not such a URI.

    `file:///a%20b` and `file:/a%20b` are `/a b`; `local://a%20b` and `file://a%20b` are the relative `a b`. Bytes that
    are not UTF-8 become surrogates, as in every file name.
    """
    scheme = _LOCAL_URI.match(text)
    return unquote(text[scheme.end() :], errors="surrogateescape") if scheme else None


def refuse_outside(target: str) -> SourceRefused:
    """Return the one error for everything that is not beneath a configured folder."""
    return SourceRefused(
        f"{show_target(target)}: {OUTSIDE}",
        hint="grant its folder with -d PATH or research.local_document_roots",
    )


def secret_rule(parts: Sequence[str], *, folder: bool = False) -> str | None:
    """Return the rule that makes the path `parts` (relative to its root) a secret, or `None`; case is ignored.

    Secrets are: `.git`, `.ssh` and `.obsidian` folders, names that begin with `.env`, and files that match `*.pem`,
    `*.key`, `*.db`, `*.sqlite*` or `id_*`. A file `id_*` with the suffix of a document (`id_card_rules.md`) is a
    document, unless it is named like an ssh key (`id_rsa.txt`). `folder` says that the last part is a folder.
    """
    for index, part in enumerate(parts):
        is_file = not folder and index == len(parts) - 1
        rule = _secret_name(part.casefold(), is_file=is_file)
        if rule:
            return rule
    return None


def show_name(name: str) -> str:
    """Return `name` on one line, with control, format and undecodable characters escaped."""
    return name if name.isprintable() else "".join(char if char.isprintable() else _escape(char) for char in name)


def show_target(target: str) -> str:
    """Return `target` as `show_name` does, at most 200 characters, with passwords and tokens replaced by `***`."""
    shown = show_name(_SECRET_VALUE.sub(r"\1***", _USERINFO.sub("***@", target[:MAX_TARGET_CHARACTERS])))
    return shown if len(shown) <= MAX_SHOWN_CHARACTERS else shown[: MAX_SHOWN_CHARACTERS - 1] + "…"


def is_local_target(text: str) -> bool:
    """Return whether `text` names something local: `file:`, `local:`, a drive letter, or no scheme at all."""
    # browsers drop these characters from a scheme, so "fi\nle:" must not pass for another one
    compact = re.sub(r"[\x00-\x20\x7f]", "", text[:MAX_TARGET_CHARACTERS])
    scheme = _SCHEME.match(compact)
    return scheme is None or scheme.group(1).casefold() in ("file", "local")


def _path_text(target: str) -> str:
    scheme = _SCHEME.match(target)
    if scheme is None:
        return target
    name, rest = scheme.group(1).casefold(), target[scheme.end() :]
    if name in ("file", "local"):
        path = uri_path(target)
        if path is None or (name == "file" and re.match(r"//(?!/)", rest)):  # the latter names a host
            raise refuse_outside(target)
        return path
    if rest.startswith("//"):
        raise SourceRefused(f"{show_target(target)}: not a local file")
    return target  # a file name that contains a colon


def _escapes(path: str) -> bool:
    if _DRIVE.match(path):
        return True
    for _ in range(MAX_DECODINGS):
        if "\0" in path or "\\" in path or ".." in path.split("/"):
            return True
        decoded = unquote(path, errors="surrogateescape")
        if decoded == path:
            return not _is_encodable(path)
        path = decoded
    return True


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _secret_name(name: str, *, is_file: bool) -> str | None:
    if name in _SECRET_FOLDERS:
        return f"{name}/"
    if name.startswith(".env"):
        return ".env*"
    if not is_file:
        return None
    if name.endswith(".env"):
        return "*.env"
    if _SECRET_FILE.fullmatch(name):
        suffix = name.rsplit(".", 1)[1]
        return f"*.{suffix}" if suffix in ("pem", "key", "db") else "*.sqlite*"
    if _SSH_KEY.fullmatch(name) or (name.startswith("id_") and format_of(name) is None):
        return "id_*"
    return None


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as Python represents it in a file name
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def source_title(document: Document | None, relative: str) -> str:
    """Return the title of the document in a file, or else the name of the file: that of a note without its suffix.

    Note-taking programs show a note's name as its title.
    """
    if document is not None and document.title:
        return document.title
    path = PurePosixPath(relative)
    return show_name(path.stem if document is not None and document.media_type == "text/markdown" else path.name)
