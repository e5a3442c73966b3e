"""An answer to hand on: report, evidence, texts and references in one archive that anybody can check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from asky.errors import UsageError
from asky.evidence.bibliography import bibliography
from asky.evidence.stored_zip import MAX_BYTES, MAX_FILES, pack
from asky.text.scrub import one_line

SCHEMA = "asky.bundle/1"
MANIFEST = "manifest.json"
MAX_PART_BYTES = 64 * 1024 * 1024
"""Of a file that whoever checks a bundle has to read whole."""

_MIB = 1024 * 1024
# What a parser makes of JSON takes up to some hundred bytes for each of its marks; a MiB of prose has 20,000 of them.
_MAX_JSON_MARKS = 4_000_000
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


def make_bundle(export: Mapping[str, Any], report: str, *, tool: str) -> bytes:
    """The archive of an `asky.run/1` object and the page of its answer; the same for the same arguments.

    `tool` says who made it, with a version. Raises `UsageError` for a run without an answer, and for one whose texts
    are too large.
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


def manifest_text(run_id: str, tool: str, files: Sequence[Mapping[str, Any]]) -> str:
    """The manifest, in the one way in which it is written. Its digest is the hash of the rest, written so."""
    manifest = {"schema": SCHEMA, "tool": tool, "run": run_id, "files": list(files)}
    return _pretty({**manifest, "digest": hashlib.sha256(_pretty(manifest).encode()).hexdigest()})


def is_readable_json(data: bytes) -> bool:
    """Whether JSON is small enough for whoever checks a bundle and does not know whose it is."""
    return len(data) <= MAX_PART_BYTES and sum(map(data.count, (b",", b"[", b"{", b":"))) <= _MAX_JSON_MARKS


def _encoded(text: str) -> bytes:
    """A text as it is hashed: half characters, which UTF-8 has not, as they are."""
    return text.encode("utf-8", "surrogatepass")


def _dump(value: object) -> bytes:
    """A line of JSON in ASCII."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _facts(files: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    return [{"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files]


def _readme(question: str, run_id: str, tool: str, files: Sequence[tuple[str, bytes]]) -> str:
    sums = "\n".join(f"{each['sha256']}  {each['path']}" for each in _facts(files))
    return _README.format(question=one_line(question), run=run_id, tool=tool, sums=sums)


def _pretty(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"
