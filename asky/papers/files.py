"""The library's folder: plain files beside the store, for people and other programs.

    pdfs/                   the PDFs that were added
    extracted_paper_text/   their texts as Markdown, page by page
    summaries/              what they are about, as Markdown, with the pages that say so
    paper_metadata/         title, authors, date and ids, as JSON
    notes/                  your notes on papers, as Markdown
    results/                answers that were saved

The store is the truth: all but the PDFs, the notes and the results can be written again from it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from asky.config.paths import ensure_private_dir, replace_bytes
from asky.errors import StorageError
from asky.storage.papers import Paper
from asky.values import Document, Page

_UNUSUAL = re.compile(r"[^\w.()-]+", re.ASCII)
_SECRET_MODE = 0o600
_MAX_NAME_CHARS = 100
_MAX_SLUG_CHARS = 60
_PAGE_ENDS = "\f\n "


class PaperFiles:
    """Writes the files of papers below `folder`; each is called by its name, such as `2005.11401v4`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def pdf(self, name: str) -> Path:
        """Return the path of the copy of a paper's PDF, whether it exists or not."""
        return self.folder / "pdfs" / f"{file_name(name)}.pdf"

    def text(self, name: str) -> Path:
        """Return the path of a paper's text."""
        return self.folder / "extracted_paper_text" / f"{file_name(name)}.md"

    def summary(self, name: str) -> Path:
        """Return the path of a paper's summary."""
        return self.folder / "summaries" / f"{file_name(name)}.md"

    def metadata(self, name: str) -> Path:
        """Return the path of what is known about a paper."""
        return self.folder / "paper_metadata" / f"{file_name(name)}.json"

    def notes(self, paper_id: str) -> Path:
        """Return the path of the notes on a paper, which are called by its id: they stay when its version changes."""
        return self.folder / "notes" / f"{file_name(paper_id)}.md"

    def noted(self) -> set[str]:
        """Return the names of the files with notes."""
        folder = self.folder / "notes"
        return {each.name for each in folder.iterdir() if each.is_file()} if folder.is_dir() else set()

    def put_notes(self, paper_id: str, text: str) -> None:
        """Write the notes on a paper. Raises `StorageError` if they cannot be written."""
        self._write(self.notes(paper_id), text.encode("utf-8", "replace"))

    def put_pdf(self, name: str, data: bytes) -> None:
        """Write the copy of a PDF. Raises `StorageError` if it cannot be written."""
        self._write(self.pdf(name), data)

    def put_text(self, paper: Paper, document: Document) -> None:
        """Write the text of a paper. Raises `StorageError` if it cannot be written."""
        self._write(self.text(paper.name), paper_text(paper, document).encode())

    def put_summary(self, paper: Paper, text: str) -> None:
        """Write the summary of a paper. Raises `StorageError` if it cannot be written."""
        self._write(self.summary(paper.name), text.encode())

    def put_metadata(self, paper: Paper, aliases: Sequence[str]) -> None:
        """Write what is known about a paper. Raises `StorageError` if it cannot be written."""
        source = paper.source
        facts = {
            "id": paper.id,
            "version": paper.version,
            "title": source.title,
            "authors": list(source.authors),
            "published": source.published,
            "published_in": source.published_in,
            "doi": paper.doi,
            "pmid": paper.pmid,
            "url": source.url,
            "names": list(aliases),
            "status": paper.status,
            "notices": [asdict(each) for each in paper.notices],
            "notices_checked_at": paper.notices_checked_at,
            "added_at": paper.added_at,
        }
        self._write(self.metadata(paper.name), (json.dumps(facts, ensure_ascii=False, indent=2) + "\n").encode())

    def put_result(self, name: str, text: str, now: datetime) -> Path:
        """Write a text that the user saves, `name_2026-01-31_12-00-00.md`, and return its path; nothing is overwritten.

        Raises `StorageError` if it cannot be written.
        """
        slug = _UNUSUAL.sub("-", name.lower()).strip("-.")[:_MAX_SLUG_CHARS].rstrip("-.") or "result"
        base, number = f"{slug}_{now:%Y-%m-%d_%H-%M-%S}", 1
        path = self.folder / "results" / f"{base}.md"
        while path.exists():
            number += 1
            path = path.with_name(f"{base}_{number}.md")
        self._write(path, (text if text.endswith("\n") else f"{text}\n").encode())
        return path

    def remove(self, name: str) -> None:
        """Delete the files of a paper."""
        for path in (self.pdf(name), self.text(name), self.summary(name), self.metadata(name)):
            path.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            ensure_private_dir(self.folder)
            ensure_private_dir(path.parent)
            replace_bytes(path, data, mode=_SECRET_MODE)
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def file_name(name: str) -> str:
    """Return the name of a paper's files, without a suffix: `10.5555_x1` for the DOI `10.5555/x1`. No two are equal."""
    joined = name.replace("/", "_", 1)
    plain = _UNUSUAL.sub("-", joined)[:_MAX_NAME_CHARS]
    if plain == joined and "_" not in name:
        return plain
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def paper_text(paper: Paper, document: Document) -> str:
    """Return the text of a paper as Markdown, each page below a line with its number."""
    authors = f"\n{', '.join(paper.source.authors)}\n" if paper.source.authors else ""
    head = f"# {paper.source.title}\n{authors}\n{paper.name}\n"
    pages: Iterable[Page] = document.pages
    parts = [
        f"\n<!-- {page_name(page)} -->\n\n{document.text[page.start : page.end].strip(_PAGE_ENDS)}\n" for page in pages
    ]
    return head + ("".join(parts) or f"\n{document.text}\n")


def page_name(page: Page) -> str:
    """Return `page 5`, or with the printed number where it differs: `page iv (PDF 6)`."""
    is_plain = page.label is None or page.label == str(page.index)
    return f"page {page.index}" if is_plain else f"page {page.label} (PDF {page.index})"
