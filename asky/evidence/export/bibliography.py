"""Bibliographies of cited sources, for reference managers and LaTeX."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

from asky.evidence.export.works import Name, Reference, WorkKind, cited_works

BibliographyFormat = Literal["bibtex", "csl", "ris"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# The names of a kind of work in BibTeX (`online` is BibLaTeX's, and `misc` to styles that do not know it), CSL and RIS.
_TYPES: Mapping[WorkKind, tuple[str, str, str]] = MappingProxyType(
    {
        "article": ("article", "article-journal", "JOUR"),
        "preprint": ("misc", "article", "UNPB"),
        "page": ("online", "webpage", "ELEC"),
        "document": ("misc", "document", "GEN"),
        "file": ("misc", "document", "GEN"),
        "note": ("misc", "manuscript", "UNPB"),
    }
)
# BibTeX counts a brace even after a backslash, so a value may contain braces in pairs only.
_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{char: f"\\{char}" for char in "&%$#_"},
    }
)
_SPLITS_NAMES = re.compile(r"\band\b|,", re.IGNORECASE)
_NO_URL = re.compile(r"[\s\"<>\\^`{|}]")


def bibliography(answers: Iterable[Mapping[str, Any]], form: BibliographyFormat) -> str:
    """Return the sources that `asky.answer/1` objects cite, each once, in order of first citation.

    `bibtex` is UTF-8 with TeX's special characters escaped, `csl` a CSL-JSON array, `ris` RIS with line feeds as line
    ends. Unknown fields are left out; without citations there are no entries.

    Source: BibTeX's own documentation (btxdoc, 3) and the manual of BibLaTeX, 2.1 and 2.2, for types and fields; the
    schema csl-data.json 1.0.2; the RIS Format Specifications of Reference Manager.
    """
    works = cited_works(answers)
    if form == "csl":
        return json.dumps([_csl(work) for work in works], ensure_ascii=False, indent=2) + "\n"
    return "\n".join(_bibtex(work) if form == "bibtex" else _ris(work) for work in works)


# BibTeX


def _bibtex(work: Reference) -> str:
    is_bare = work.kind == "article" and not work.published_in  # an article requires a journal
    rows = "".join(f"  {name} = {value},\n" for name, value in _bibtex_fields(work) if value)
    return f"@{'misc' if is_bare else _TYPES[work.kind][0]}{{{work.key},\n{rows}}}\n"


def _bibtex_fields(work: Reference) -> Iterable[tuple[str, str]]:
    year, month, day = _parts(work.issued)
    holder = {"article": "journal", "page": "organization"}.get(work.kind, "howpublished")
    return (
        ("author", _braced(" and ".join(_bibtex_name(name) for name in work.authors))),
        ("title", _braced(f"{{{_tex(work.title)}}}")),  # as it is written: no style makes its capitals small
        (holder, _braced(_tex(work.published_in or ""))),
        ("year", _braced(str(year or ""))),
        ("month", _MONTHS[month - 1] if month else ""),
        ("day", _braced(str(day or ""))),
        ("eprint", _braced(work.arxiv or "")),
        ("archiveprefix", "{arXiv}" if work.arxiv else ""),
        ("pmid", _braced(work.pmid or "")),
        ("doi", _braced(plain_url(work.doi or ""))),
        ("url", _braced(plain_url(work.url or ""))),
        ("urldate", _braced(_joined(work.accessed, "-")) if work.url else ""),
        ("note", _braced(_tex(work.note))),
    )


def _braced(value: str) -> str:
    return f"{{{value}}}" if value else ""


def _tex(text: str) -> str:
    return text.translate(_TEX)


def _bibtex_name(name: Name) -> str:
    if name.literal:
        return _braced(_tex(name.literal))
    return ", ".join(_unsplit(part) for part in (name.family, name.given))


def _unsplit(part: str) -> str:
    """Return a part of a name, in braces if BibTeX would split it."""
    return _braced(_tex(part)) if _SPLITS_NAMES.search(part) else _tex(part)


def plain_url(url: str) -> str:
    """Return an address unchanged, as styles typeset it verbatim, except for characters that no address may contain."""
    return _NO_URL.sub(lambda match: quote(match[0]), url)


# CSL-JSON


def _csl(work: Reference) -> dict[str, Any]:
    item = {
        "id": work.key,
        "type": "article" if work.kind == "article" and not work.published_in else _TYPES[work.kind][1],
        "title": work.title,
        "author": [_csl_name(name) for name in work.authors],
        "issued": _csl_date(work.issued),
        "container-title": work.published_in,
        "archive": "arXiv" if work.arxiv else None,
        "number": f"arXiv:{work.arxiv}" if work.arxiv else None,
        "PMID": work.pmid,
        "DOI": work.doi,
        "URL": work.url,
        "accessed": _csl_date(work.accessed),
        "note": work.note,
    }
    return {name: value for name, value in item.items() if value}


def _csl_name(name: Name) -> dict[str, str]:
    return {"literal": name.literal} if name.literal else {"family": name.family, "given": name.given}


def _csl_date(date: Sequence[int]) -> dict[str, Any] | None:
    return {"date-parts": [list(date)]} if date else None


# RIS


def _ris(work: Reference) -> str:
    is_bare = work.kind == "article" and not work.published_in
    rows = (
        ("TY", "GEN" if is_bare else _TYPES[work.kind][2]),
        ("ID", work.key),
        *(("AU", name.literal or f"{name.family}, {name.given}") for name in work.authors),
        ("TI", work.title),
        ("T2", work.published_in),
        ("PY", f"{work.issued[0]:04}" if work.issued else ""),
        ("DA", _joined(work.issued, "/")),
        ("AN", f"arXiv:{work.arxiv}" if work.arxiv else work.pmid),
        ("DO", work.doi),
        ("UR", work.url),
        ("Y2", _joined(work.accessed, "/")),
        ("N1", work.note),
    )
    return "".join(f"{tag}  - {value}\n" for tag, value in rows if value) + "ER  - \n"


def _joined(date: Sequence[int], mark: str) -> str:
    return mark.join(f"{part:0{2 if place else 4}}" for place, part in enumerate(date))


def _parts(date: Sequence[int]) -> tuple[int, int, int]:
    year, month, day = (*date, 0, 0, 0)[:3]
    return year, month, day
