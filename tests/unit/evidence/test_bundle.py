"""Bundles: what is written is checked, and nothing that was changed passes."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import subprocess
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import parse_string

from asky.errors import UsageError
from asky.evidence import bundle as bundles
from asky.evidence.check import check_export
from asky.evidence.stored_zip import MAX_FILES, ArchiveRefused, members, pack
from tests.support.bundles import OTHER, bundle_of, check, files_of, forged, hash_of, packed, run_object
from tests.support.reports import RUN, STORED

BUNDLE = bundle_of()
FILES = files_of(BUNDLE)
CITED = f"sources/{hash_of(STORED)}.txt"
ENTRY = 46  # bytes of a directory's entry without the name


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


def test_any_changed_byte_between_the_files_is_found() -> None:
    contents = {place for each in members(io.BytesIO(BUNDLE)) for place in range(each.start, each.start + each.size)}
    for place in set(range(len(BUNDLE))) - contents:
        for change in (1, 0x80):
            damaged = bytearray(BUNDLE)
            damaged[place] ^= change
            assert faults(bytes(damaged)), place


def test_every_damaged_file_is_named() -> None:
    damaged = bytearray(BUNDLE)
    for member in members(io.BytesIO(BUNDLE))[1:]:
        damaged[member.start] ^= 1
    assert faults(bytes(damaged)) == tuple(f"{name} is damaged: its CRC is another" for name in [*FILES][1:])


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
    assert name in found[0] or "in their order" in found[0]


def test_an_extra_file_is_named() -> None:
    extra = f"sources/{hash_of('more')}.txt"
    names = sorted([*FILES, extra], key=lambda name: (name.startswith("sources/"), name if "/" in name else ""))
    order = [name for name in FILES if "/" not in name] + [name for name in names if "/" in name]
    found = faults(pack([(name, FILES.get(name, b"more")) for name in order]))
    assert found == (f"{extra} is not in the manifest",)
    assert faults(packed({**FILES, "zzz.txt": b""})) == ("zzz.txt is not named by its hash",)
    assert "in their order" in faults(pack([("aaa.txt", b""), *FILES.items()]))[0]


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
        (change_claim(text="The moon raises no tides [1]."), "claim 1: the answer has another text at its offsets"),
        (change_claim(end=10**6), "claim 1: its offsets lie outside of the answer"),
        (change_claim(citations=[3]), "claim 1: it cites what is no citation of the answer"),
        (change_claim(citations="1"), "claim 1: it cites what is no citation of the answer"),
        (forged(lambda answer: answer.update(answer="Other."), "answer.json"), "run.json holds another answer"),
        (forged(lambda answer: answer.update(citations={}), "answer.json"), "the citations are not a list of objects"),
        (forged(lambda answer: answer.update(claims=[1]), "answer.json"), "the claims are not a list of objects"),
        (forged(lambda answer: answer.update(schema="x"), "answer.json"), "answer.json is no asky.answer/1"),
        (forged(lambda answer: answer.update(run="r2"), "answer.json", "run.json"), "are of different runs"),
        (forged(lambda run: run["run"].update(id="r2"), "run.json"), "are of different runs"),
        (forged(lambda run: run.update(schema="x"), "run.json"), "run.json is no asky.run/1"),
        (forged(lambda run: run["documents"].pop(), "run.json"), "run.json holds other texts than sources"),
        (forged(lambda run: run["documents"][0].update(text="x"), "run.json"), "run.json holds other texts"),
        (forged(lambda run: run["passages"][0].update(quote="x"), "run.json"), "passage 1 of run.json: the text at"),
        (packed({**FILES, CITED: b"another text"}), "is not named by its hash"),
        (packed({**FILES, "answer.json": b"[]"}), "answer.json is not an object"),
        (packed({**FILES, "answer.json": b"{"}), "answer.json is not JSON"),
        (packed({**FILES, "answer.json": b"[" * 100_000}), "answer.json is not JSON"),
        (packed({**FILES, "answer.json": b'{"a":1' + b"0" * 5000 + b"}"}), "answer.json is not JSON"),
        (packed({**FILES, "answer.json": b"[" + b"0," * 4_000_001}), "answer.json has too many parts"),
        (packed({**FILES, "run.json": b" " * (64 * 1024 * 1024 + 1)}), "run.json has 67108865 bytes"),
    ],
)  # fmt: skip
def test_a_forgery_whose_hashes_are_right_is_found(archive: bytes, fault: str) -> None:
    assert any(fault in each for each in faults(archive)), faults(archive)


def test_faults_are_counted_to_a_hundred() -> None:
    archive = forged(lambda answer: answer.update(claims=[{}] * 1000), "answer.json", "run.json")
    assert len(faults(archive)) == 100


# archives that others made


def made(change: Any = None, *, compression: int = zipfile.ZIP_STORED, names: tuple[str, ...] = ("a.txt",)) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            if change is not None:
                change(info)
            archive.writestr(info, b"x" * 1000)
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


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        (made(names=("../../etc/passwd.txt",)), "a name that asky does not use: '../../etc/passwd.txt'"),
        (made(names=("/etc/passwd.txt",)), "a name that asky does not use"),
        (made(names=("a\\..\\b.txt",)), "a name that asky does not use"),
        (made(names=("é.txt",)), "a name that asky does not use"),
        (made(names=("sources/",)), "a name that asky does not use"),
        (made(compression=zipfile.ZIP_DEFLATED), "a.txt is compressed"),
        (made(lambda info: setattr(info, "external_attr", 0o120777 << 16)), "is not as asky writes it"),
        (made(lambda info: setattr(info, "comment", b"hello")), "is not as asky writes it"),
        (encrypted(), "is encrypted"),
        (lying_about_size(), "is not as asky writes it"),
        (lying_about_count(), "65535 files"),
        (BUNDLE[:-1] + b"\x01", "is not where and as asky writes it"),
    ],
)  # fmt: skip
def test_an_archive_that_asky_would_not_write_is_refused_in_a_line(archive: bytes, reason: str) -> None:
    (found,) = faults(archive)
    assert reason in found
    assert found.isascii()
    assert "\n" not in found


def test_names_that_are_no_utf8_and_names_that_steer_a_terminal_are_shown_harmlessly() -> None:
    for name in (b"\xff\xfe.x", b"\x1b[2J.x"):
        (found,) = faults(
            made(names=("ab.x" if len(name) == 4 else "abcd.x",)).replace(b"ab.x", name).replace(b"abcd.x", name)
        )
        assert "a name that asky does not use" in found
        assert found.isprintable()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused() -> None:
    one = pack([("a.txt", b"1"), ("b.txt", b"2")])
    (found,) = faults(one.replace(b"b.txt", b"a.txt"))
    assert found == "it has two files of one name"
    assert faults(made(names=("a.txt", "a.txt")))


def test_an_archive_of_100000_files_is_refused_without_reading_them() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(100_000):
            archive.writestr(f"f{number}.txt", b"")
    assert len(faults(out.getvalue())) == 1


def test_a_bomb_costs_next_to_no_memory() -> None:
    bomb = made(compression=zipfile.ZIP_DEFLATED, names=tuple(f"f{n}.txt" for n in range(5000)))
    tracemalloc.start()
    try:
        assert len(faults(bomb)) == 1
        assert tracemalloc.get_traced_memory()[1] < 4 * 1024 * 1024 + len(bomb)  # of which one copy is this test's
    finally:
        tracemalloc.stop()


@given(st.dictionaries(st.from_regex(r"[a-z0-9]{1,8}(/[a-z0-9]{1,8})?\.txt", fullmatch=True), st.binary(max_size=50)))
@settings(max_examples=50)
def test_what_is_packed_is_read_back_by_this_module_and_by_another(files: dict[str, bytes]) -> None:
    archive = pack([*files.items()])
    assert files_of(archive) == files
    with zipfile.ZipFile(io.BytesIO(archive)) as other:
        assert {name: other.read(name) for name in other.namelist()} == files


def test_what_must_not_be_in_an_archive_is_not_packed() -> None:
    for files in (
        [("../a.txt", b"")],
        [("a.txt", b""), ("a.txt", b"")],
        [("a b.txt", b"")],
        [(f"{'a' * 100}.txt", b"")],
    ):
        with pytest.raises(ValueError, match="names"):
            pack(files)
    with pytest.raises(ValueError, match="too much"):
        pack([(f"f{n}.txt", b"") for n in range(MAX_FILES + 1)])
    with pytest.raises(ArchiveRefused):
        members(io.BytesIO(b""))


def test_a_run_without_an_answer_or_with_too_much_text_makes_no_bundle() -> None:
    with pytest.raises(UsageError, match="has no answer to bundle: it is finished"):
        bundles.make_bundle(run_object(answer=None), "", tool="asky")
    text = "," * 4_000_000
    large = run_object(documents=[{"sha256": hash_of(text), "text": text}])
    with pytest.raises(UsageError, match="too large for a bundle"):
        bundles.make_bundle(large, "", tool="asky")
