"""`asky corpus`: what is kept, listed, synced and removed, and what is said of it. No model is needed."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.asky_command import clean_environment
from tests.support.in_process import InProcess


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    return command


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nThe moon pulls the sea.\n")
    (folder / "a bread.txt").write_text("Bread rises with yeast.\n")
    return folder


def records(folder: Path, *lines: object) -> str:
    """The path of a file with one record a line; a text is written as it is."""
    file = folder / "records.jsonl"
    file.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines), "utf-8")
    return str(file)


# files


def test_a_folder_that_was_searched_before_is_added_with_its_titles(asky: InProcess, docs: Path) -> None:
    (docs / "note.md").write_text("---\nauthor: A. Writer\n---\nThe sun pulls too.\n")
    asky("search", "-d", str(docs), "moon")
    assert asky("corpus", "add", str(docs), "--json").json["reports"][0]["verdicts"] == {"indexed": 3}
    hits = asky("search", "pulls", "--json").json["hits"]
    assert {hit["title"] for hit in hits} == {"Tides", "note"}
    assert "again" not in asky("corpus", "sync").err


def test_files_of_an_earlier_version_are_read_again_and_one_line_says_so(asky: InProcess, docs: Path) -> None:
    asky("corpus", "add", str(docs))
    with closing(sqlite3.connect(asky.home / "data" / "asky.db")) as store, store:
        store.execute("UPDATE source SET read_with = '0.0'")
    assert asky("corpus", "sync").err.count("reading 2 files again: this version reads them better\n") == 1
    assert "again" not in asky("corpus", "sync").err


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("scan.pdf", b"%PDF-1.4 nothing", "failed: not a readable PDF"),
        ("empty.txt", b"", "empty: an empty file"),
        ("photo.bin", b"\x00\x01", "unsupported: no reader"),
        (".env", b"KEY=1", "refused: .env* may hold secrets"),
    ],
)
def test_a_named_file_that_cannot_be_read_is_1_whatever_else_is_there(
    asky: InProcess, docs: Path, tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    asky("corpus", "add", str(docs))
    for others in ((), (str(docs / "tides.md"),)):
        done = asky("corpus", "add", str(file), *others)
        assert done.code == 1
        assert why in done.err
        assert f"{name} could not be added" in done.err
    assert len(asky("search", "moon", "--json").json["hits"]) == 1
    several = asky("corpus", "add", str(file), str(docs / "tides.md"), str(file))
    assert several.code == 1
    assert "2 of 3 could not be added" in several.err


def test_an_unreadable_file_of_a_named_folder_is_only_reported(asky: InProcess, docs: Path) -> None:
    (docs / "empty.txt").write_text("")
    done = asky("corpus", "add", str(docs))
    assert (done.code, "empty.txt: empty" in done.err) == (0, True)


# records


def test_ids_that_differ_in_their_type_alone_are_two_records(asky: InProcess, tmp_path: Path) -> None:
    file = records(tmp_path, {"id": 1, "text": "The moon pulls."}, {"id": "1", "text": "The sun pulls too."})
    assert asky("corpus", "add", "--jsonl", file, "--json").json["reports"][0]["verdicts"] == {"indexed": 2}
    hits = asky("search", "pulls", "--json").json["hits"]
    assert {hit["text"]: hit["external_id"] for hit in hits} == {"The moon pulls.": 1, "The sun pulls too.": "1"}
    listed = asky("corpus", "list", "--json").json["sources"]
    assert sorted((each["external_id"] for each in listed), key=str) in ([1, "1"], ["1", 1])
    assert len({each["uri"] for each in listed}) == 2


def test_a_passage_lists_the_ids_of_all_records_with_its_text(asky: InProcess, tmp_path: Path) -> None:
    same = [{"id": 7, "text": "The moon pulls."}, {"id": "b", "text": "The moon pulls."}]
    titled = {"id": "c", "text": "The moon pulls.", "title": "Tides"}
    other = {"id": "d", "text": "The sun pulls too."}
    asky("corpus", "add", "--jsonl", records(tmp_path, *same, titled, other))
    hits = asky("search", "moon pulls", "--json").json["hits"]
    ids = {(hit["text"], hit["external_id"]): hit["external_ids"] for hit in hits}
    assert ids == {
        ("The moon pulls.", "b"): ["b", "c", 7],
        ("The moon pulls.", "c"): ["c", "b", 7],
        ("The sun pulls too.", "d"): ["d"],
    }
    printed = asky("search", "moon pulls").out
    assert "ids b, c, 7\n" in printed
    assert "id d\n" in printed


def test_a_passage_names_the_other_files_with_its_text_in_scope(asky: InProcess, tmp_path: Path) -> None:
    for folder in ("one", "two", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tides.txt").write_text("The moon pulls the sea.")
    asky("corpus", "add", str(tmp_path / "elsewhere"), "--collection", "elsewhere")
    asky("corpus", "add", str(tmp_path / "one"), str(tmp_path / "two"))
    done = asky("search", "moon")
    printed = "".join(done.out.split())  # however the lines are wrapped
    assert f"{tmp_path / 'one' / 'tides.txt'}alsoin{tmp_path / 'two' / 'tides.txt'}" in printed
    assert "elsewhere" not in done.out


def test_each_of_several_questions_finds_its_passage(asky: InProcess, tmp_path: Path) -> None:
    tides = [{"id": n, "text": f"High tides are made by the moon in harbour {n}."} for n in range(5)]
    asky("corpus", "add", "--jsonl", records(tmp_path, *tides, {"id": "bread", "text": "Bread needs yeast."}))
    hits = asky("search", "What makes high tides in a harbour, and how does bread rise?", "-k", "3", "--json").json[
        "hits"
    ]
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert "bread" in [hit["external_id"] for hit in hits]
    assert len({hit["external_id"] for hit in hits}) == 3


def test_an_external_id_on_the_command_line_means_the_number_and_the_text(asky: InProcess, tmp_path: Path) -> None:
    wanted = [{"id": id_, "text": f"text {number}"} for number, id_ in enumerate([0, 1, "1", "None"])]
    asky("corpus", "add", "--jsonl", records(tmp_path, *wanted))
    assert "removed 2 documents" in asky("corpus", "rm", "1").err
    assert "removed 1 document\n" in asky("corpus", "rm", "0").err
    assert [each["external_id"] for each in asky("corpus", "list", "--json").json["sources"]] == ["None"]


def test_what_no_id_can_be_is_named_with_its_line(asky: InProcess, tmp_path: Path) -> None:
    good = [{"id": -(2**63), "text": "smallest"}, {"id": 2**63 - 1, "text": "largest"}]
    file = records(tmp_path, *good, {"id": 2**63, "text": "x"}, '{"id": "\\ud800", "text": "x"}')
    done = asky("corpus", "add", "--jsonl", file)
    assert "records.jsonl:3: failed" in done.err
    assert "more than 64 bits" in done.err
    assert "records.jsonl:4: failed" in done.err
    ids = [each["external_id"] for each in asky("corpus", "list", "--json").json["sources"]]
    assert sorted(ids) == [-(2**63), 2**63 - 1]


def test_a_record_without_text_is_empty_wherever_it_is_shown(asky: InProcess, tmp_path: Path) -> None:
    file = records(tmp_path, {"id": "a", "text": "The moon."}, {"id": "b", "text": " \n"})
    for _ in range(2):
        done = asky("corpus", "add", "--jsonl", file)
        assert "records.jsonl:2: empty: the record has no text" in done.err
        assert "1 of 2 files searchable" in done.err
    assert "b  (empty: the record has no text)" in asky("corpus", "list").out
    assert "1 empty, 1 indexed" in asky("corpus", "status").out


def test_a_record_that_lost_its_text_is_not_found_any_more(asky: InProcess, tmp_path: Path) -> None:
    asky("corpus", "add", "--jsonl", records(tmp_path, {"id": "a", "text": "The moon."}))
    done = asky("corpus", "add", "--jsonl", records(tmp_path, {"id": "a", "text": ""}))
    assert done.code == 1
    assert asky("search", "moon", "--json").json["hits"] == []
    assert asky("corpus", "list", "--json").json["sources"][0]["verdict"] == "empty"


def test_the_last_record_with_an_id_counts_and_the_others_are_named(asky: InProcess, tmp_path: Path) -> None:
    filler = [{"id": number, "text": f"filler {number}"} for number in range(200)]  # more than are kept at once
    lines = [{"id": "a", "text": "first"}, {"id": "a", "text": "second"}, *filler, {"id": "a", "text": "third"}]
    report = asky("corpus", "add", "--jsonl", records(tmp_path, *lines), "--json").json["reports"][0]
    assert report["verdicts"] == {"duplicate": 2, "indexed": 201}
    assert [(each["path"], each["verdict"]) for each in report["problems"]] == [
        ("records.jsonl:1", "duplicate"),
        ("records.jsonl:2", "duplicate"),
    ]
    assert "line 203 has the same id" in report["problems"][1]["why"]
    assert report["passages_added"] == 201
    assert asky("search", "first second", "--json").json["hits"] == []
    assert asky("search", "third", "--json").json["hits"][0]["external_id"] == "a"
    assert json.loads(asky("corpus", "status", "--json").out)["sources"] == 201


def test_a_record_is_new_although_another_has_its_text(asky: InProcess, tmp_path: Path) -> None:
    file = records(tmp_path, {"id": 1, "text": "The moon."}, {"id": 2, "text": "The moon."})
    first, again = (asky("corpus", "add", "--jsonl", file, "--json").json["reports"][0] for _ in range(2))
    assert first["verdicts"] == {"indexed": 2}
    assert again["verdicts"] == {"unchanged": 2}


def test_a_record_that_comes_again_has_its_new_address(asky: InProcess, tmp_path: Path) -> None:
    for url in ("https://a.example/", "https://b.example/"):
        asky("corpus", "add", "--jsonl", records(tmp_path, {"id": 1, "text": "The moon.", "url": url}))
    assert asky("search", "moon", "--json").json["hits"][0]["url"] == "https://b.example/"


def test_a_title_holds_no_escape_sequence(asky: InProcess, tmp_path: Path) -> None:
    wanted = [{"id": 1, "text": "moon", "title": "\x1b]0;pwn\x07Tides\x1b[0m"}, {"id": "\x1b[1mx", "text": "moon two"}]
    asky("corpus", "add", "--jsonl", records(tmp_path, *wanted))
    assert {hit["title"] for hit in asky("search", "moon", "--json").json["hits"]} == {"Tides", "x"}


@pytest.mark.parametrize("with_folder", [False, True])
def test_a_file_of_records_that_is_not_there_leaves_no_trace(asky: InProcess, docs: Path, with_folder: bool) -> None:
    done = asky("corpus", "add", *([str(docs)] if with_folder else []), "--jsonl", "missing.jsonl")
    assert done.code == 2
    assert "cannot read missing.jsonl" in done.err
    assert asky("corpus", "list", "--collections", "--json").json["collections"] == []


def test_a_file_without_any_record_leaves_no_collection(asky: InProcess, tmp_path: Path) -> None:
    done = asky("corpus", "add", "--jsonl", records(tmp_path, "nothing", "[]"), "--collection", "new")
    assert done.code == 1
    assert "none of 2 could be added" in done.err
    assert asky("corpus", "list", "--collections", "--json").json["collections"] == []


# lists


def test_an_empty_store_says_so_on_stderr_alone(asky: InProcess) -> None:
    for arguments in (["list"], ["list", "--collections"], ["sync", "--all"]):
        done = asky("corpus", *arguments)
        assert (done.code, done.out) == (0, "")
        assert "nothing is indexed yet" in done.err
        assert "asky corpus add" in done.err
    listed = asky("corpus", "list", "--json")
    nothing = {"schema": "asky.sources/1", "collection": "default", "sources": []}
    assert listed.json == {**nothing, "unread": [], "unread_count": 0}
    assert listed.err == ""


def test_all_collections_are_listed_unless_one_is_named(asky: InProcess, docs: Path, tmp_path: Path) -> None:
    asky("corpus", "add", "--collection", "sea", str(docs / "tides.md"))
    asky("search", "-d", str(docs / "a bread.txt"), "yeast")
    for listed in (asky("corpus", "list"), asky("corpus")):
        assert listed.code == 0
        assert "tides.md" in listed.out
        assert "bread.txt" in listed.out
        assert "sea: 1 document\n" in listed.err
    states = asky("corpus", "status").out
    assert "collection   sea\n" in states
    assert f"follows      {docs / 'a bread.txt'}\n" in states
    named = asky("corpus", "list", "--collection", "see")
    assert named.code == 2
    assert "asky corpus list --collections" in named.err


def test_a_document_is_removed_by_its_file_name_from_the_collection_that_has_it(asky: InProcess, docs: Path) -> None:
    asky("search", "-d", str(docs), "moon")
    removed = asky("corpus", "rm", "tides.md")
    assert (removed.code, removed.out) == (0, "")
    assert "removed 1 document" in removed.err
    assert "tides.md" not in asky("corpus").out
    missing = asky("corpus", "rm", "tides.md")
    assert (missing.code, missing.err.splitlines()[0]) == (2, "asky: tides.md: in no collection")


def test_a_name_that_several_have_has_to_be_said_in_full(asky: InProcess, docs: Path) -> None:
    (docs / "old").mkdir()
    (docs / "old" / "tides.md").write_text("# Old tides\n\nThey were higher.\n")
    asky("corpus", "add", str(docs))
    done = asky("corpus", "rm", "tides.md")
    assert done.code == 2
    assert "2 files are called tides.md" in done.err
    assert str(docs / "old" / "tides.md") in done.err
    assert asky("corpus", "rm", str(docs / "old" / "tides.md")).code == 0
    asky("corpus", "add", "--collection", "sea", str(docs))
    asky("corpus", "add", "--collection", "sky", str(docs))
    asky("corpus", "rm", "--all")
    among = asky("corpus", "rm", "a bread.txt")
    assert among.code == 2
    assert "--collection sea or --collection sky" in among.err


def test_documents_that_were_named_last_are_offered_again(asky: InProcess, docs: Path) -> None:
    none = asky("search", "moon")
    assert "hint: name documents with -d PATH" in none.err
    asky("search", "-d", str(docs / "tides.md"), "moon")
    asky("search", "-d", str(docs / "a bread.txt"), "yeast")
    done = asky("search", "moon")
    assert done.code == 2
    assert f"add -d '{docs / 'a bread.txt'}' for the documents used last" in done.err


@pytest.mark.parametrize("group", ["runs", "session", "memory", "cache", "models", "corpus"])
def test_a_group_alone_lists(asky: InProcess, group: str) -> None:
    alone, listed = asky(group), asky(group, "list")
    assert (alone.code, alone.out, alone.err) == (0, listed.out, listed.err)
    assert asky(group, "--json").json == asky(group, "list", "--json").json
    assert asky(group, "nonesuch").code == 2


# files


def test_a_file_uri_is_percent_decoded_once(asky: InProcess, docs: Path) -> None:
    (docs / "100%25.txt").write_text("Tea is steeped for three minutes.\n")
    done = asky("corpus", "add", f"file://{docs}/a%20bread.txt", f"FILE:{docs}/100%2525.txt", "--json")
    assert done.json["reports"][0]["verdicts"] == {"indexed": 2}
    assert "removed 1 document\n" in asky("corpus", "rm", f"file://{docs}/a%20bread.txt").err
    assert asky("corpus", "add", f"file://{docs}/a%00b").code == 2
    assert asky("corpus", "rm", f"file://{docs}/a%00b").code == 2


# sync


def test_a_sync_of_one_collection_and_of_all_is_one_object(asky: InProcess, docs: Path) -> None:
    asky("corpus", "add", str(docs))
    asky("corpus", "add", "--collection", "sea", str(docs / "tides.md"))
    one = asky("corpus", "sync", "--json").json
    assert (one["schema"], one["collection"]) == ("asky.added/1", "default")
    every = asky("corpus", "sync", "--all", "--json").json
    assert every["schema"] == "asky.synced/1"
    assert [each["collection"] for each in every["collections"]] == ["default", "sea"]
    assert every["collections"][0].keys() == one.keys() - {"embedding"}, "which is said of the whole command"
    assert [each["reports"][0]["verdicts"] for each in every["collections"]] == [{"unchanged": 2}, {"unchanged": 1}]


def test_all_collections_are_synced_although_one_holds_nothing_usable(asky: InProcess, docs: Path) -> None:
    (docs / "empty.txt").write_text("")
    asky("corpus", "add", "--collection", "a", str(docs / "empty.txt"))
    asky("corpus", "add", "--collection", "b", str(docs / "tides.md"))
    (docs / "tides.md").write_text("# Tides\n\nThe sun pulls the sea too.\n")
    done = asky("corpus", "sync", "--all")
    assert done.code == 0
    assert "collection a\n" in done.err
    assert len(asky("search", "--collection", "b", "sun", "--json").json["hits"]) == 1


def test_a_sync_of_a_collection_without_folders_counts_no_files(asky: InProcess, docs: Path) -> None:
    asky(
        "corpus",
        "add",
        "--collection",
        "cards",
        "--jsonl",
        records(docs, {"id": "1", "text": "The moon pulls the sea."}),
    )
    for arguments in (["--all"], ["--collection", "cards"]):
        done = asky("corpus", "sync", *arguments)
        assert done.err.endswith("it follows no files or folders: nothing to read\n")
        assert "0 of 0" not in done.err
    assert asky("corpus", "sync", "--collection", "cards", "--json").json["reports"] == []


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["sync", "--all"], "`asky corpus sync --all`"),
        (["sync", "--collection", "the sea"], "`asky corpus sync --collection 'the sea'`"),
        (["add", "--collection", "the sea", "--jsonl", "more.jsonl", "docs"], "the same command"),
    ],
)
def test_a_stopped_command_says_what_goes_on_from_there(
    asky: InProcess, docs: Path, tmp_path: Path, arguments: list[str], command: str
) -> None:
    (tmp_path / "more.jsonl").write_text('{"id": 1, "text": "x"}\n')
    asky("corpus", "add", "--collection", "the sea", str(docs))
    (docs / "large.txt").write_text("The moon pulls the sea, and nobody knows for how long it will. " * 200_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "asky", "corpus", *arguments, "-v"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(asky.home, {"ASKY_HOME": str(asky.home), "ASKY_RESEARCH__EMBEDDING__MODEL": "/none"}),
        cwd=tmp_path,
    )
    assert process.stderr is not None
    heard = ""
    for line in process.stderr:
        heard += line
        if line.startswith("find"):  # and the large file is still to be read
            process.send_signal(signal.SIGINT)
            break
    heard += process.communicate(timeout=300)[1]
    assert process.returncode == 130, heard
    assert f"{command} continues from there" in heard


# removal


def test_removing_a_collection_says_what_went(asky: InProcess, docs: Path) -> None:
    asky("corpus", "add", str(docs))
    asky("corpus", "add", "--collection", "sea", str(docs / "tides.md"))
    done = asky("corpus", "rm", "--all")
    assert "removed the collection default: 2 documents, 2 passages (1 still in other collections)" in done.err
    assert f"{docs} is no longer followed" in done.err
    assert asky("corpus", "list", "--collections").out == "sea\n"


def test_removing_a_document_that_another_collection_holds_counts_it(asky: InProcess, docs: Path) -> None:
    asky("corpus", "add", str(docs / "tides.md"))
    asky("corpus", "add", "--collection", "sea", str(docs / "tides.md"))
    path = str(docs / "tides.md")
    assert "removed 1 document (1 still in other collections)" in asky("corpus", "rm", path, path).err
    assert "removed 1 document\n" in asky("corpus", "rm", "--collection", "sea", path).err


def test_what_has_changed_on_disk_since_is_told_without_reading_it(asky: InProcess, docs: Path) -> None:
    (docs / "gone.txt").write_text("It is going.\n")
    asky("corpus", "add", str(docs))
    assert "on disk" not in asky("corpus", "status").out
    assert "on disk" not in asky("corpus", "list").err
    (docs / "tides.md").write_text("# Tides\n\nThe moon and the sun pull the sea.\n")
    (docs / "new.txt").write_text("A new one.\n")
    (docs / "new.txt").chmod(0)  # it is not opened
    (docs / "picture.png").write_bytes(b"\x89PNG")
    (docs / "gone.txt").unlink()
    assert "on disk      1 changed, 1 new, 1 gone: `asky corpus sync`\n" in asky("corpus", "status").out
    assert asky("corpus", "list").err == "since then on disk: 1 changed, 1 new, 1 gone: `asky corpus sync`\n"
    assert asky("corpus", "status", "--json").json["on_disk"] == {"changed": 1, "new": 1, "gone": 1}
    (docs / "new.txt").chmod(0o600)
    asky("corpus", "sync")
    assert "on disk" not in asky("corpus", "status").out


def test_a_file_that_only_another_collection_has_read_is_new_to_a_folder(asky: InProcess, docs: Path) -> None:
    asky("corpus", "add", str(docs / "tides.md"))
    asky("corpus", "add", str(docs), "--collection", "both")
    (docs / "later.txt").write_text("Later.\n")
    asky("corpus", "add", str(docs / "later.txt"))
    assert "on disk      1 new: `asky corpus sync --collection both`" in asky("corpus", "status").out
