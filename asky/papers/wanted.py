"""What a user names to add to the library, as values: files, papers by id or address, and entries of exports.

Nothing is sent, stored or fetched; of files only exports are read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from asky.concurrency import failure
from asky.errors import AskyError, SourceUnreadable, UsageError
from asky.papers.exports import ExportedPaper, is_export, read_export
from asky.research.local.files import LocalRoots
from asky.research.local.names import show_name, show_target, uri_path
from asky.search.identifiers import Identifier, find_identifiers, identifier_of, work_keys
from asky.search.port import Candidate
from asky.search.rows import web_url
from asky.text.addresses import split_addresses
from asky.text.urls import canonical_url
from asky.values import Failure

_REGISTRY = re.compile(r"https?://(?:[\w.-]+\.)?(?:arxiv\.org|doi\.org|ncbi\.nlm\.nih\.gov)/", re.IGNORECASE)
_MAX_ATTACHMENTS = 20  # of an entry
_LIBRARY_FILE = re.compile("internal-pdf://", re.IGNORECASE)  # how EndNote names what lies in its own folder


@dataclass(frozen=True, slots=True)
class WantedPaper:
    """A paper to add, and how it was named: the argument, or `refs.bib: lewis2020`.

    `identifiers` has at most one of each kind, except where the same work was named with several. `url` is its address,
    unless that is the page of an identifier in its registry. `pdfs` exist, and are free of links. `candidate` is what
    an export says of it; its own `url` is empty if the export has none.
    """

    name: str
    identifiers: tuple[Identifier, ...] = ()
    url: str | None = None
    pdfs: tuple[Path, ...] = ()
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What arguments name, in their order and each once.

    `files` are PDFs and folders, and what else exists. An entry in `failures` may be about a PDF of a paper that is
    wanted nonetheless. `outside` counts, by folder, the PDFs that an export names outside of its own folder, and that
    were not read.
    """

    files: tuple[Path, ...] = ()
    papers: tuple[WantedPaper, ...] = ()
    failures: tuple[Failure, ...] = ()
    outside: Mapping[Path, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Attachments:
    """The PDFs of an entry, and what is wrong with the others; `outside` are those that may not be read."""

    pdfs: tuple[Path, ...]
    wrong: tuple[str, ...]
    outside: tuple[Path, ...]


def read_arguments(
    arguments: Sequence[str | Path],
    *,
    max_bytes: int,
    files_from: Sequence[Path] = (),
    known: Container[str] = (),
) -> Wanted:
    """Return what `arguments` name: paths, ids as `identifier_of` reads them, addresses, and the entries of exports.

    A path that exists is a path, whatever it looks like; `~` is expanded. An export with more than `max_bytes` is a
    failure, like everything else that cannot be read: nothing is raised. Of the PDFs that an export names, those in its
    own folder are taken, those in the folders `files_from`, and the `known` ones, by their paths.
    """
    folders = [each.resolve() for each in files_from]

    def is_allowed(pdf: Path) -> bool:
        return str(pdf) in known or any(pdf.is_relative_to(each) for each in folders)

    outside: dict[Path, None] = {}
    files: dict[Path, Path] = {}
    papers: list[WantedPaper] = []
    failures: list[Failure] = []
    for argument in map(str, arguments):
        path = _expanded(uri_path(argument) or argument)
        if not argument.strip() or not os.path.exists(path):  # noqa: PTH110 - Path's raises for names that no file can have
            paper = _named(argument)
            papers += [paper] if paper else []
            failures += [] if paper else [_unknown(argument)]
        elif is_export(path.name) and path.is_file():
            found, broken, unread = _exported(path, max_bytes, is_allowed)
            papers += found
            failures += broken
            outside |= dict.fromkeys(unread)
        else:
            files.setdefault(path.resolve(), path)
    merged = list(_merged(papers))
    attached = {pdf for paper in merged for pdf in paper.pdfs}
    own = tuple(path for real, path in files.items() if real not in attached)
    return Wanted(own, tuple(merged), tuple(failures), _by_folder(outside))


def _expanded(path: str) -> Path:
    """Return `path` with `~` expanded, unless it is a name that no file can have."""
    try:
        return Path(os.path.expanduser(path))  # noqa: PTH111 - Path's raises for `~nobody`
    except ValueError:  # a null byte, or a character that cannot be encoded
        return Path(path)


def _named(argument: str) -> WantedPaper | None:
    text = argument.strip()
    identifier = identifier_of(text)
    if identifier is not None:
        return WantedPaper(show_target(text), (identifier,))
    addresses, rest = split_addresses(text)
    is_all = len(addresses) == len(text.split()) == 1 and not any(map(str.isalnum, rest))
    if not is_all or web_url(addresses[0]) is None:
        return None
    found = find_identifiers(addresses[0])[:1]
    return WantedPaper(show_target(text), found, _page(addresses[0], found))


def _page(url: str, identifiers: Sequence[Identifier]) -> str | None:
    return url if url and not (identifiers and _REGISTRY.match(url)) else None


def _unknown(argument: str) -> Failure:
    shown = show_target(argument)
    return failure(
        UsageError(
            f"{shown}: no file, and no arXiv id, DOI, PMID or address",
            hint="check the path; ids look like 2005.11401, 10.5555/x1 and PMID:123",
        ),
        shown,
    )


def _exported(
    path: Path, max_bytes: int, is_allowed: Callable[[Path], bool]
) -> tuple[list[WantedPaper], list[Failure], list[Path]]:
    shown = show_name(path.name)
    try:
        roots = LocalRoots([path])
        with roots.open_file(roots.files[0]) as opened:
            found, failures = read_export(opened.read(max_bytes), shown)
    except AskyError as error:
        return [], [failure(error, shown)], []
    papers, outside = list[WantedPaper](), list[Path]()
    for each in found:
        attached = _attachments(each, path.resolve().parent, is_allowed)
        paper, wrong = _with_pdfs(each, path, attached)
        outside += attached.outside
        papers += [paper] if _is_findable(paper) else []
        failures += [failure(SourceUnreadable(f"{paper.name}: {wrong}"), paper.name)] if wrong else []
    return papers, failures, outside


def _attachments(exported: ExportedPaper, folder: Path, is_allowed: Callable[[Path], bool]) -> _Attachments:
    """Return the PDFs of an entry of an export in `folder`; those below `folder` and the allowed ones are taken."""
    found = [_pdf(each, folder) for each in exported.attachments[:_MAX_ATTACHMENTS]]
    pdfs = dict.fromkeys(each for each in found if isinstance(each, Path))
    taken = [each for each in pdfs if each.is_relative_to(folder) or is_allowed(each)]
    wrong = tuple(each for each in found if isinstance(each, str))
    return _Attachments(tuple(taken), wrong, tuple(each for each in pdfs if each not in taken))


def _with_pdfs(exported: ExportedPaper, export: Path, attached: _Attachments) -> tuple[WantedPaper, str]:
    """Return an entry with its PDFs, and what is wrong with it, if anything."""
    candidate = exported.candidate
    paper = WantedPaper(
        f"{show_name(export.name)}: {exported.name}",
        exported.identifiers,
        _page(candidate.url or candidate.pdf_url or "", exported.identifiers),
        attached.pdfs,
        candidate,
    )
    wrong = list(attached.wrong)
    if not _is_findable(paper):
        if attached.outside:
            wrong.append("its PDF was not read")
        wrong.append("it has no identifier and no address" if wrong else "it has no PDF, no identifier and no address")
    return paper, "; ".join(wrong)


def _is_findable(paper: WantedPaper) -> bool:
    return bool(paper.identifiers or paper.url or paper.pdfs)


def _pdf(attachment: str, folder: Path) -> Path | str:
    """Return the real path of an attachment, or why it is not read.

    An export may come from a stranger: what it names relative to itself has to lie in its own folder, links resolved.
    Of absolute paths, which reference managers write, the caller decides.
    """
    named = uri_path(attachment) or _LIBRARY_FILE.sub("", attachment)
    shown = show_target(named)
    try:
        path = Path(os.path.expanduser(named))  # noqa: PTH111 - as above
        real = (folder / path).resolve()
        if not path.is_absolute() and not real.is_relative_to(folder):
            return f"its PDF {shown} lies outside of the export's folder"
        for each in (real, Path("/", path).resolve()):  # Mendeley omits the first slash
            if each.is_file():
                return each
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, or links in a circle
        pass
    return f"its PDF {shown} does not exist"


def _by_folder(files: Iterable[Path]) -> dict[Path, int]:
    """Return the number of files by folder; folders beside each other count as the one that holds them.

    Reference managers keep each PDF in a folder of its own: `storage/ABCD1234/x.pdf`. The folder of the user, those
    above it, and those at the top of a disk are too wide to be one.
    """
    home = Path.home()
    counts = Counter(each.parent for each in files)
    while True:
        above = Counter(each.parent for each in counts)
        joined = next(
            (
                each
                for each in sorted(above, key=lambda path: -len(path.parts))
                if above[each] + (each in counts) > 1 and len(each.parts) > 2 and not home.is_relative_to(each)
            ),
            None,
        )
        if joined is None:
            return dict(sorted(counts.items()))
        for each in [path for path in counts if path.parent == joined]:
            counts[joined] += counts.pop(each)


def _merged(papers: Iterable[WantedPaper]) -> Iterator[WantedPaper]:
    """Yield each work once, where it was first named, with all that is known of it.

    Two are one work if they share an identifier; two without any, if they share an address, a PDF, or title, year and
    author. A volume may be the PDF of several papers.
    """
    parents: dict[str, str] = {}

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            parents[key] = key = parents[parents[key]]
        return key

    works: dict[str, list[WantedPaper]] = {}
    keyed = [(paper, _keys(paper)) for paper in papers]
    for _, keys in keyed:
        for key in keys[1:]:
            parents[root(key)] = root(keys[0])
    for paper, keys in keyed:
        works.setdefault(root(keys[0]), []).append(paper)
    for same in works.values():
        identifiers: dict[str, Identifier] = {}
        for each in (each for paper in same for each in paper.identifiers):
            identifiers.setdefault(each.key, each)
        yield WantedPaper(
            same[0].name,
            tuple(identifiers.values()),
            next((paper.url for paper in same if paper.url), None),
            tuple(dict.fromkeys(pdf for paper in same for pdf in paper.pdfs)),
            next((paper.candidate for paper in same if paper.candidate), None),
        )


def _keys(paper: WantedPaper) -> list[str]:
    if paper.identifiers:
        return [each.key for each in paper.identifiers]
    address = [f"url:{canonical_url(paper.url)}"] if paper.url else []
    return [*address, *map(str, paper.pdfs), *(work_keys(paper.candidate) if paper.candidate else ())]
