"""Checks a bundle and trusts nothing in it: no store, no configuration, no network, nothing is unpacked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from asky.evidence.bundle import MANIFEST, MAX_PART_BYTES, SCHEMA, is_readable_json, manifest_text
from asky.evidence.stored_zip import ArchiveRefused, Member, blocks, members

_FIRST = (MANIFEST, "README.txt", "report.html", "answer.json", "run.json", "references.bib")
_MAX_FAULTS = 100


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """What a bundle says of itself, as far as it could be read, and what is wrong with it, a line each.

    `digest` is the manifest's: two bundles with one digest are the same. At most 100 faults are listed.
    """

    run: str | None
    digest: str | None
    files: int
    citations: int
    claims: int
    faults: tuple[str, ...]


class _Unusable(Exception):
    """A part of a bundle is not what it has to be; the rest cannot be checked without it."""


def check_bundle(file: BinaryIO) -> CheckedBundle:
    """Check an archive that was opened for reading and seeking; it has no `faults` if all of this holds.

    The archive is byte for byte one that asky writes, with exactly the files of its manifest, each with its hash and
    size; every text has the hash that it is named by; the offsets of each citation and of each passage that was shown
    give its quote in the text with its hash; each claim stands where it says in the answer and cites citations of it;
    `run.json` holds the same answer, run and texts. What is not what it has to be is a fault, and never raises.
    Linear time; no part of more than 64 MiB is held, and one text at a time.
    """
    checking = _Checking(file)
    faults: list[str] = []
    try:
        for fault in checking.faults():
            faults.append(fault)
            if len(faults) == _MAX_FAULTS:
                break
    except (_Unusable, ArchiveRefused) as error:
        faults.append(str(error))
    except RecursionError:
        faults.append("a part of it is nested too deeply")
    return CheckedBundle(
        checking.run, checking.digest, checking.files, checking.citations, checking.claims, tuple(faults)
    )


class _Checking:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._members: dict[str, Member] = {}
        self.run: str | None = None
        self.digest: str | None = None
        self.files = self.citations = self.claims = 0

    def faults(self) -> Iterator[str]:
        found = members(self._file)
        self._members = {each.name: each for each in found}
        self.files = len(found)
        names = list(self._members)
        if tuple(names[: len(_FIRST)]) != _FIRST or names[len(_FIRST) :] != sorted(names[len(_FIRST) :]):
            raise _Unusable(f"its files are not those of a bundle, in their order: {', '.join(names[:10])}")
        damaged = list(self._damaged_files())
        yield from damaged
        if damaged:  # whatever else would be said rests on these
            return
        answer = self._json("answer.json")
        yield from self._answer_faults(answer)
        yield from self._run_faults(answer)

    # files

    def _damaged_files(self) -> Iterator[str]:
        manifest = self._json(MANIFEST)
        run, tool, listed = (manifest.get(name) for name in ("run", "tool", "files"))
        if manifest.get("schema") != SCHEMA or not isinstance(run, str) or not isinstance(listed, list):
            raise _Unusable(f"{MANIFEST} is no {SCHEMA}")
        data = self._bytes(MANIFEST)
        self.run, self.digest = run, str(manifest.get("digest"))
        if data != manifest_text(run, str(tool), listed).encode():
            yield f"{MANIFEST} has been changed: its digest is another, or it is not written as asky writes it"
        facts = {each["path"]: each for each in listed if isinstance(each, dict) and isinstance(each.get("path"), str)}
        yield from (f"{name[:100]!a} is missing" for name in facts if name not in self._members)
        for name, member in self._members.items():
            if name != MANIFEST and (fault := self._file_fault(member, facts.get(name))):
                yield f"{name} {fault}"

    def _file_fault(self, member: Member, fact: Mapping[str, Any] | None) -> str | None:
        try:
            sha256 = self._hash_of(member)
        except ArchiveRefused:
            return "is damaged: its CRC is another"
        if fact is None:
            return "is not in the manifest"
        if (fact.get("bytes"), fact.get("sha256")) != (member.size, sha256):
            return "has been changed: its hash or its size is not the manifest's"
        if member.name not in _FIRST and member.name != f"sources/{sha256}.txt":
            return "is not named by its hash"
        return None

    def _hash_of(self, member: Member) -> str:
        digest = hashlib.sha256()
        for block in blocks(self._file, member):
            digest.update(block)
        return digest.hexdigest()

    def _bytes(self, name: str) -> bytes:
        member = self._members[name]
        if member.size > MAX_PART_BYTES:
            raise _Unusable(f"{name} has {member.size} bytes; at most {MAX_PART_BYTES} are read")
        return b"".join(blocks(self._file, member))

    def _json(self, name: str) -> dict[str, Any]:
        data = self._bytes(name)
        if not is_readable_json(data):
            raise _Unusable(f"{name} has too many parts to be read")
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise _Unusable(f"{name} is not JSON") from None
        if not isinstance(value, dict):
            raise _Unusable(f"{name} is not an object")
        return value

    # the answer

    def _answer_faults(self, answer: Mapping[str, Any]) -> Iterator[str]:
        citations = _objects(answer.get("citations"), "the citations")
        claims = _objects(answer.get("claims"), "the claims")
        self.citations, self.claims = len(citations), len(claims)
        if answer.get("schema") != "asky.answer/1" or not isinstance(answer.get("answer"), str):
            raise _Unusable("answer.json is no asky.answer/1")
        if [each.get("n") for each in citations] != list(range(1, len(citations) + 1)):
            yield "the citations of the answer are not numbered from 1"
        yield from self._citation_faults(citations)
        for number, claim in enumerate(claims, start=1):
            if fault := claim_fault(claim, answer["answer"], len(citations)):
                yield f"claim {number}: {fault}"

    def _citation_faults(self, citations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """What is wrong with each citation; each text is read once, and let go before the next."""
        by_text: dict[str, list[Mapping[str, Any]]] = {}
        for each in citations:
            by_text.setdefault(str(each.get("sha256")), []).append(each)
        for sha256, group in by_text.items():
            text = self._text(sha256)
            for each in group:
                if fault := quote_fault(each, text):
                    yield f"citation {each.get('n')!a:.20}: {fault}"

    def _text(self, sha256: str) -> str | None:
        """The text with that hash, which its name has been compared with; `None` where there is none."""
        name = f"sources/{sha256}.txt"
        if name not in self._members:
            return None
        try:
            return self._bytes(name).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise _Unusable(f"{name} is not UTF-8") from None

    # the run

    def _run_faults(self, answer: Mapping[str, Any]) -> Iterator[str]:
        run = self._json("run.json")
        about = run.get("run")
        if run.get("schema") != "asky.run/1" or not isinstance(about, dict):
            raise _Unusable("run.json is no asky.run/1")
        if not answer.get("run") == about.get("id") == self.run:
            yield "manifest.json, answer.json and run.json are of different runs"
        if run.get("answer") != answer:
            yield "run.json holds another answer than answer.json"
        documents = _objects(run.get("documents"), "the documents of run.json")
        texts = {_sha256(text): text for each in documents if isinstance(text := each.get("text"), str)}
        named = [each.get("sha256") for each in documents]
        if named != list(texts) or set(texts) != {name[8:-4] for name in self._members if name not in _FIRST}:
            yield "run.json holds other texts than sources"
        for number, passage in enumerate(_objects(run.get("passages"), "the passages of run.json"), start=1):
            if fault := quote_fault(passage, texts.get(str(passage.get("sha256")))):
                yield f"passage {number} of run.json: {fault}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def quote_fault(passage: Mapping[str, Any], text: str | None) -> str | None:
    """What is wrong with the offsets and the quote of a citation or a passage of a text."""
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
        raise _Unusable(f"{what} are not a list of objects")
    return value


def claim_fault(claim: Mapping[str, Any], answer: str, citations: int) -> str | None:
    """What is wrong with a claim of an answer that has so many citations."""
    start, end, numbers = claim.get("start"), claim.get("end"), claim.get("citations")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(answer):
        return "its offsets lie outside of the answer"
    text = claim.get("text")
    if not isinstance(text, str) or len(text) != end - start or answer[start:end] != text:
        return "the answer has another text at its offsets"
    if not isinstance(numbers, list) or not all(type(n) is int and 1 <= n <= citations for n in numbers):
        return "it cites what is no citation of the answer"
    return None
