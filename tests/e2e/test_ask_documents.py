"""`asky -r -d docs "..."` as a user runs it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT, clean_environment, run_asky, run_python
from tests.support.files import pdf
from tests.support.here import run_here

pytestmark = pytest.mark.model

# Uses nothing but the export; what a stranger would write to check an answer.
CHECK_EXPORT = """
import hashlib, json, sys
export = json.load(sys.stdin)
texts = {document["sha256"]: document["text"] for document in export["documents"]}
citations = export["answer"]["citations"]
assert citations
for citation in citations:
    text = texts[citation["sha256"]]
    assert hashlib.sha256(text.encode()).hexdigest() == citation["sha256"]
    assert text[citation["start"]:citation["end"]] == citation["quote"]
answer = export["answer"]["answer"]
for claim in export["answer"]["claims"]:
    assert answer[claim["start"]:claim["end"]] == claim["text"]
    assert set(claim["citations"]) <= {citation["n"] for citation in citations}
print("ok", len(citations))
"""


def test_an_answer_is_cited_and_checks_out_with_the_export_alone(home: Path, docs: Path) -> None:
    done = run_asky("-r", "-d", str(docs), "How many high tides does the moon raise in a day?", "--json", home=home)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "asky.answer/1"
    assert "two high tides a day" in answer["answer"]
    assert answer["citations"][0]["title"] == "Tides"
    assert answer["citations"][0]["section"] == "Tides › Causes"
    assert all(claim["verdict"] == "supported" for claim in answer["claims"])
    assert "no model is configured" in done.stderr
    export = run_asky("runs", "export", answer["run"], home=home)
    checked = run_python(["-I", "-c", CHECK_EXPORT], home=home, stdin=export.stdout)
    assert checked.stdout.startswith("ok"), checked.stderr


def test_what_shares_no_word_with_the_query_is_found_by_meaning(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "para"
    folder.mkdir()
    (folder / "feline.txt").write_text("The feline slept on the carpet until the evening.\n", "utf-8")
    (folder / "nile.txt").write_text("The Nile flows through eleven countries of Africa.\n", "utf-8")
    (folder / "sea.txt").write_text("潮の満ち引きは月の引力による。\n", "utf-8")
    found = json.loads(run_here("search", "-d", str(folder), "cat nap rug", "--json", home=home).stdout)["hits"]
    assert found[0]["path"].endswith("feline.txt")
    assert found[0]["semantic"] > 0.3
    assert {hit["lexical"] for hit in found} == {0}
    sea = run_here("search", "-d", str(folder / "sea.txt"), "満潮", "--json", home=home)
    assert [hit["title"] for hit in json.loads(sea.stdout)["hits"]] == ["sea.txt"]


def test_why_opens_the_passage_even_after_the_file_is_gone(home: Path, docs: Path) -> None:
    run_here("-r", "-d", str(docs), "How many high tides does the moon raise in a day?", home=home)
    (docs / "tides.md").unlink()
    run_here("search", "-d", str(docs), "bread", home=home)
    why = run_here("why", "1", "--json", home=home)
    assert why.returncode == 0, why.stderr
    assert "two high tides a day" in why.stdout


def test_an_unanswerable_question_ends_with_11_and_what_was_searched(home: Path, docs: Path) -> None:
    done = run_here("-r", "-d", str(docs), "Who painted the ceiling of the Sistine Chapel?", home=home)
    assert done.returncode == 11
    assert done.stdout.startswith("I could not find an answer in the sources.")
    assert "Sistine Chapel" in done.stdout
    assert "of 3 sources" in done.stdout


def test_piped_text_is_a_source_like_any_other(home: Path) -> None:
    text = "The meeting moved to Thursday at nine because the train from Basel was cancelled.\n"
    done = run_here("When is the meeting?", "--json", home=home, stdin=text)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "Thursday" in answer["answer"]
    assert answer["citations"][0]["quote"] in text
    assert answer["citations"][0]["sha256"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.extended
def test_piped_text_in_another_charset_is_read_as_what_it_says(home: Path) -> None:
    text = "Le dîner de jeudi est annulé, et la réunion a lieu à neuf heures chez la sœur aînée.\n"
    latin = text.encode("cp1252").decode("utf-8", "surrogateescape")
    done = run_asky("Quand a lieu la réunion ?", "--json", home=home, stdin=latin)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["citations"][0]["quote"] in text


def test_a_question_from_standard_input_and_from_a_file(home: Path, docs: Path, tmp_path: Path) -> None:
    asked = run_here("-r", "-d", str(docs), "-", home=home, stdin="How long is the Nile?\n")
    assert "6,650" in asked.stdout, asked.stderr
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("How long is the Nile?")
    assert "6,650" in run_here("-r", "-d", str(docs), f"file://{prompt}", home=home).stdout


def test_a_path_in_the_question_is_read_first_and_kept_from_the_answer(home: Path, docs: Path) -> None:
    roots = {"ASKY_RESEARCH__LOCAL_DOCUMENT_ROOTS": json.dumps([str(docs)])}
    done = run_here("-r", f"How long is the Nile according to {docs}/rivers.html ?", "--json", home=home, environ=roots)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "6,650" in answer["answer"]
    assert [source["title"] for source in answer["sources"]] == ["Rivers"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["-r", ""], "", "the question is empty"),
        (["-r", "-"], "   \n", "the question is empty"),
        (["-r", "-"], "why " * 300_000, "characters"),
        (["-r", "-"], "caf\udce9?", "standard input is not UTF-8"),
        (["-r"], "\x00\x01", "standard input is not a text"),
        (["-r", "why?"], "\x7fELF\x00\x00\udcff", "standard input is not text"),
        (["-r", "-d", "no/such/folder", "why?"], "", "no/such/folder"),
        (["-r", "why?"], "", "nothing to answer from"),
        (["-r", "why?", "-o", "answer.docx"], "", "not .md"),
        (["-r", "why?", "-o", "no/such/answer.md"], "", "there is no folder"),
        (["-r", "why?", "-o", "a.md", "-o", "a.html"], "", "one file, not 2"),
        (["memory", "search", " "], "", "the query is empty"),
        (["memory", "rm"], "", "name IDs"),
        (["corpus", "rm"], "", "name documents to remove"),
        (["-r", "-m", "gpt-99", "why?"], "", "gpt-99"),
        (["search", "why?"], "", "no documents are kept yet"),
        (["corpus", "add", "ftp://example.org/"], "", "ftp"),
        (["corpus", "add"], "", "nothing to add"),
    ],
)
def test_bad_input_is_one_line_and_a_hint(home: Path, arguments: list[str], stdin: str, message: str) -> None:
    done = run_here(*arguments, home=home, stdin=stdin)
    assert done.returncode == (3 if "gpt-99" in arguments else 2), done.stderr
    assert done.stdout == ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("asky: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert [line for line in done.stderr.splitlines() if line.startswith("hint: ")]
    assert "Traceback" not in done.stderr


def test_a_question_of_operators_and_quotes_is_only_a_question(home: Path, docs: Path) -> None:
    done = run_here("-r", "-d", str(docs), 'moon" OR NEAR( * tides) AND -"x" col:y ^z', "--json", home=home)
    assert done.returncode in (0, 11), done.stderr
    assert json.loads(done.stdout)["schema"] == "asky.answer/1"


def test_errors_are_one_json_object_under_json(home: Path) -> None:
    done = run_asky("-r", "-d", "nowhere", "why?", "--json", home=home)
    assert done.stdout == ""
    error = json.loads(done.stderr)
    assert error["schema"] == "asky.error/1"
    assert error["code"] == "usage"


def test_a_turn_limit_ends_with_10(home: Path, docs: Path) -> None:
    done = run_here("-r", "-d", str(docs), "How long is the Nile?", "--max-turns", "1", home=home)
    assert done.returncode == 10, done.stderr


def test_each_page_of_a_pdf_is_cited_by_its_own_number(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "slides"
    folder.mkdir()
    animals = ["The numbat eats termites.", "The quokka smiles at visitors.", "The bilby digs deep burrows."]
    (folder / "animals.pdf").write_bytes(pdf(animals))
    done = run_here("-d", str(folder), "What does the quokka do?", "--json", home=home)
    assert done.returncode == 0, done.stderr
    citation = json.loads(done.stdout)["citations"][0]
    assert citation["page"] == 2
    assert citation["quote"] == animals[1]


def test_nothing_that_could_be_added_ends_with_1(home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("not json\n[]\n")
    done = run_here("corpus", "add", "--jsonl", str(broken), home=home)
    assert done.returncode == 1
    assert "none of 2 could be added" in done.stderr


def test_an_answer_is_written_to_a_file(home: Path, docs: Path, tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    assert run_here("-r", "-d", str(docs), "How long is the Nile?", "-o", str(file), home=home).returncode == 0
    assert "6,650" in file.read_text()
    assert "> " in file.read_text()


def test_an_answer_whose_file_cannot_be_written_is_printed_all_the_same(home: Path, docs: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.symlink_to("/dev/full")
    done = run_here("-r", "-d", str(docs), "How long is the Nile?", "-o", str(file), home=home)
    assert done.returncode == 1
    assert "6,650" in done.stdout
    assert "disk full" in done.stderr
    assert "a.md" in done.stderr


def test_a_file_in_a_folder_that_is_not_there_is_refused_before_the_question_is_asked(home: Path, docs: Path) -> None:
    done = run_here("-r", "-d", str(docs), "How long is the Nile?", "-o", "no/such/folder/a.md", home=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no/such/folder/a.md" in done.stderr


def test_every_bad_file_is_named_beside_the_good_ones(home: Path, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing of the kind")
    (docs / "empty.txt").write_bytes(b"")
    os.mkfifo(docs / "pipe.txt")
    (docs / "loop").symlink_to(docs)
    with (docs / "sparse.txt").open("wb") as file:
        file.truncate(2 << 30)
    done = run_here("corpus", "add", str(docs), home=home)
    assert done.returncode == 0, done.stderr
    for name in ("broken.pdf", "empty.txt", "pipe.txt", "sparse.txt"):
        assert f"{name}: " in done.stderr
    assert "3 of 7 files searchable" in done.stderr


def test_a_cold_search_loads_no_heavy_library(home: Path, docs: Path) -> None:
    run_here("corpus", "add", str(docs), home=home)
    code = (
        "import json, sys\nfrom asky.__main__ import run\nrun(['search', 'the moon', '--json'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = run_python(["-c", code], home=home)
    assert json.loads(done.stdout)["hits"][0]["title"] == "Tides"
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    heavy = {
        "torch",
        "transformers",
        "sentence_transformers",
        "chromadb",
        "openai",
        "pymupdf",
        "trafilatura",
        "rich",
        "anyio",
    }
    assert loaded & heavy == set()


@pytest.mark.extended
def test_a_question_about_documents_does_not_load_what_searches_the_web(home: Path, docs: Path) -> None:
    run_here("corpus", "add", str(docs), home=home)
    code = (
        "import json, sys\nfrom asky.__main__ import run\n"
        f"run(['-r', '-d', {str(docs)!r}, 'How many high tides are there?', '--json'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = run_python(["-c", code], home=home)
    assert "two high tides" in done.stdout
    loaded = json.loads(done.stderr.splitlines()[-1])
    of_the_web = ("asky.search.", "asky.research.shortlist", "asky.net.fetcher", "httpx2", "httpcore2")
    assert [name for name in loaded if name.startswith(of_the_web)] == []


@pytest.mark.extended
@pytest.mark.parametrize("engine", ["exact", "chroma"])
def test_no_library_leaves_anything_outside_of_the_folders_of_asky(home: Path, docs: Path, engine: str) -> None:
    """Where one reports its use, it keeps who it is in the user's home."""
    config = {"ASKY_RESEARCH__RETRIEVAL__ENGINE": engine}
    assert run_asky("-r", "-d", str(docs), "How many high tides are there?", home=home, environ=config).returncode == 0
    assert [each.name for each in home.iterdir()] == ["asky"]


