"""`asky eval` over a small folder: what is measured, what is shown of it, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Answer, Endpoint, Problem, Request, Usage
from tests.support.here import run_here
from tests.support.in_process import Done, InProcess

NILE = {"id": "nile", "question": "How long is the Nile?", "facts": ["6,650 kilometres"], "sources": ["rivers.md"]}
TIDES = {
    "id": "tides",
    "question": "How many high tides does the moon raise a day?",
    "facts": [["two", "2"]],
    "sources": ["tides"],
}
BREAD = {
    "id": "bread",
    "question": "At how many degrees is a loaf baked?",
    "facts": ["999 degrees"],
    "sources": ["bread.md"],
}
PAINTER = {"id": "painter", "question": "Who painted the ceiling of the Sistine Chapel?", "answerable": False}
QUESTIONS = (NILE, TIDES, BREAD, PAINTER)


TEXTS = {
    "rivers": "# Rivers\n\nThe Nile is 6,650 kilometres long.\n",
    "tides": "# Tides\n\nThe moon raises two high tides a day.\n",
    "bread": "# Bread\n\nA loaf is baked at 230 degrees.\n",
}


class Lab:
    """A store with three records in its default collection, a question set, and `asky eval` without an embedding model.

    The same texts are files of a folder, which takes a process to read.
    """

    def __init__(self, folder: Path, asky: InProcess) -> None:
        self.folder = folder
        self.asky = asky
        self.docs = folder / "docs"
        self.docs.mkdir()
        for name, text in TEXTS.items():
            (self.docs / f"{name}.md").write_text(text, "utf-8")
        self.questions = self.write(*QUESTIONS)

    def write(self, *rows: Mapping[str, object], name: str = "questions.jsonl") -> Path:
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return path

    def __call__(self, *arguments: str, questions: Path | None = None) -> Done:
        return self.asky("eval", str(questions or self.questions), *arguments)

    def of_folder(self, *arguments: str, questions: Path | None = None) -> Done:
        return self("-d", str(self.docs), *arguments, questions=questions)

    @property
    def journals(self) -> list[Path]:
        return sorted((self.asky.home / "state" / "evaluations").glob("*.jsonl"))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store has the texts as records."""
    home = tmp_path_factory.mktemp("filled")
    records = home / "records.jsonl"
    rows = ({"id": f"{name}.md", "title": name, "text": text} for name, text in TEXTS.items())
    records.write_text("".join(json.dumps(each) + "\n" for each in rows), "utf-8")
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(home / "no model")}
    done = run_here("corpus", "add", "--jsonl", str(records), "--no-embed", home=home, environ=environ)
    assert done.returncode == 0, done.stderr
    return home / "asky"


