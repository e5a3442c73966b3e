"""Checks of a bundle that trust nothing in it: no store, configuration or network is used, and nothing is unpacked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from asky.evidence.export.bundle import MANIFEST, SCHEMA, BundleRefused, manifest_text, pack, parse_object, unpack

_FIRST = (MANIFEST, "README.txt", "report.html", "answer.json", "run.json", "references.bib")
_MAX_FAULTS = 100


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """The contents of a bundle as far as it could be read, and its faults, one line each.

    `digest` is the manifest's: two bundles with the same digest are the same. At most 100 faults are listed.
    """

    run: str | None
    digest: str | None
    files: int
    citations: int
    claims: int
    faults: tuple[str, ...]


def check_bundle(file: BinaryIO) -> CheckedBundle:
    """Check an archive that is open for reading and seeking; it has no `faults` if all of the following holds.

    The archive is byte for byte one that asky writes, with exactly the files of its manifest, each with its hash and
    size; every text has the hash in its name; the offsets of each citation and of each shown passage give its quote in
    the text with its hash; each claim occurs at its offsets in the answer and refers to citations of it; `run.json` has
    the same answer, run and texts. Any deviation is a fault; none raises an exception. Linear time; the archive is held
    in memory, at most 256 MiB.
    """
    checking = _Checking(file)
    faults: list[str] = []
    try:
        for fault in checking.faults():
            faults.append(fault)
            if len(faults) == _MAX_FAULTS:
                break
    except BundleRefused as error:
        faults.append(str(error))
    except RecursionError:
        faults.append("a part of it is nested too deeply")
    return CheckedBundle(
        checking.run, checking.digest, len(checking.files), checking.citations, checking.claims, tuple(faults)
    )


class _Checking:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.files: Mapping[str, memoryview] = {}
        self.run: str | None = None
        self.digest: str | None = None
        self.citations = self.claims = 0

    def faults(self) -> Iterator[str]:
        self.files = unpack(self._file)
        names = list(self.files)
        if tuple(names[: len(_FIRST)]) != _FIRST or names[len(_FIRST) :] != sorted(names[len(_FIRST) :]):
            raise BundleRefused(f"it does not have the files of a bundle in order, but {', '.join(names[:10])}")
        damaged = list(self._damaged_files())
        yield from damaged
        if damaged:  # the other checks depend on these files
            return
        answer = self._json("answer.json")
        yield from self._answer_faults(answer)
        yield from self._run_faults(answer)

    # files

    def _damaged_files(self) -> Iterator[str]:
        manifest = self._json(MANIFEST)
        run, tool, listed = (manifest.get(name) for name in ("run", "tool", "files"))
        if manifest.get("schema") != SCHEMA or not isinstance(run, str) or not isinstance(listed, list):
            raise BundleRefused(f"{MANIFEST} is no {SCHEMA}")
        self.run, self.digest = run, str(manifest.get("digest"))
        if self.files[MANIFEST] != manifest_text(run, str(tool), listed).encode():
            yield f"{MANIFEST} has been changed: its digest differs, or it is not written as asky writes it"
        damaged = False
        for fact in listed:
            name, sha256 = fact["path"], hashlib.sha256(self.files[fact["path"]]).hexdigest()
            if fact.get("sha256") != sha256:
                damaged = True
                yield f"{name} has been changed: its hash is not the manifest's"
            elif name not in _FIRST and name != f"sources/{sha256}.txt":
                yield f"{name} is not named by its hash"
        if not damaged and not self._is_packed():
            yield "it is not byte for byte an archive that asky writes of the files in its manifest"

    def _is_packed(self) -> bool:
        self._file.seek(0)
        try:
            return pack([*self.files.items()]) == self._file.read()
        except ValueError:
            return False

    def _json(self, name: str) -> dict[str, Any]:
        return parse_object(self.files[name], name)

    # the answer

    def _answer_faults(self, answer: Mapping[str, Any]) -> Iterator[str]:
        citations = _objects(answer.get("citations"), "the citations")
        claims = _objects(answer.get("claims"), "the claims")
        self.citations, self.claims = len(citations), len(claims)
        if answer.get("schema") != "asky.answer/1" or not isinstance(answer.get("answer"), str):
            raise BundleRefused("answer.json is not an asky.answer/1 object")
        if [each.get("n") for each in citations] != list(range(1, len(citations) + 1)):
            yield "the citations of the answer are not numbered from 1"
        yield from self._citation_faults(citations)
        for number, claim in enumerate(claims, start=1):
            if fault := claim_fault(claim, answer["answer"], len(citations)):
                yield f"claim {number}: {fault}"

    def _citation_faults(self, citations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield what is wrong with each citation; each text is read once and released before the next."""
        by_text: dict[str, list[Mapping[str, Any]]] = {}
        for each in citations:
            by_text.setdefault(str(each.get("sha256")), []).append(each)
        for sha256, group in by_text.items():
            text = self._text(sha256)
            for each in group:
                if fault := quote_fault(each, text):
                    yield f"citation {each.get('n')!a:.20}: {fault}"

    def _text(self, sha256: str) -> str | None:
        """Return the text with that hash, which has been compared with its name; `None` if there is none."""
        name = f"sources/{sha256}.txt"
        if name not in self.files:
            return None
        try:
            return bytes(self.files[name]).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise BundleRefused(f"{name} is not UTF-8") from None

    # the run

    def _run_faults(self, answer: Mapping[str, Any]) -> Iterator[str]:
        run = self._json("run.json")
        about = run.get("run")
        if run.get("schema") != "asky.run/1" or not isinstance(about, dict):
            raise BundleRefused("run.json is not an asky.run/1 object")
        if not answer.get("run") == about.get("id") == self.run:
            yield "manifest.json, answer.json and run.json belong to different runs"
        if run.get("answer") != answer:
            yield "run.json holds a different answer from answer.json"
        documents = _objects(run.get("documents"), "the documents of run.json")
        texts = {_sha256(text): text for each in documents if isinstance(text := each.get("text"), str)}
        named = [each.get("sha256") for each in documents]
        if named != list(texts) or set(texts) != {name[8:-4] for name in self.files if name not in _FIRST}:
            yield "run.json holds different texts from sources"
        for number, passage in enumerate(_objects(run.get("passages"), "the passages of run.json"), start=1):
            if fault := quote_fault(passage, texts.get(str(passage.get("sha256")))):
                yield f"passage {number} of run.json: {fault}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def quote_fault(passage: Mapping[str, Any], text: str | None) -> str | None:
    """Return what is wrong with the offsets and the quote of a citation or a passage; `None` if nothing is."""
    start, end, quote = passage.get("start"), passage.get("end"), passage.get("quote")
    if text is None:
        return "no text has its hash"
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        return "its offsets lie outside of the text"
    if not isinstance(quote, str) or len(quote) != end - start or text[start:end] != quote:
        return "the text at its offsets is not its quote"
    return None


def _objects(value: object, what: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BundleRefused(f"{what} are not a list of objects")
    return value


def claim_fault(claim: Mapping[str, Any], answer: str, citations: int) -> str | None:
    """Return what is wrong with a claim of an answer with that number of citations; `None` if nothing is."""
    start, end, numbers = claim.get("start"), claim.get("end"), claim.get("citations")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(answer):
        return "its offsets lie outside of the answer"
    text = claim.get("text")
    if not isinstance(text, str) or len(text) != end - start or answer[start:end] != text:
        return "the answer has different text at its offsets"
    if not isinstance(numbers, list) or not all(type(n) is int and 1 <= n <= citations for n in numbers):
        return "it cites something that is not a citation of the answer"
    return None
