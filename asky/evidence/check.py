"""Checks the citations of an exported run: `python -m asky.evidence.check FILE`, or this file alone with any Python.

It uses the export and nothing else: a citation is ok if a document of the export has its hash, if that hash is the
SHA-256 of the document's text, and if the text holds the quote at the citation's offsets. FILE is what
`asky runs export` writes, or an object with the "citations" of an answer and "documents"; "-" reads standard input.

Exit codes: 0 every citation is ok, 1 at least one is not, 2 the file is not an export.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any


def check_export(export: Any) -> Iterator[tuple[Any, str | None]]:
    """Yield `(n, fault)` for each citation in order, `fault` being `None` if it is ok. Raises `ValueError` if none."""
    # in an answer itself, "answer" is its text
    answer = export["answer"] if isinstance(_member(export, "answer"), dict) else export
    citations, documents = _member(answer, "citations"), _member(export, "documents")
    if not _is_list(citations):
        raise ValueError("no citations: neither an exported run with an answer nor an answer")
    if not _is_list(documents):
        raise ValueError("no documents: an answer alone cannot be checked; export its run")
    texts = {each["sha256"]: each["text"] for each in documents if _is_document(each)}
    damaged = {sha256 for sha256, text in texts.items() if _hash(text) != sha256}
    for citation in citations:
        if isinstance(citation, dict):
            yield citation.get("n"), _fault(citation, texts, damaged)
        else:
            yield None, "it is not an object"


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("sha256"), str) and isinstance(value.get("text"), str)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _fault(citation: dict[str, Any], texts: dict[str, str], damaged: set[str]) -> str | None:
    sha256, start, end = citation.get("sha256"), citation.get("start"), citation.get("end")
    text = texts.get(sha256) if isinstance(sha256, str) else None
    if text is None:
        return "no document has its hash"
    if sha256 in damaged:
        return "the document's text does not have its hash"
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        return "its offsets lie outside of the text"
    if text[start:end] != citation.get("quote"):
        return "the text at its offsets is not the quote"
    return None


def main(arguments: list[str]) -> int:
    """Check the file named by the one argument, and print a line for each citation."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m asky.evidence.check FILE\n")
        return 2
    try:
        found = list(check_export(_read(arguments[0])))
    except (OSError, ValueError, RecursionError) as error:
        sys.stderr.write(f"{arguments[0]!a}: {error}\n")
        return 2
    for n, fault in found:
        sys.stdout.write(f"[{n if isinstance(n, int) else '?'}] {'ok' if fault is None else 'FAILED: ' + fault}\n")
    failed = sum(fault is not None for _, fault in found)
    sys.stdout.write(f"{len(found) - failed} of {len(found)} citations are ok\n")
    return 1 if failed else 0


def _read(name: str) -> Any:
    if name == "-":
        return json.loads(sys.stdin.buffer.read())
    with open(name, "rb") as file:  # noqa: PTH123 - a name as it was given, "a/b" or whatever
        return json.loads(file.read())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