@pytest.fixture
def lab(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lab:
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    asky = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setattr("sys.stdin", None)
    return Lab(tmp_path, asky)


@pytest.fixture
def endpoint(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint whose model is called `far`."""
    with Endpoint("Nothing is scripted.") as opened:
        monkeypatch.setenv("ASKY_PROVIDERS__LAB__BASE_URL", opened.base_url)
        for name, value in (
            ("PROVIDER", "lab"),
            ("ID", "test-model"),
            ("INPUT_PRICE", "10.0"),
            ("OUTPUT_PRICE", "100.0"),
        ):
            monkeypatch.setenv(f"ASKY_MODELS__FAR__{name}", value)
        yield opened


def cites(request: Request) -> Answer:
    """An answer that repeats the first passage of the request, and cites it."""
    shown = str(request.messages)
    key = re.search(r"\bP[0-9a-f]{4,8}\b", shown)
    assert key is not None
    return Answer(f"The Nile is 6,650 kilometres long [{key[0]}].", usage=Usage(100, 10))


def interrupts(request: Request) -> Answer:
    os.kill(os.getpid(), signal.SIGINT)
    return cites(request)


def measures(found: Any, at: int = 0) -> dict[str, float]:
    return {name: each["value"] for name, each in found["variants"][at]["measures"].items()}


# what is measured


def test_search_and_answers_are_measured_and_what_was_not_right_is_named(lab: Lab) -> None:
    done = lab.of_folder("--json")
    assert done.code == 0, done.err
    found = done.json
    assert found["schema"] == "asky.eval/1"
    assert (found["model"], found["mode"], found["complete"]) == ("extractive", "standard", True)
    assert found["questions"]["count"] == 4
    assert found["questions"]["documents"] == 3
    assert found["questions"]["problems"] == []
    values = measures(found)
    assert values["ndcg_cut_10"] == values["recall_10"] == values["map"] == 1.0
    assert values["facts_all"] == values["right"] == pytest.approx(2 / 3, abs=1e-6)
    assert values["right_source"] == values["answered"] == values["declined"] == values["claims_supported"] == 1.0
    bread = next(each for each in found["variants"][0]["results"] if each["id"] == "bread")
    assert bread["fault"] == "lacks “999 degrees”"
    assert bread["right"] is False
    assert "230 degrees" in bread["answer"]
    assert [each["expected"] for each in bread["cited"]] == [True]


def test_the_fields_of_the_result_are_those_that_programs_read(lab: Lab) -> None:
    """Fields may be added; none may go or be called otherwise."""
    found = lab("--json", "--limit", "1").json
    (variant,) = found["variants"]
    (result,) = variant["results"]
    assert set(found) >= {"schema", "questions", "model", "mode", "complete", "interval", "variants", "gate"}
    assert set(found["questions"]) >= {"name", "format", "sha256", "count", "answerable", "documents", "problems"}
    assert set(variant) >= {"name", "settings", "measured", "measures", "differences", "curve", "usage", "failures"}
    assert set(variant["measures"]["right"]) >= {"value", "low", "high", "questions"}
    assert set(variant["usage"]) >= {"llm_calls", "prompt_tokens", "completion_tokens", "cost_usd", "seconds"}
    assert set(result) >= {"id", "question", "answerable", "facts", "sources", "ranking", "first_rank", "measures"}
    assert set(result) >= {"answered", "right", "confidence", "missing", "claims", "cited", "answer", "fault", "run"}
    assert result["ranking"][0] == "rivers.md"


def test_the_tables_are_printed_with_what_was_not_right(lab: Lab) -> None:
    done = lab()
    assert done.code == 0
    assert done.out.startswith("questions.jsonl: 4 questions, 1 without an answer · 3 documents · extractive")
    assert re.search(r"\| retrieval \| nDCG@10 \| 1\.000 \| 1\.000 to 1\.000 \| 3 \|", done.out)
    assert re.search(r"\| answers \| right \| 0\.667 \|", done.out)
    assert "1 of 4 questions were not right:\n  bread: At how many degrees" in done.out
    assert "4 answers in" in done.err
    assert re.search(r"precision at 70 % answered \| 0\.667", done.out), done.out


def test_nothing_is_left_in_the_store_unless_runs_are_kept(lab: Lab) -> None:
    assert lab("--limit", "1").code == 0
    assert lab.asky("session", "list", "--json").json["sessions"] == []
    assert lab.asky("runs", "list", "--json").json["runs"] == []
    found = lab("--limit", "1", "--keep-runs", "--json").json
    run = found["variants"][0]["results"][0]["run"]
    assert [each["id"] for each in lab.asky("runs", "list", "--json").json["runs"]] == [run]
    assert lab.journals == []


def test_retrieval_only_asks_nothing_and_writes_a_ranking_that_measures_the_same(lab: Lab) -> None:
    ranking, qrels = lab.folder / "asky.run", lab.folder / "qrels.txt"
    found = lab("--retrieval-only", "--json", "-o", str(ranking)).json
    assert found["model"] is None
    assert set(measures(found)) == {"ndcg_cut_10", "recall_10", "recip_rank", "map"}
    names = {"nile": "rivers.md", "tides": "tides.md", "bread": "bread.md"}
    qrels.write_text("".join(f"{each} 0 {name} 1\n" for each, name in names.items()), "utf-8")
    again = lab.asky("eval", "--qrels", str(qrels), "--run", str(ranking), "--json")
    assert again.code == 0, again.err
    assert measures(again.json) == measures(found)


def test_a_sample_is_the_same_every_time(lab: Lab) -> None:
    found = [lab("--retrieval-only", "--sample", "2", "--json").json for _ in range(2)]
    drawn = [[each["id"] for each in one["variants"][0]["results"]] for one in found]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 2


def test_a_beir_folder_brings_its_documents_and_leaves_the_store_alone(lab: Lab) -> None:
    folder = lab.folder / "set"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": name, "title": name, "text": (lab.docs / f"{name}.md").read_text()} for name in ("rivers", "tides")
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in corpus), "utf-8")
    (folder / "queries.jsonl").write_text(
        json.dumps({"_id": "q1", "text": NILE["question"], "answers": ["6,650 kilometres"]}) + "\n", "utf-8"
    )
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\trivers\t1\n", "utf-8")
    done = lab.asky("eval", str(folder), "--json")
    assert done.code == 0, done.err
    assert measures(done.json)["right"] == measures(done.json)["map"] == 1.0
    assert done.json["variants"][0]["results"][0]["ranking"][0] == "rivers"
    assert len(lab.asky("corpus", "list", "--json").json["sources"]) == 3
    refused = lab.of_folder("--json", questions=folder)
    assert (refused.code, refused.error["message"]) == (2, "set brings its own documents")


# variants


def test_variants_are_compared_with_the_first_over_the_same_questions(lab: Lab) -> None:
    done = lab("--vary", "retrieval.candidates=1,200", "--vary", "max_passages=1,2", "--json")
    assert done.code == 2  # a bare name of no key
    done = lab("--vary", "retrieval.candidates=1,200", "--json", "--retrieval-only")
    assert done.code == 0, done.err
    first, second = done.json["variants"]
    assert (first["name"], first["settings"]) == ("retrieval.candidates=1", {"research.retrieval.candidates": "1"})
    assert first["differences"] == {}
    assert second["differences"]["map"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    table = lab("--vary", "retrieval.candidates=1,200", "--retrieval-only")
    assert "| `retrieval.candidates=200` | 1.000, +0.000 [+0.000, +0.000] |" in table.out
    assert "differences are to the first variant" in table.err


def test_a_variant_that_stores_documents_differently_has_a_store_of_its_own(lab: Lab) -> None:
    (lab.docs / "long.md").write_text("# Long\n\n" + "The harbour is deep at low water. " * 60, "utf-8")
    done = lab.of_folder(
        "--vary", "chunking.max_tokens=60,200", "--vary", "chunking.overlap_tokens=0", "--retrieval-only", "--json"
    )
    assert done.code == 0, done.err
    stores = list((lab.asky.home / "cache" / "evaluation").iterdir())
    assert len(stores) == 2
    stored = lab("--vary", "chunking.max_tokens=60,200", "--retrieval-only", "--json")
    assert stored.code == 2
    assert "changes how documents are stored" in stored.error["message"]


# the gate


def gate(lab: Lab, text: str) -> str:
    path = lab.folder / "gate.toml"
    path.write_text(text, "utf-8")
    return str(path)


def test_a_gate_that_holds_says_so(lab: Lab) -> None:
    done = lab("--gate", gate(lab, "[least]\nright = 0.6\nmap = 0.9\n[most]\nclaims_unsupported = 0.0\n"))
    assert done.code == 0
    assert "gate passed: 3 limits" in done.err


def test_a_gate_that_fails_exits_with_13_and_names_each_measure(lab: Lab) -> None:
    limits = "[least]\nright = 0.9\nmap = 0.9\nprecision_at_70 = 0.5\n"
    done = lab("--gate", gate(lab, limits), "-q")
    assert done.code == 13
    assert done.err.splitlines() == [
        "gate failed: right is 0.667; the gate wants at least 0.9",
        "asky: 1 of 3 limits of the gate failed: right",
    ]
    as_json = lab("--gate", gate(lab, "[least]\nright = 0.9\n"), "--json")
    assert as_json.code == 13
    assert as_json.json["gate"]["passed"] is False
    assert as_json.json["gate"]["checks"][0]["value"] == pytest.approx(2 / 3, abs=1e-6)


def test_a_result_that_fell_behind_an_earlier_one_fails_the_gate(lab: Lab) -> None:
    assert lab.of_folder("-o", str(lab.folder / "before.json")).code == 0
    limits = gate(lab, '[regression]\nagainst = "before.json"\nright = 0.05\nclaims_unsupported = 0.0\n')
    assert lab.of_folder("--gate", limits).code == 0
    (lab.docs / "rivers.md").write_text("# Rivers\n\nThe Nile is 6,651 kilometres long.\n", "utf-8")
    done = lab.of_folder("--gate", limits)
    assert done.code == 13
    assert "gate failed: right changed by -0.333; the gate wants no worse than before by more than 0.05" in done.err
    others = lab.write(NILE | {"question": "How long is the river Nile?"}, name="others.jsonl")
    assert "was not measured" in lab.of_folder("--gate", limits, questions=others).err


def test_a_gate_with_an_unknown_measure_is_refused_before_anything_is_measured(lab: Lab) -> None:
    done = lab("--gate", gate(lab, "[least]\nndcg = 0.5\n"))
    assert (done.code, done.out) == (2, "")
    assert "unknown measure 'ndcg'" in done.err


# what is written


def test_a_page_holds_the_tables_a_plot_and_the_questions_and_loads_nothing(lab: Lab) -> None:
    path = lab.folder / "report.html"
    evil = NILE | {"id": "evil", "question": "How long is the <script>alert(1)</script> Nile?"}
    done = lab("-o", str(path), "--vary", "retrieval.candidates=1,200", questions=lab.write(evil, *QUESTIONS))
    assert done.code == 0, done.err
    page = path.read_text("utf-8")
    assert page.count("<svg") == 2
    assert page.count('<details class="question">') == 5
    assert "retrieval.candidates=200" in page
    assert "<script" not in page
    assert "script-src &#x27;none&#x27;" in page
    assert not re.search(r"(?:src|href)=\"(?!data:)[^#\"]", page)


def test_files_that_cannot_be_written_are_refused_first(lab: Lab) -> None:
    for name, message in (("report.pdf", "not .html, .json, .run"), ("none/report.html", "there is no folder")):
        done = lab("-o", str(lab.folder / name))
        assert (done.code, done.out) == (2, "")
        assert message in done.err


# bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give QUESTIONS, or --qrels and --run"),
        (("{q}", "--qrels", "x"), "give QUESTIONS, or --qrels and --run"),
        (("--qrels", "x"), "--qrels and --run belong together"),
        (("{q}", "-r", "-L"), "-r and -L cannot be combined"),
        (("{q}", "--limit", "1", "--sample", "1"), "--limit and --sample cannot be combined"),
        (("{q}", "--retrieval-only", "-m", "x"), "--retrieval-only asks no model"),
        (("{q}", "--vary", "retrieval.dense_wieght=1"), "unknown key retrieval.dense_wieght"),
        (("{q}", "--vary", "retrieval.dense_weight=7"), "from 0 to 1"),
        (("{q}", "-d", "{q}.none"), "no such file"),
        (("none.jsonl",), "cannot read none.jsonl"),
        (("{q}", "--collection", "none"), "there is no collection 'none'"),
    ],
)
def test_wrong_usage_is_told_in_a_line(lab: Lab, arguments: tuple[str, ...], message: str) -> None:
    done = lab.asky("eval", *(each.format(q=lab.questions) for each in arguments))
    assert (done.code, done.out) == (2, "")
    assert message in done.err.lower() if message.islower() else message in done.err


def test_a_model_that_is_not_there_is_told_before_anything_is_measured(lab: Lab) -> None:
    assert lab("-m", "nobody").code == 3
    assert lab.journals == []


def test_lines_in_error_are_named_and_nothing_is_measured(lab: Lab) -> None:
    path = lab.folder / "bad.jsonl"
    path.write_text('{"question": "x"}\n{"quest": 1}\n{\n', "utf-8")
    done = lab(questions=path)
    assert (done.code, done.out) == (2, "")
    assert "bad.jsonl, line 2: unknown key 'quest'; did you mean 'question'?" in done.err
    assert "bad.jsonl, line 3: not JSON" in done.err
    assert "(and 1 more in error)" in done.err


def test_problems_are_counted_named_and_fail_a_strict_run(lab: Lab) -> None:
    path = lab.write(NILE | {"sources": ["rivers.md", "gone.md"]}, {"question": "What?"}, name="odd.jsonl")
    done = lab(questions=path)
    assert done.code == 0
    assert "warning: 2 problems of the questions: 1 no positives, 1 unknown source" in done.err
    assert "question nile: no document is called 'gone.md': it counts as not found" in done.err
    found = lab("--json", questions=path)
    assert measures(found.json)["recall_10"] == 0.5
    strict = lab("--strict", "-q", questions=path)
    assert strict.code == 2
    assert "2 problems of the questions" in strict.err


def test_questions_about_other_documents_are_refused(lab: Lab) -> None:
    done = lab("--limit", "1", questions=lab.write(NILE | {"sources": ["gone.md"]}))
    assert (done.code, done.out) == (2, "")
    assert "none of the 1 sources that the questions name is among the documents: 'gone.md'" in done.err


# models, failures and interruptions


def test_a_model_is_asked_and_its_tokens_and_costs_are_counted(lab: Lab, endpoint: Endpoint) -> None:
    endpoint.play(cites, cites)
    done = lab("-m", "far", "-L", "--limit", "2", "--json", "-j", "2")
    assert done.code == 0, done.err
    found = done.json
    assert (found["model"], found["mode"]) == ("far", "lean")
    usage = found["variants"][0]["usage"]
    assert (usage["llm_calls"], usage["prompt_tokens"], usage["completion_tokens"]) == (2, 200, 20)
    assert usage["cost_usd"] == pytest.approx(0.004)


def test_ctrl_c_keeps_what_was_measured_and_the_same_command_goes_on(lab: Lab, endpoint: Endpoint) -> None:
    endpoint.play(cites, interrupts, cites, cites, cites)
    done = lab("-m", "far", "-L")
    assert done.code == 130
    assert "asky: stopped; 1 of 4 questions measured\nhint: the same command goes on from there" in done.err
    assert done.out.startswith("questions.jsonl: 4 questions")
    assert lab.asky("session", "list", "--json").json["sessions"] == []
    (journal,) = lab.journals
    assert journal.stat().st_mode & 0o777 == 0o600
    with journal.open("a") as file:
        file.write('{"id": "ti')  # as a process that was killed leaves it
    asked = len(endpoint.requests)
    endpoint.play(cites, cites, cites)
    done = lab("-m", "far", "-L", "--json", "-v")
    assert done.code == 0, done.err
    assert "1 of 4 questions were measured before" in done.err
    assert len(endpoint.requests) - asked == 3
    assert [each["id"] for each in done.json["variants"][0]["results"]] == ["nile", "tides", "bread", "painter"]
    assert lab.journals == []


def test_what_was_measured_of_other_documents_is_not_used(lab: Lab, endpoint: Endpoint) -> None:
    endpoint.play(cites, interrupts)
    assert lab.of_folder("-m", "far", "-L").code == 130
    (lab.docs / "more.md").write_text("# More\n\nThe Amazon carries more water.\n", "utf-8")
    endpoint.play(cites, cites, cites, cites)
    assert "measured before" not in lab.of_folder("-m", "far", "-L", "-v").err


def test_a_question_that_fails_counts_nowhere_and_is_asked_again_by_the_same_command(
    lab: Lab, endpoint: Endpoint
) -> None:
    endpoint.play(cites, Problem("bad_request"), cites, cites)
    done = lab("-m", "far", "-L", "--json")
    assert done.code == 8
    found = done.json
    assert found["complete"] is False
    assert [each["subject"] for each in found["variants"][0]["failures"]] == ["tides"]
    assert found["variants"][0]["measured"] == 3
    assert "1 question failed; tides: " in done.error["message"]
    endpoint.play(cites)
    again = lab("-m", "far", "-L", "--json")
    assert again.code == 0
    assert again.json["variants"][0]["measured"] == 4


def test_an_endpoint_that_refuses_the_key_ends_the_evaluation(lab: Lab, endpoint: Endpoint) -> None:
    endpoint.play(Problem("auth"))
    done = lab("-m", "far", "-L")
    assert done.code == 4
    assert len(endpoint.requests) == 1


def test_the_evaluation_stops_when_it_has_cost_what_it_may(lab: Lab, endpoint: Endpoint) -> None:
    endpoint.play(cites, cites, cites, cites)
    done = lab("-m", "far", "-L", "--max-cost", "0.003")
    assert done.code == 10
    assert "2 of 4 are measured" in done.err
    assert "raise --max-cost; the same command goes on from there" in done.err
