"""What could not be read is named: in every object, on the terminal, and by the exit code for a file that was named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pymupdf
import pytest

from asky.app.inputs import report_notes
from asky.events import ignore
from asky.evidence.unread import describe_fields, describe_files, describe_parts, parts_of, unread_fields
from asky.research.corpus.report import AcquireCounts
from asky.values import UnreadFile
from tests.support.here import run_here

MAST = "# Mast\n\nThe mast is 12 metres high.\n"
ENCRYPTED = {"path": "tug.pdf", "verdict": "encrypted", "message": "needs a password"}
OPEN = {
    "path": "open.md",
    "verdict": "partial",
    "part": "text from line 5",
    "message": "a comment that begins there is never closed",
}
Asky = Callable[..., CompletedProcess[str]]


def encrypted_pdf() -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "The tug is red.")
        data: bytes = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="secret", owner_pw="owner")
        return data


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tug.pdf").write_bytes(encrypted_pdf())
    (folder / "mast.md").write_text(MAST)
    (folder / "open.md").write_text("# Sail\n\nThe sail is brown.\n\n%% and patched\n")
    return folder


@pytest.fixture
def asky(tmp_path: Path, docs: Path) -> Asky:
    environ = {"ASKY_HOME": str(tmp_path / "asky"), "ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")}

    def run(*arguments: str) -> CompletedProcess[str]:
        return run_here(*arguments, home=tmp_path, environ=environ, cwd=docs)

    return run


COMMANDS = {
    "search": (0, "search", "--json", "-d", ".", "mast"),
    "ask": (0, "ask", "--json", "-d", ".", "How high is the mast?"),
    "research": (0, "ask", "-r", "--json", "-d", ".", "How high is the mast?"),
    "add": (0, "corpus", "add", "--json", "."),
    "verify": (0, "verify", "--json", "draft.txt", "-d", "."),
    "agent": (0, "agent", "start", "--json", "--privacy", "local_only", "-d", ".", "How high is the mast?"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_object_that_rests_on_reading_names_what_was_not_read(asky: Asky, docs: Path, name: str) -> None:
    (docs / "draft.txt").write_text("The mast is 12 metres high.\n")
    code, *command = COMMANDS[name]
    for _ in range(2):  # an unchanged folder is told too
        done = asky(*command)
        found = json.loads(done.stdout)
        found = found.get("answer") if name == "agent" else found
        assert (done.returncode, found["unread"], found["unread_count"]) == (code, [ENCRYPTED, OPEN], 2)


def test_an_evaluation_names_it_in_words_as_json_and_in_its_page(asky: Asky, docs: Path) -> None:
    questions = docs.parent / "questions.jsonl"
    questions.write_text('{"id": "mast", "question": "How high is the mast?", "facts": ["12"]}\n')
    command = ("eval", str(questions), "-d", ".", "-o", str(docs.parent / "page.html"))
    found = json.loads(asky(*command, "--json").stdout)
    assert (found["unread"], found["unread_count"]) == ([ENCRYPTED, OPEN], 2)
    told = asky(*command).stderr
    assert "not read: tug.pdf (encrypted: needs a password)\n" in told
    assert "not read: open.md: text from line 5 (a comment that begins there is never closed)\n" in told
    page = (docs.parent / "page.html").read_text()
    assert "<h2>Not read</h2>" in page
    assert "tug.pdf (encrypted: needs a password)</li>" in page


@pytest.mark.parametrize(
    "command", [("ask", "-d", ".", "How high is the mast?"), ("verify", "draft.txt", "-d", ".")], ids=["ask", "verify"]
)
def test_a_page_lists_it_below_the_sources(asky: Asky, docs: Path, command: tuple[str, ...]) -> None:
    (docs / "draft.txt").write_text("The mast is 12 metres high.\n")
    (docs / "<b>&.md").write_text("# Bow\n\n%% open\n")
    page = docs.parent / "page.html"
    asky(*command, "-o", str(page))
    below = page.read_text().partition(">Not read</h2>")[2].partition("</ul>")[0]
    assert below.count("<li") == 3
    assert "tug.pdf (encrypted: needs a password)" in below
    assert "&lt;b&gt;&amp;.md: text from line 3 (" in below
    assert "<b>" not in below


def test_the_list_of_a_collection_names_it(asky: Asky) -> None:
    assert json.loads(asky("corpus", "list", "--json").stdout)["unread"] == []
    asky("corpus", "add", ".")
    found = json.loads(asky("corpus", "list", "--json").stdout)
    assert found["unread_count"] == 2
    assert [each["verdict"] for each in found["unread"]] == ["partial", "encrypted"]


def test_later_searches_of_a_collection_name_it_and_read_nothing(asky: Asky, docs: Path) -> None:
    asky("corpus", "add", ".")
    for command in (
        ("search", "--json", "mast"),
        ("ask", "--json", "How high is the mast?"),
        ("corpus", "status", "--json"),
    ):
        found = json.loads(asky(*command).stdout)["unread"]
        assert [{**each, "path": Path(each["path"]).name} for each in found] == [OPEN, ENCRYPTED]
        assert found[0]["path"] == str(docs / "open.md")
    synced = json.loads(asky("corpus", "sync", "--json").stdout)
    assert synced["unread"] == [ENCRYPTED, OPEN]


def test_a_document_that_answers_says_once_what_it_was_read_without(asky: Asky) -> None:
    asky("corpus", "add", ".")
    line = "open.md: 1 part was not read: text from line 5 (a comment that begins there is never closed)"
    for command in (("search", "sail"), ("ask", "What colour is the sail?")):
        done = asky(*command)
        assert done.stderr.count(line) == 1, done.stderr
        assert "tug.pdf" not in done.stderr
    assert line not in asky("search", "-q", "sail").stderr


@pytest.mark.parametrize("command", [("search", "mast"), ("ask", "How high is the mast?")])
def test_a_named_file_that_cannot_be_read_ends_in_an_error_after_what_was_found(
    asky: Asky, command: tuple[str, str]
) -> None:
    name, text = command
    done = asky(name, "-d", "mast.md", "-d", "tug.pdf", text)
    assert done.returncode == 1
    assert "The mast is 12 metres high." in done.stdout
    assert "1 file could not be read: tug.pdf (encrypted: needs a password)" in done.stderr
    assert asky(name, "-d", ".", text).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        ("ask", "-d", "tug.pdf", "How high is the mast?"),
        ("ask", "-r", "-d", "tug.pdf", "How high is the mast?"),
        ("search", "-d", "tug.pdf", "mast"),
        ("verify", "mast.md", "-d", "tug.pdf"),
        ("agent", "start", "--privacy", "local_only", "-d", "tug.pdf", "How high is the mast?"),
        ("corpus", "add", "tug.pdf"),
    ],
)
def test_nothing_that_could_be_read_is_no_missing_evidence(asky: Asky, command: tuple[str, ...]) -> None:
    done = asky(*command)
    assert done.returncode == 1
    assert "needs a password" in done.stderr
    assert "could not find" not in done.stdout
    assert "hold too little" not in done.stderr


def test_an_answer_that_is_not_found_names_the_files_that_were_not_read(asky: Asky) -> None:
    done = asky("ask", "-d", ".", "Who painted the Sistine Chapel?")
    assert done.returncode == 11
    assert "Not read: tug.pdf (encrypted: needs a password)." in done.stdout


def test_thousands_are_counted_and_the_first_are_listed() -> None:
    found = unread_fields([UnreadFile(f"{number}.png", "unsupported", "no reader") for number in range(5_000)])
    assert (len(found["unread"]), found["unread_count"]) == (100, 5_000)
    assert unread_fields(()) == {"unread": [], "unread_count": 0}


def test_a_list_is_short_and_says_how_many_more_there_are() -> None:
    pictures = [UnreadFile(f"{number}.png", "unsupported", "no reader") for number in range(5_000)]
    found = unread_fields([*pictures, UnreadFile("a.pdf", "no_text_layer", "")])
    assert describe_fields(found) == ["a.pdf (no text layer)", "0.png (unsupported: no reader) and 4,999 more"]
    assert found["unread"][0]["path"] == "a.pdf"  # what has a text is not crowded out
    many = unread_fields([UnreadFile(f"{number}.pdf", "encrypted", "") for number in range(12)] + pictures)
    assert describe_fields(many)[9:] == ["9.pdf (encrypted)", "5,002 more"]
    assert describe_fields(unread_fields(pictures[:1])) == ["0.png (unsupported: no reader)"]
    assert describe_fields({}) == describe_fields(unread_fields(())) == []
    assert describe_fields({**found, "unread_count": 1, "unread": [{**ENCRYPTED, "of_later": 1}]}) == [
        "tug.pdf (encrypted: needs a password)"
    ]


def test_parts_are_told_in_one_line_for_each_file_and_many_files_are_summed_up() -> None:
    listed = "plan.dwg: no reader for it; photo.jpg: a picture; a.zip: too large; b.zip: too large"
    assert describe_parts(parts_of("a.docx", listed)) == [
        "a.docx: 4 parts were not read: plan.dwg (no reader for it), photo.jpg (a picture), a.zip (too large), 1 more"
    ]
    files = [UnreadFile("a.png", "unsupported", "no reader"), UnreadFile("b.pdf", "encrypted", "needs a password")]
    assert describe_files(files) == "b.pdf (encrypted: needs a password), a.png (unsupported: no reader)"
    assert describe_parts([*parts_of("a.docx", "x: y"), *parts_of("b.docx", "x: y")], most=1)[1:] == [
        "1 more file was read in part"
    ]
    counts = AcquireCounts(ignore)
    for number in range(15):
        counts.record(f"{number}.docx", "indexed", "plan.dwg: no reader for it")
    told = [each.message for each in report_notes(counts.report()) if not each.is_detail]
    assert told[9:] == [
        "9.docx: 1 part was not read: plan.dwg (no reader for it)",
        "5 more files were read in part (-v names each)",
        "15 of 15 files searchable (15 indexed), 0.0 s",
    ]
