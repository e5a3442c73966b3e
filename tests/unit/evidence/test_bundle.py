"""Bundles: what is written is checked, and nothing that was changed passes."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

from asky.errors import UsageError
from asky.evidence.check import check_export
from asky.evidence.export import bundle as bundles
from asky.evidence.export.bundle import MAX_FILES, BundleRefused, manifest_text, pack, unpack
from tests.support.bundles import OTHER, bundle_of, check, files_of, forged, hash_of, packed, run_object
from tests.support.reports import RUN, STORED

BUNDLE = bundle_of()
FILES = files_of(BUNDLE)
CITED = f"sources/{hash_of(STORED)}.txt"


def faults(archive: bytes) -> tuple[str, ...]:
    return check(archive).faults


def with_file(name: str, data: bytes) -> bytes:
    return pack([*{**FILES, name: data}.items()])


def test_a_bundle_is_whole_and_says_what_was_checked() -> None:
    checked = check(BUNDLE)
    assert checked.faults == ()
    assert (checked.run, checked.files, checked.citations, checked.claims) == (RUN, 9, 2, 2)
    manifest = json.loads(FILES["manifest.json"])
    assert (manifest["schema"], manifest["tool"], manifest["digest"]) == ("asky.bundle/1", "asky 1.2.3", checked.digest)


def test_the_same_run_makes_the_same_bytes_and_another_run_another_digest() -> None:
    assert bundle_of() == BUNDLE
    other = bundle_of(run_object(ledger=[]))
    assert check(other).digest != check(BUNDLE).digest


def test_other_tools_open_it_and_find_plain_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(BUNDLE)) as archive:
        assert archive.testzip() is None
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {each.external_attr >> 16 for each in archive.infolist()} == {0o100644}
        archive.extractall(tmp_path)
    assert hashlib.sha256((tmp_path / CITED).read_bytes()).hexdigest() == hash_of(STORED)
    assert (tmp_path / f"sources/{hash_of(OTHER)}.txt").read_bytes() == OTHER.encode("utf-8", "surrogatepass")
    assert list(parse_string((tmp_path / "references.bib").read_text("utf-8"), "bibtex").entries) == [
        "tidestides",
        "tides",
    ]
    export = json.loads((tmp_path / "run.json").read_bytes())
    assert [fault for _, fault in check_export(export)] == [None, None]


def test_what_the_readme_says_to_do_by_hand_works(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(BUNDLE)) as archive:
        archive.extractall(tmp_path)
    readme = (tmp_path / "README.txt").read_text("utf-8")
    by_hand = [part.strip() for part in readme.split("\n\n") if part.startswith("    ") and "asky runs" not in part]
    sums, quote = (
        subprocess.run(["bash", "-c", each], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for each in by_hand
    )
    assert sums.count(": OK\n") == 7
    assert quote == "The moon raises two high tides a day.\n"
    (tmp_path / CITED).write_text("changed", "utf-8")
    assert subprocess.run(["bash", "-c", by_hand[0]], cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_texts_and_answers_with_what_utf8_and_zip_have_not_survive() -> None:
    run = run_object()
    run["answer"]["question"] = "\x00 \ud800 {braces} \r\n 日本"
    run["answer"]["answer"] = "\ud83d" + run["answer"]["answer"]
    for each in run["answer"]["claims"]:
        each["start"], each["end"] = each["start"] + 1, each["end"] + 1
    archive = bundle_of(run)
    assert faults(archive) == ()
    assert json.loads(files_of(archive)["answer.json"]) == run["answer"]


@given(st.sampled_from(sorted(FILES)), st.data())
def test_any_changed_byte_of_any_file_is_found_even_if_the_archive_was_made_anew(
    name: str, data: st.DataObject
) -> None:
    content = bytearray(FILES[name])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    found = faults(with_file(name, bytes(content)))
    assert found
    assert all("\n" not in each for each in found)


def test_any_changed_byte_of_the_manifest_is_found() -> None:
    content = FILES["manifest.json"]
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        assert faults(with_file("manifest.json", bytes(changed))), place


@given(st.integers(0, len(BUNDLE) - 1), st.integers(1, 255))
def test_any_changed_byte_of_the_archive_is_found(place: int, change: int) -> None:
    damaged = bytearray(BUNDLE)
    damaged[place] ^= change
    assert faults(bytes(damaged))


def starts() -> dict[str, int]:
    """Where each file begins in the bundle."""
    with zipfile.ZipFile(io.BytesIO(BUNDLE)) as archive:
        return {each.filename: each.header_offset + 30 + len(each.filename) for each in archive.infolist()}


@pytest.mark.extended
def test_any_changed_byte_between_the_files_is_found() -> None:
    contents = {place for name, at in starts().items() for place in range(at, at + len(FILES[name]))}
    for place in set(range(len(BUNDLE))) - contents:
        for change in (1, 0x80):
            damaged = bytearray(BUNDLE)
            damaged[place] ^= change
            assert faults(bytes(damaged)), place


def test_every_damaged_file_is_named() -> None:
    damaged = bytearray(BUNDLE)
    names = [*FILES][1:]
    for name in names:
        damaged[starts()[name]] ^= 1
    assert faults(bytes(damaged)) == tuple(f"{name} has been changed: its hash is not the manifest's" for name in names)


@given(st.integers(0, len(BUNDLE) - 1), st.binary(max_size=3))
def test_a_bundle_that_is_cut_or_has_more_at_its_end_is_refused(length: int, more: bytes) -> None:
    assert faults(BUNDLE[:length])
    assert faults(BUNDLE + b"x" + more)
    assert faults(b"x" + more + BUNDLE)


@given(st.binary(max_size=200))
def test_rubbish_is_one_fault(rubbish: bytes) -> None:
    assert len(faults(rubbish)) == 1


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_missing_file_is_named(name: str) -> None:
    found = faults(pack([(each, data) for each, data in FILES.items() if each != name]))
    assert found
    assert name in found[0] or "its manifest" in found[0] or "the manifest's" in found[0]


def test_an_extra_file_is_found() -> None:
    extra = f"sources/{hash_of('more')}.txt"
    names = sorted([*FILES, extra], key=lambda name: (name.startswith("sources/"), name if "/" in name else ""))
    order = [name for name in FILES if "/" not in name] + [name for name in names if "/" in name]
    assert faults(pack([(name, FILES.get(name, b"more")) for name in order]))
    assert faults(packed({**FILES, "zzz.txt": b""})) == ("zzz.txt is not named by its hash",)
    assert "begins with manifest.json" in faults(pack([("aaa.txt", b""), *FILES.items()]))[0]


# forgeries: every hash is right


def change_citation(**changed: Any) -> bytes:
    return forged(lambda answer: answer["citations"][0].update(changed), "answer.json", "run.json")


def change_claim(**changed: Any) -> bytes:
    return forged(lambda answer: answer["claims"][0].update(changed), "answer.json", "run.json")


@pytest.mark.parametrize(
    ("archive", "fault"),
    [
        (change_citation(quote="The moon raises ten high tides a day."), "the text at its offsets is not its quote"),
        (change_citation(start=0), "the text at its offsets is not its quote"),
        (change_citation(start=-1), "its offsets lie outside of the text"),
        (change_citation(end=10**9), "its offsets lie outside of the text"),
        (change_citation(start=True), "its offsets lie outside of the text"),
        (change_citation(quote=None), "the text at its offsets is not its quote"),
        (change_citation(sha256="0" * 64), "no text has its hash"),
        (change_citation(sha256=["x"]), "no text has its hash"),
        (change_citation(n=7), "not numbered from 1"),
        (change_claim(text="The moon raises no tides [1]."), "claim 1: the answer has different text at its offsets"),
        (change_claim(end=10**6), "claim 1: its offsets lie outside of the answer"),
        (change_claim(citations=[3]), "claim 1: it cites something that is not a citation of the answer"),
        (change_claim(citations="1"), "claim 1: it cites something that is not a citation of the answer"),
        (forged(lambda answer: answer.update(answer="Other."), "answer.json"), "run.json holds a different answer"),
        (forged(lambda answer: answer.update(citations={}), "answer.json"), "the citations are not a list of objects"),
        (forged(lambda answer: answer.update(claims=[1]), "answer.json"), "the claims are not a list of objects"),
        (forged(lambda answer: answer.update(schema="x"), "answer.json"), "answer.json is not an asky.answer/1 object"),
        (forged(lambda answer: answer.update(run="r2"), "answer.json", "run.json"), "belong to different runs"),
        (forged(lambda run: run["run"].update(id="r2"), "run.json"), "belong to different runs"),
        (forged(lambda run: run.update(schema="x"), "run.json"), "run.json is not an asky.run/1 object"),
        (forged(lambda run: run["documents"].pop(), "run.json"), "run.json holds different texts from sources"),
        (forged(lambda run: run["documents"][0].update(text="x"), "run.json"), "run.json holds different texts"),
        (forged(lambda run: run["passages"][0].update(quote="x"), "run.json"), "passage 1 of run.json: the text at"),
        (packed({**FILES, CITED: b"another text"}), "is not named by its hash"),
        (packed({**FILES, "answer.json": b"[]"}), "answer.json is not an object"),
        (packed({**FILES, "answer.json": b"{"}), "answer.json is not JSON"),
        (packed({**FILES, "answer.json": b"[" * 100_000}), "answer.json is not JSON"),
        (packed({**FILES, "answer.json": b'{"a":1' + b"0" * 5000 + b"}"}), "answer.json is not JSON"),
        (packed({**FILES, "answer.json": b"[" + b"0," * 4_000_001}), "answer.json is too large"),
        (packed({**FILES, "run.json": b" " * (64 * 1024 * 1024 + 1)}), "run.json is too large"),
    ],
)  # fmt: skip
def test_a_forgery_whose_hashes_are_right_is_found(archive: bytes, fault: str) -> None:
    assert any(fault in each for each in faults(archive)), faults(archive)


def test_faults_are_counted_to_a_hundred() -> None:
    archive = forged(lambda answer: answer.update(claims=[{}] * 1000), "answer.json", "run.json")
    assert len(faults(archive)) == 100


# archives that others made, of the right files


def made(change: Any = None, *, compression: int = zipfile.ZIP_STORED, more: tuple[str, ...] = ()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name in (*FILES, *more):
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr, info.compress_type = 3, 0o100644 << 16, compression
            if change is not None:
                change(info)
            archive.writestr(info, FILES.get(name, b"x"))
    return out.getvalue()


def encrypted() -> bytes:
    archive = bytearray(BUNDLE)
    archive[BUNDLE.index(b"PK\x01\x02") + 8] |= 1
    return bytes(archive)


def lying_about_size() -> bytes:
    archive = bytearray(BUNDLE)
    struct.pack_into("<2L", archive, BUNDLE.index(b"PK\x01\x02") + 20, 0xFFFFFFF0, 0xFFFFFFF0)
    return bytes(archive)


def lying_about_count() -> bytes:
    archive = bytearray(BUNDLE)
    struct.pack_into("<2H", archive, len(BUNDLE) - 14, 0xFFFF, 0xFFFF)
    return bytes(archive)


def listing(*facts: Any) -> bytes:
    """A manifest that lists these files, alone in an archive."""
    return pack([("manifest.json", manifest_text(RUN, "asky", facts).encode())])


@pytest.mark.parametrize(
    "archive",
    [
        made(more=("../../etc/passwd.txt",)),
        made(more=("sources/",)),
        made(more=("REPEAT.txt",)).replace(b"REPEAT", b"README"),
        made(compression=zipfile.ZIP_DEFLATED),
        made(lambda info: setattr(info, "external_attr", 0o120777 << 16)),
        made(lambda info: setattr(info, "comment", b"hello")),
        made(lambda info: setattr(info, "extra", b"\x01\x00\x00\x00")),
        made(lambda info: setattr(info, "date_time", (2026, 1, 1, 0, 0, 0))),
        encrypted(),
        lying_about_size(),
        lying_about_count(),
        BUNDLE[:-1] + b"\x01",
        listing({"path": "../../etc/passwd.txt", "bytes": 1}),
        listing({"path": "\x1b[2J.txt", "bytes": 1}),
        listing({"path": "README.txt", "bytes": -1}),
        listing({"path": "README.txt", "bytes": True}),
        listing({"path": "README.txt"}),
        listing({"path": ["README.txt"], "bytes": 1}),
        listing({"path": "README.txt", "bytes": 10**30}),
        listing(*[{"path": "README.txt", "bytes": 0}] * 20_000),
        listing("README.txt"),
    ],
)  # fmt: skip
def test_an_archive_that_asky_would_not_write_is_refused_in_a_line(archive: bytes) -> None:
    (found,) = faults(archive)
    assert found.isascii()
    assert found.isprintable()


def test_a_bundle_as_asky_writes_it_is_one_that_the_zip_module_writes() -> None:
    assert made() == BUNDLE  # so the archives above are refused for what was changed in them


def test_every_version_packs_the_same_bytes() -> None:
    archive = pack([("a.txt", b"x"), ("sources/b.txt", b"y")])
    assert hashlib.sha256(archive).hexdigest() == "510e4493acb6ec448a493a8efee55b3f0f900854652146dd6682162d3bd8fa07"


def test_what_must_not_be_in_an_archive_is_not_packed() -> None:
    for files in (
        [("../a.txt", b"")],
        [("a.txt", b""), ("a.txt", b"")],
        [("a b.txt", b"")],
        [(f"{'a' * 100}.txt", b"")],
    ):
        with pytest.raises(ValueError, match="file name"):
            pack(files)
    with pytest.raises(ValueError, match="too much"):
        pack([(f"f{n}.txt", b"") for n in range(MAX_FILES + 1)])
    with pytest.raises(BundleRefused):
        unpack(io.BytesIO(b""))


def test_a_run_without_an_answer_or_with_too_much_text_makes_no_bundle() -> None:
    with pytest.raises(UsageError, match="has no answer to bundle: it is finished"):
        bundles.make_bundle(run_object(answer=None), "", tool="asky")
    text = "," * 4_000_000
    large = run_object(documents=[{"sha256": hash_of(text), "text": text}])
    with pytest.raises(UsageError, match="too large for a bundle"):
        bundles.make_bundle(large, "", tool="asky")
