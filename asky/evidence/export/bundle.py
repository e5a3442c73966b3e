"""Bundles: report, evidence, texts and references of an answer in one archive that anyone can check."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from asky.errors import UsageError
from asky.evidence.export.bibliography import bibliography
from asky.text.scrub import one_line

SCHEMA = "asky.bundle/1"
MANIFEST = "manifest.json"
MAX_PART_BYTES = 64 * 1024 * 1024
"""The limit for a file that has to be parsed when a bundle is checked."""

MAX_BYTES = 256 * 1024 * 1024
MAX_FILES = 10_000

_MIB = 1024 * 1024
# Parsed JSON takes up to some hundred bytes for each punctuation mark; a MiB of prose has 20,000 of them.
_MAX_JSON_MARKS = 4_000_000
_NAME = re.compile(r"(?=.{1,100}\Z)[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)?\.[a-z]+")
_HEADER_BYTES = 30  # before the name of a file, in a zip archive
_README = """\
asky answered a question, and this archive holds what the answer rests on.

question  {question}
run       {run}
made by   {tool}

report.html      the answer, to read: a click on [1] shows the passage
answer.json      the answer with its citations and the check of each statement
run.json         the same with every passage that was shown, the texts, and the ledger of what happened
references.bib   the cited sources
sources/         the texts that passages were shown of; each is named by the SHA-256 of its bytes
manifest.json    every file with its SHA-256 and size

Check it with asky, anywhere, without a network:

    asky runs verify BUNDLE.zip

Or by hand, in the folder that it was unpacked to. First that every file is what it was:

    grep -E '^[0-9a-f]{{64}}  ' README.txt | sha256sum -c

Then a citation of answer.json: its "quote" is what stands in sources/SHA256.txt, for its "sha256", from character
"start" up to and without character "end", counted from 0. This prints what the text has for the first citation:

    python3 -c "import json; c = json.load(open('answer.json'))['citations'][0]; \\
      print(open('sources/' + c['sha256'] + '.txt', newline='', errors='surrogatepass', encoding='utf-8') \\
      .read()[c['start']:c['end']])"

{sums}
"""


class BundleRefused(ValueError):
    """An archive cannot be read as a bundle; the message gives the reason on one line."""


def make_bundle(export: Mapping[str, Any], report: str, *, tool: str) -> bytes:
    """Return the archive of an `asky.run/1` object and its report; the same arguments always give the same bytes.

    `tool` names the program that made it, with its version. Raises `UsageError` for a run without an answer, or whose
    texts are too large.
    """
    answer, run_id = export["answer"], export["run"]["id"]
    if answer is None:
        raise UsageError(f"run {run_id} has no answer to bundle: it is {export['run']['status']}")
    files = [
        ("report.html", report.encode()),
        ("answer.json", _dump(answer)),
        ("run.json", _dump(export)),
        ("references.bib", bibliography([answer], "bibtex").encode()),
        *sorted((f"sources/{each['sha256']}.txt", _encoded(each["text"])) for each in export["documents"]),
    ]
    is_readable = all(is_readable_json(data) for name, data in files if name.endswith(".json"))
    if not is_readable or len(files) > MAX_FILES - 2 or sum(len(each) for _, each in files) > MAX_BYTES - 8 * _MIB:
        hint = "`asky runs export` has no such limit"
        raise UsageError(f"the texts of run {run_id} are too large for a bundle", hint=hint)
    readme = _readme(answer["question"], run_id, tool, files)
    files = [("README.txt", readme.encode()), *files]
    return pack([(MANIFEST, manifest_text(run_id, tool, _facts(files)).encode()), *files])


def pack(files: Sequence[tuple[str, bytes | memoryview]]) -> bytes:
    """Return a zip archive of the files, in order; its bytes depend on the names and contents alone.

    Nothing in it is compressed, dated, hidden or duplicated. Raises `ValueError` for an invalid name (allowed are
    letters, digits, `_` and `-`, at most one folder, and a suffix) or a duplicate one, and beyond `MAX_FILES` or
    `MAX_BYTES`.
    """
    names = [name for name, _ in files]
    if len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)):
        raise ValueError("a file name is invalid or not unique")
    if len(files) > MAX_FILES or sum(len(data) + 300 for _, data in files) > MAX_BYTES:
        raise ValueError("too much for an archive")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name)  # of 1980-01-01, the first day that a zip archive can name
            info.create_system, info.external_attr = 3, 0o100644 << 16  # a plain file of Unix, wherever this runs
            archive.writestr(info, data)
    return out.getvalue()


def unpack(file: BinaryIO) -> dict[str, memoryview]:
    """Return the files of a bundle from the positions at which `pack` puts them, as its manifest says.

    Nothing else is examined. Raises `BundleRefused` if there is no such manifest; a file may be truncated or be
    another.
    """
    file.seek(0)
    data = memoryview(file.read(MAX_BYTES + 1))
    if len(data) > MAX_BYTES:
        raise BundleRefused(f"it is larger than {MAX_BYTES} bytes")
    start = _HEADER_BYTES + len(MANIFEST)
    if bytes(data[_HEADER_BYTES:start]) != MANIFEST.encode():
        raise BundleRefused(f"it is not a zip archive that begins with {MANIFEST}")
    size = int.from_bytes(data[18:22], "little")
    listed = parse_object(data[start : start + size], MANIFEST).get("files")
    files, start = {MANIFEST: data[start : start + size]}, start + size
    for fact in listed if isinstance(listed, list) else ():
        name, size = (fact.get("path"), fact.get("bytes", -1)) if isinstance(fact, dict) else (None, -1)
        if not isinstance(name, str) or not _NAME.fullmatch(name) or type(size) is not int or size < 0:
            raise BundleRefused(f"{MANIFEST} lists a file that asky does not write")
        start += _HEADER_BYTES + len(name)
        files[name] = data[start : start + size]
        start += size
    return files


def parse_object(data: bytes | memoryview, name: str) -> dict[str, Any]:
    """Return a JSON object from an untrusted bundle. Raises `BundleRefused` if `data` is not one."""
    if not is_readable_json(data := bytes(data)):
        raise BundleRefused(f"{name} is too large to be read")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise BundleRefused(f"{name} is not JSON") from None
    if not isinstance(value, dict):
        raise BundleRefused(f"{name} is not an object")
    return value


def manifest_text(run_id: str, tool: str, files: Sequence[Mapping[str, Any]]) -> str:
    """Return the manifest in its canonical form. Its digest is the hash of its other members in that form."""
    manifest = {"schema": SCHEMA, "tool": tool, "run": run_id, "files": list(files)}
    return _pretty({**manifest, "digest": hashlib.sha256(_pretty(manifest).encode()).hexdigest()})


def is_readable_json(data: bytes) -> bool:
    """Return whether JSON is small enough to be parsed by a checker that does not trust it."""
    return len(data) <= MAX_PART_BYTES and sum(map(data.count, (b",", b"[", b"{", b":"))) <= _MAX_JSON_MARKS


def _encoded(text: str) -> bytes:
    """Return a text as it is hashed: surrogates, which UTF-8 does not have, are encoded as they are."""
    return text.encode("utf-8", "surrogatepass")


def _dump(value: object) -> bytes:
    """Return a line of JSON in ASCII."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _facts(files: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    return [{"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files]


def _readme(question: str, run_id: str, tool: str, files: Sequence[tuple[str, bytes]]) -> str:
    sums = "\n".join(f"{each['sha256']}  {each['path']}" for each in _facts(files))
    return _README.format(question=one_line(question), run=run_id, tool=tool, sums=sums)


def _pretty(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"