def test_search_answers_a_batch_line_by_line(home: Path, docs: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text('{"id": 1, "query": "moon tides"}\n{"id": "b", "query": "yeast"}\n')
    done = run_here("search", "-d", str(docs), "--batch", str(batch), "-k", "1", home=home)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == [1, "b"]
    assert [line["hits"][0]["title"] for line in lines] == ["Tides", "bread.txt"]
    hit = lines[0]["hits"][0]
    text = (docs / "tides.md").read_text()
    assert text[hit["start"] : hit["end"]] == hit["text"]


@pytest.mark.extended
def test_a_batch_is_utf8_in_every_locale_and_may_begin_with_a_byte_order_mark(home: Path, docs: Path) -> None:
    line = '\ufeff{"id": 1, "query": "how big is a caf\u00e9"}\r\n\r\n'
    latin = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run_asky("search", "-d", str(docs), "--batch", "-", home=home, stdin=line, environ=latin)
    assert json.loads(done.stdout)["query"] == "how big is a caf\u00e9", done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("query", ["null", '""', '"  "', "7"])
def test_a_batch_line_without_a_query_is_named_and_what_was_answered_stays(
    home: Path, docs: Path, tmp_path: Path, query: str
) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text('{"id": 1, "query": "moon"}\n\n{"id": 2, "query": ' + query + "}\n")
    done = run_here("search", "-d", str(docs), "--batch", str(batch), home=home)
    assert done.returncode == 2
    assert json.loads(done.stdout)["id"] == 1
    assert "batch.jsonl, line 3" in done.stderr


@pytest.mark.extended
def test_a_reader_that_goes_away_ends_the_command_quietly(home: Path, docs: Path) -> None:
    run_here("corpus", "add", str(docs), home=home)
    command = f"{sys.executable} -m asky search -k 3 'the moon and the sea' | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=clean_environment(home),
        cwd=home,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.count("\n") == 1


def many_files(folder: Path, count: int, *, sentences: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"note{number}.md").write_text(
            f"# Note {number}\n\n" + f"Entry {number} tells of the subject word{number}. " * sentences
        )
    return folder


def test_ctrl_c_stops_at_once_and_the_next_run_finishes_the_work(home: Path, tmp_path: Path) -> None:
    folder = many_files(tmp_path / "many", 20, sentences=60)
    process = subprocess.Popen(
        [sys.executable, "-m", "asky", "corpus", "add", "-v", str(folder)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=clean_environment(home),
        cwd=ROOT,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("read"):  # everything is indexed, embedding has begun
            break
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=300) == 130
    finished = run_here("corpus", "sync", home=home)
    assert finished.returncode == 0, finished.stderr
    assert "20 unchanged" in finished.stderr
    status = json.loads(run_here("corpus", "status", "--json", home=home).stdout)
    assert status["embedded"] == status["chunks"] > 20
    shown = run_here("corpus", "status", home=home).stdout.splitlines()[-2:]
    assert shown == ["searched by  exact scan of the vectors (Chroma above 1,000,000 passages)", "indexing     done"]


@pytest.mark.extended
def test_a_folder_that_is_gone_keeps_its_documents_until_it_is_removed(home: Path, docs: Path) -> None:
    run_here("corpus", "add", "--no-embed", str(docs), home=home)
    docs.rename(docs.with_name("moved"))
    synced = run_here("corpus", "sync", home=home)
    assert synced.returncode == 0, synced.stderr
    assert "its documents are kept" in synced.stderr
    assert json.loads(run_here("search", "moon", "--json", home=home).stdout)["hits"]
    removed = run_here("corpus", "rm", str(docs), home=home)
    assert "removed 3 documents" in removed.stderr
    assert json.loads(run_here("search", "moon", "--json", home=home).stdout)["hits"] == []
    assert "not there" not in run_here("corpus", "sync", home=home).stderr


def test_a_removed_file_of_a_followed_folder_is_said_to_come_back(home: Path, docs: Path) -> None:
    run_here("corpus", "add", "--no-embed", str(docs), home=home)
    removed = run_here("corpus", "rm", str(docs / "bread.txt"), home=home)
    assert "removed 1 document\n" in removed.stderr
    assert ".askyignore" in removed.stderr


@pytest.mark.extended
@pytest.mark.slow
def test_processes_share_one_store(home: Path, tmp_path: Path) -> None:
    folders = [many_files(tmp_path / f"folder{number}", 4, sentences=20) for number in range(8)]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "asky", "corpus", "add", "--collection", f"c{number}", str(folder)],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env=clean_environment(home) | {"ASKY_RESEARCH__RETRIEVAL__ENGINE": "chroma"},
            cwd=ROOT,
        )
        for number, folder in enumerate(folders)
    ]
    for process in running:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    for number in range(8):
        status = json.loads(run_here("corpus", "status", "--collection", f"c{number}", "--json", home=home).stdout)
        assert status["sources"] == 4
        assert status["embedded"] == status["chunks"]
    doctor = run_here("doctor", "--json", home=home)
    assert doctor.returncode == 0, doctor.stdout
