"""Exports of reference managers as the papers that they list: BibTeX, RIS and CSL-JSON. Nothing is looked up or opened.

Sources: BibTeX's btxdoc, 2.2; the RIS format of Reference Manager; the schema of CSL 1.0.2; how Zotero, Better BibTeX,
JabRef and Mendeley write the field `file`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from asky.concurrency import failure
from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.search.dates import iso_date
from asky.search.identifiers import Identifier, find_identifiers, identifier_of
from asky.search.papers import arxiv_url, date_of, doi_url, plain_abstract, plain_title
from asky.search.port import Candidate
from asky.search.rows import plain, web_url, within
from asky.text.scrub import one_line
from asky.values import Failure

MAX_ENTRIES = 100_000
_MAX_AUTHORS = 5_000
_MAX_NAME_CHARS = 200
_MAX_VALUES = 20  # addresses and notes of an entry that are looked at
_MAX_FIELD_CHARS = 200_000  # as long as the authors of the largest experiments
_MAX_ID_CHARS = 2_000  # of a note or an address
_MAX_STRING_CHARS = 300  # that a `@string` stands for: names of names of names grow without limit
_MAX_LATEX_CHARS = 1_000_000  # converted of one export, at 25 µs each; words without a command do not count

_BLOCK = re.compile(r"@\w*[ \t]*[{(]")
_MARKS = re.compile(r'\\.|[{}"#]', re.DOTALL)
_SPACED_ACCENT = re.compile(r"\\([uvHckrdbt]) +([A-Za-z])")
_SPACED_COMMAND = re.compile(r"(\\[A-Za-z]+) +")
_WITH_COMMAND = re.compile(r"(?<!\S)[^\s\\]*\\\S*|[{}]")
_COMMANDS = re.compile(r"\\[A-Za-z]*|[{}]")
_BARE = re.compile(r"(?<!\\)[%&]")  # which in LaTeX begin a comment and a column
_ESCAPE = re.compile(r"\\([_%&#$~:;\\{}])")
_TAG = re.compile(r"([A-Z][A-Z0-9]) {1,2}- ?(.*)")
_LABELLED = re.compile(r"\b(?:arxiv:|pmid:)\s?[^\s,;\])]{1,40}", re.IGNORECASE)

_INHERITED = ("date", "year", "month", "journaltitle", "journal", "booktitle")
_PROSE = ("title", "journaltitle", "journal", "booktitle")
_VERBATIM = """
    abstract archiveprefix arxivid date doi eprint eprinttype howpublished link month note number pdf pmcid pmid url
    year""".split()  # noqa: SIM905 - shorter
_VENUE = ("journaltitle", "journal", "booktitle", "container-title", "JF", "T2", "JO", "BT", "J2", "JA")
_NOTES = ("note", "number", "journal", "howpublished", "container-title", "N1", "M1", "AN", "JO", "T2", "PB")
_EPRINTS = {"": "arXiv:", "arxiv": "arXiv:", "pmid": "PMID:", "pubmed": "PMID:"}


@dataclass(frozen=True, slots=True)
class ExportedPaper:
    """An entry of an export. `name` is its key there, or else its line or number.

    `candidate` is what the entry says; its `url` is empty if it has none. `attachments` are PDFs, as the export names
    them: relative to its folder, absolute, or as `file:` URIs.
    """

    name: str
    identifiers: tuple[Identifier, ...]
    candidate: Candidate
    attachments: tuple[str, ...] = ()


Exported = tuple[list[ExportedPaper], list[Failure]]


def is_export(name: str) -> bool:
    """Return whether a file of this name is taken for an export."""
    return _suffix(name) in _READERS


def read_export(data: bytes, name: str) -> Exported:
    """Return the entries of an export in order, and a failure for each that is broken, named by its line.

    Raises `SourceUnreadable` if it has no entries, more than 100,000, or is not in the format that its name says.
    """
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    papers, broken = _READERS[_suffix(name)](text, name)
    if not papers and not broken:
        raise SourceUnreadable(f"{name}: it has no entries")
    return papers, broken


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


def _limit(count: int, name: str) -> None:
    if count > MAX_ENTRIES:
        raise SourceUnreadable(f"{name}: more than {MAX_ENTRIES:,} entries", verdict="too_large", hint="split it")


def _broken(name: str, where: str, why: str) -> Failure:
    subject = f"{name}: {where}"
    return failure(SourceUnreadable(f"{subject}: {one_line(why)}"), subject)


class _Fields:
    """The fields of an entry, by their names in the three formats: `title`, `TI` and `container-title` do not clash."""

    def __init__(self, values: Mapping[str, list[str]]) -> None:
        self._values = values

    def all(self, *names: str) -> list[str]:
        """Return what these fields hold, in this order, but not all of very many values."""
        return [value for name in names for value in self._values.get(name, ())[:_MAX_VALUES] if value]

    def first(self, *names: str) -> str:
        """Return the first that `all` returns, or `""`."""
        return next(iter(self.all(*names)), "")


def _paper(name: str, fields: _Fields, authors: Iterable[str], attachments: Iterable[str] = ()) -> ExportedPaper:
    first, files = fields.first, list(attachments)
    identifiers: dict[str, Identifier] = {}
    for each in _identifiers(fields):
        identifiers.setdefault(each.kind, each)
    arxiv, doi = identifiers.get("arxiv"), identifiers["doi"].value if "doi" in identifiers else None
    candidate = Candidate(
        url=arxiv_url(arxiv) if arxiv else doi_url(doi) if doi else _url(fields),
        title=plain_title(first("title", "TI", "T1")),
        snippet=plain_abstract(first("abstract", "AB", "N2")),
        published=next(filter(None, map(iso_date, fields.all("date", "DA", "Y1", "PY"))), None)
        or date_of(first("year"), first("month")),
        kind="paper",
        doi=doi,
        authors=tuple(shown for each in authors if (shown := plain(each, _MAX_NAME_CHARS))),
        venue=plain_title(first(*_VENUE)) or None,
        pdf_url=next(filter(None, map(web_url, (*files, first("pdf")))), None),
    )
    local = tuple(each for each in files if not web_url(each))
    return ExportedPaper(name, tuple(identifiers.values()), candidate, local)


def _url(fields: _Fields) -> str:
    return next(filter(None, map(web_url, fields.all("url", "URL", "UR", "link", "howpublished"))), "")


def _identifiers(fields: _Fields) -> Iterator[Identifier]:
    """Yield what the entry is called in registries, the most certain first. Of notes only labelled ids count."""
    eprint = _EPRINTS.get(fields.first("archiveprefix", "eprinttype").lower())
    is_pubmed = re.search("pubmed|medline|nlm", fields.first("DB", "DP"), re.IGNORECASE)
    named = {
        "doi:": fields.all("doi", "DOI", "DO", "DI") or [each for each in fields.all("M3") if "10." in each],
        "arXiv:": fields.all("arxivid", *(["eprint"] if eprint == "arXiv:" else [])),
        "PMID:": fields.all("pmid", "PMID", *(["eprint"] if eprint == "PMID:" else []), *(["AN"] if is_pubmed else [])),
        "": fields.all("pmcid", "PMCID", "UR"),
    }
    texts = [f"{label}{value}" for label, values in named.items() for value in values]
    labelled = [each for note in fields.all(*_NOTES) for each in _LABELLED.findall(note[:_MAX_ID_CHARS])]
    for text in (each[:_MAX_ID_CHARS] for each in (*texts, *labelled, _url(fields))):
        whole = identifier_of(text)
        yield from (whole,) if whole else find_identifiers(text)[:1]


# BibTeX


def _read_bibtex(text: str, name: str) -> Exported:
    import logging

    import bibtexparser  # .1 s: only for such an export
    from bibtexparser.model import Entry, ParsingFailedBlock, String

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # it logs what is returned here
    _limit(sum(1 for _ in _BLOCK.finditer(text)), name)
    strings: dict[str, str] = {}
    entries: list[tuple[str, dict[str, str]]] = []
    broken: list[Failure] = []
    for block in bibtexparser.parse_string(text, parse_stack=[]).blocks:
        known = getattr(block, "ignore_error_block", None) or block  # an entry whose key or field is there twice
        line = f"line {(block.start_line or 0) + 1}"
        if isinstance(known, String):
            strings[known.key.lower()] = _resolved(known.value, strings)[:_MAX_STRING_CHARS]
        elif isinstance(known, Entry):
            entries.append((one_line(known.key) or line, {each.key.lower(): each.value for each in known.fields[::-1]}))
        elif isinstance(known, ParsingFailedBlock):
            broken.append(_broken(name, line, getattr(known.error, "abort_reason", "not BibTeX")))
    volumes, latex = {key.lower(): fields for key, fields in entries}, _Latex()
    return [_bibtex_paper(key, fields, volumes, strings, latex) for key, fields in entries], broken


def _bibtex_paper(
    name: str,
    raw: Mapping[str, str],
    volumes: Mapping[str, Mapping[str, str]],
    strings: Mapping[str, str],
    latex: _Latex,
) -> ExportedPaper:
    volume = volumes.get(_resolved(raw.get("crossref", ""), strings).lower(), {})
    raw = {each: volume[each] for each in _INHERITED if each in volume} | dict(raw)

    def values(*names: str) -> Iterator[tuple[str, str]]:
        return ((each, _resolved(raw[each], strings)) for each in names if each in raw)

    fields = {each: [latex(value)] for each, value in values(*_PROSE)}
    fields |= {each: [_unescaped(value)] for each, value in values(*_VERBATIM)}
    people, files = ("".join(value for _, value in values(each)) for each in ("author", "file"))
    return _paper(name, _Fields(fields), _bibtex_names(people, latex), _attached(files))


def _resolved(raw: str, strings: Mapping[str, str]) -> str:
    """Return the value of a field: its pieces between `#` without braces and quotes, `@string` names replaced."""
    pieces, depth, is_quoted, start = [], 0, False, 0
    for mark in _MARKS.finditer(raw) if "#" in raw else ():
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        is_quoted ^= mark[0] == '"' and depth == 0
        if mark[0] == "#" and depth == 0 and not is_quoted:
            pieces.append(raw[start : mark.start()])
            start = mark.end()
    value = ""
    for piece in (each.strip() for each in (*pieces, raw[start:])):
        value += piece[1:-1] if piece[:1] in ("{", '"') else strings.get(piece.lower(), piece)
        if len(value) > _MAX_FIELD_CHARS:
            break
    return value[:_MAX_FIELD_CHARS].strip()


def _bibtex_names(text: str, latex: _Latex) -> Iterator[str]:
    from bibtexparser.middlewares import names  # as above

    for each in names.split_multiple_persons_names(text)[:_MAX_AUTHORS]:
        if "family=" in each:  # biblatex: family=Berg, given=Ann, prefix=van
            parts = dict(part.strip().partition("=")[::2] for part in each.split(","))
            yield latex(" ".join(filter(None, map(parts.get, ("given", "prefix", "family")))))
        elif each.strip().lower() != "others":
            person = names.parse_single_name_into_parts(each[: 4 * _MAX_NAME_CHARS], strict=False)
            yield latex(" ".join([*person.first, *person.von, *person.last]))  # Jr. is no part of the family name


def _attached(field: str) -> Iterator[str]:
    """Yield the PDFs of `description:path:type;...`, where description and type may be missing."""
    for entry in re.split(r"(?<!\\);", field):
        parts = re.split(r"(?<!\\):", entry)
        is_uri = re.match(r"\s*(?:https?|file):/", entry, re.IGNORECASE)
        path = entry if is_uri else ":".join(parts[1:-1]) if len(parts) > 2 else max(parts, key=_is_pdf)
        if _is_pdf(path) or (len(parts) > 2 and "pdf" in parts[-1].lower()):
            yield _ESCAPE.sub(r"\1", path).strip()


def _is_pdf(path: str) -> bool:
    return path.strip().lower().endswith(".pdf")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text.replace("\\url", "")).replace("{", "").replace("}", "").strip()


class _Latex:
    """Converts LaTeX to plain text. From a limit on, and where that fails, only commands and braces are taken out."""

    def __init__(self) -> None:
        from pylatexenc.latex2text import LatexNodes2Text  # as above

        self._convert = LatexNodes2Text(math_mode="text").latex_to_text
        self._known: dict[str, str] = {"{": "", "}": ""}
        self._left = _MAX_LATEX_CHARS

    def __call__(self, text: str) -> str:
        text = text.replace("~", " ").replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
        if "$" in text:
            return self._plain(text)
        spaceless = _SPACED_COMMAND.sub(r"\1{}", _SPACED_ACCENT.sub(r"\\\1{\2}", text))
        return _WITH_COMMAND.sub(lambda found: self._plain(found[0]), spaceless)

    def _plain(self, latex: str) -> str:
        if latex not in self._known:
            self._left -= len(latex)
            self._known[latex] = self._converted(latex) if self._left >= 0 else _COMMANDS.sub("", latex)
        return self._known[latex]

    def _converted(self, latex: str) -> str:
        try:
            return str(self._convert(_BARE.sub(r"\\\g<0>", latex)))
        except Exception:  # noqa: BLE001 - RecursionError, IndexError and others for what is no LaTeX
            return _COMMANDS.sub("", latex)


# RIS


def _read_ris(text: str, name: str) -> Exported:
    """Read entries with and without an end; values may go on in further lines."""
    records: list[tuple[str, dict[str, list[list[str]]]]] = []
    broken: list[Failure] = []
    record: dict[str, list[list[str]]] | None = None
    lines: list[str] | None = None
    is_stray = False
    for number, line in enumerate(text.split("\n"), start=1):
        tag, value = match.groups() if (match := _TAG.fullmatch(line.strip())) else ("", line.strip())
        if tag == "TY":
            record, lines, is_stray = {}, None, False
            records.append((f"line {number}", record))
            _limit(len(records), name)
        elif tag == "ER":
            record, lines = None, None
        elif tag and record is not None:
            lines = [value.strip()]
            record.setdefault(tag, []).append(lines)
        elif tag and not is_stray:
            is_stray = True
            broken.append(_broken(name, f"line {number}", "it stands before the line `TY` that begins an entry"))
        elif lines is not None and value and not tag:
            lines.append(value)
    return [_ris_paper(where, record) for where, record in records], broken


def _ris_paper(where: str, record: Mapping[str, list[list[str]]]) -> ExportedPaper:
    fields = {tag: [" ".join(lines) for lines in values[:_MAX_AUTHORS]] for tag, values in record.items()}
    names = (each.partition(",") for tag in ("AU", "A1") for each in fields.get(tag, ()))
    given_first = (f"{given.partition(',')[0]} {family}" for family, _, given in names)  # and no Jr., as above
    files = (each for each in fields.get("L1", ()) if _is_pdf(each) or web_url(each))
    return _paper(one_line("".join(fields.get("ID", ())[:1])) or where, _Fields(fields), given_first, files)


# CSL-JSON


def _read_csl(text: str, name: str) -> Exported:
    try:
        root = json.loads(text)
    except RecursionError:
        raise SourceUnreadable(f"{name}: JSON is nested too deeply") from None
    except ValueError as error:
        raise SourceUnreadable(f"{name}: not JSON ({error})") from None
    items = within(root, "items") or root
    if not isinstance(items, list):
        raise SourceUnreadable(f"{name}: not a list of references", hint="export them as CSL-JSON")
    _limit(len(items), name)
    named = [(f"entry {number}", item) for number, item in enumerate(items, start=1)]
    papers = [_csl_paper(where, item) for where, item in named if isinstance(item, dict)]
    return papers, [_broken(name, where, "not an object") for where, item in named if not isinstance(item, dict)]


def _csl_paper(where: str, item: Mapping[str, Any]) -> ExportedPaper:
    fields = {key: [str(value)] for key, value in item.items() if isinstance(value, (str, int))}
    parts = within(item, "issued", "date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else ()
    fields["date"] = ["-".join(f"{part:0>2}" for part in first[:3] if isinstance(part, (str, int)))]
    authors = item.get("author")
    names = map(_csl_name, authors[:_MAX_AUTHORS] if isinstance(authors, list) else ())
    return _paper(one_line("".join(fields.get("id", ()))) or where, _Fields(fields), names)


def _csl_name(author: object) -> str:
    parts = (within(author, each) for each in ("given", "dropping-particle", "non-dropping-particle", "family"))
    return " ".join(each for each in parts if isinstance(each, str)) or plain(within(author, "literal"))


_READERS = {".bib": _read_bibtex, ".bibtex": _read_bibtex, ".ris": _read_ris, ".json": _read_csl}
