"""Question sets in each format, and every way in which their files can be wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from asky.errors import UsageError
from asky.evaluation.loading import read_questions
from asky.evaluation.questions import QuestionSet, require_usable


def written(path: Path, *rows: Mapping[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def kinds(found: QuestionSet) -> list[str]:
    return [each.kind for each in found.problems]


# questions.jsonl


def test_a_line_has_a_question_its_facts_and_its_sources(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"id": "a", "question": " How deep? ", "facts": ["12 fathoms", ["low water", "ebb"]], "sources": ["sea.md"]},
        {"question": "Who?", "sources": {"a.md": 2, "b.md": 0}, "tags": ["mine"]},
        {"id": 7, "question": "Why?", "answerable": False},
    )
    found = read_questions(path)
    first, second, third = found.questions
    assert (first.id, first.text) == ("a", "How deep?")
    assert first.facts == (("12 fathoms",), ("low water", "ebb"))
    assert first.sources == {"sea.md": 1}
    assert (second.id, second.sources) == ("2", {"a.md": 2})
    assert (third.id, third.answerable) == ("7", False)
    assert found.problems == ()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{", "not_json"),
        ("[" * 100_000, "not_json"),
        ("[1]", "not_an_object"),
        ('{"query": "x"}', "no_question"),
        ('{"question": " "}', "no_question"),
        ('{"question": 3}', "no_question"),
        (json.dumps({"question": "x" * 20_001}), "too_long"),
        ('{"question": "x", "fact": ["y"]}', "unknown_key"),
        ('{"question": "x", "facts": "y"}', "wrong_type"),
        ('{"question": "x", "facts": [3]}', "wrong_type"),
        ('{"question": "x", "facts": [[]]}', "wrong_type"),
        ('{"question": "x", "sources": "y"}', "wrong_type"),
        ('{"question": "x", "sources": [true]}', "wrong_type"),
        ('{"question": "x", "sources": {"a": 0.5}}', "wrong_type"),
        ('{"question": "x", "sources": [""]}', "wrong_type"),
        ('{"question": "x", "answerable": "no"}', "wrong_type"),
        ('{"question": "x", "id": ""}', "wrong_type"),
        ('{"question": "x", "id": true}', "wrong_type"),
    ],
)
def test_a_line_in_error_is_named_with_its_number(tmp_path: Path, line: str, kind: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "fine", "facts": ["x"]}\n\n' + line + "\n", "utf-8")
    found = read_questions(path)
    assert [(each.place, each.kind, each.is_fault) for each in found.problems] == [("q.jsonl, line 3", kind, True)]
    with pytest.raises(UsageError, match=r"^q\.jsonl, line 3: "):
        require_usable(found)


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"question": "fine"}\n{"question": "\xff"}\n')
    assert [str(each) for each in read_questions(path).faults] == ["q.jsonl, line 2: not UTF-8"]


def test_several_lines_in_error_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text("{\n{\n{\n", "utf-8")
    with pytest.raises(UsageError, match=r"line 1: not JSON.*\(and 2 more in error\)"):
        require_usable(read_questions(path))


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question": "a", "facts": ["x"]}\r\n\r\n{"question": "b", "facts": ["y"]}\r\n')
    found = read_questions(path)
    assert [each.text for each in found.questions] == ["a", "b"]
    assert found.problems == ()


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_a_file_without_questions_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match="no questions"):
        require_usable(read_questions(path))


def test_an_id_that_comes_twice_is_an_error_and_a_question_that_does_is_counted(tmp_path: Path) -> None:
    one = {"id": "a", "question": "How deep?", "facts": ["x"]}
    assert kinds(read_questions(written(tmp_path / "q.jsonl", one, one))) == ["duplicate_id"]
    same = read_questions(written(tmp_path / "r.jsonl", one, one | {"id": "b", "question": "how  DEEP?"}))
    assert kinds(same) == ["duplicate_question"]
    assert same.faults == ()
    assert len(same.questions) == 2


def test_questions_that_say_nothing_of_their_answer_are_named(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"question": "How deep?"},
        {"question": "Who?", "answerable": False, "facts": ["x"]},
    )
    found = read_questions(path)
    assert [(each.place, each.kind) for each in found.problems] == [
        ("question 1", "no_positives"),
        ("question 2", "facts_without_answer"),
    ]


def test_ten_thousand_questions_are_read_and_the_same_ones_drawn(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", *({"question": f"Question {n}?", "facts": ["x"]} for n in range(10_000)))
    found = read_questions(path)
    assert len(found.questions) == 10_000
    drawn = [each.id for each in found.chosen(sample=50).questions]
    assert drawn == [each.id for each in read_questions(path).chosen(sample=50).questions]
    assert drawn == sorted(drawn, key=int)
    assert set(drawn) <= {each.id for each in found.chosen(sample=100).questions}
    assert [each.id for each in found.chosen(limit=3).questions] == ["1", "2", "3"]


def test_a_json_array_is_read_like_lines(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text('[{"question": "a", "facts": ["x"]}, {"question": ""}]', "utf-8")
    found = read_questions(path)
    assert [each.text for each in found.questions] == ["a"]
    assert [str(each) for each in found.problems] == ["q.json, item 2: the question is empty"]


@pytest.mark.parametrize(("content", "message"), [("{", "not JSON"), ('{"a": 1}', "neither a JSON array")])
def test_another_json_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "q.json"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=message):
        read_questions(path)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match=r"no corpus\.jsonl"):
        read_questions(tmp_path)
    with pytest.raises(UsageError, match="--split needs a folder"):
        read_questions(written(tmp_path / "q.jsonl", {"question": "x"}), split="dev")


# BEIR

CORPUS = [{"_id": "a", "title": "Alpha", "text": "One fish."}, {"_id": "b", "title": "", "text": "Two fish."}]
QUERIES = [{"_id": "q1", "text": "How many?"}, {"_id": "q2", "text": "Which?"}]


def beir(folder: Path, qrels: str | None, *, queries: Iterable[Mapping[str, object]] = QUERIES) -> Path:
    written(folder / "corpus.jsonl", *CORPUS)
    written(folder / "queries.jsonl", *queries)
    if qrels is not None:
        (folder / "qrels").mkdir()
        (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels, "utf-8")
    return folder


def test_a_beir_folder_has_its_corpus_queries_and_gains(tmp_path: Path) -> None:
    found = read_questions(beir(tmp_path, "q1\ta\t2\nq1\tb\t0\nq2\tb\t1\n"))
    assert found.problems == ()
    assert [each.id for each in found.corpus or ()] == ["a", "b"]
    assert [each.sources for each in found.questions] == [{"a": 2}, {"b": 1}]


def test_a_beir_query_may_have_answers_and_may_have_none(tmp_path: Path) -> None:
    queries = [
        QUERIES[0] | {"answers": ["one", "1"]},
        QUERIES[1] | {"is_impossible": True, "answers": ["x"]},
        {"_id": "q3", "text": "Is it?", "answer": "yes"},
    ]
    found = read_questions(beir(tmp_path, "q1\ta\t1\nq3\ta\t1\n", queries=queries))
    assert [each.facts for each in found.questions] == [(("one", "1"),), (), ()]
    assert [each.answerable for each in found.questions] == [True, False, True]


def test_what_judgements_and_queries_lack_of_each_other_is_named(tmp_path: Path) -> None:
    queries = [*QUERIES, {"_id": "q3", "text": "And?"}]
    found = read_questions(beir(tmp_path, "q1\tnowhere\t1\nq2\ta\t0\nq9\ta\t1\n", queries=queries))
    assert [(each.place, each.kind) for each in found.problems] == [
        ("question q1", "unknown_source"),
        ("question q2", "no_positives"),
        ("question q3", "unjudged"),
        ("test.tsv", "unknown_question"),
    ]
    assert [each.id for each in found.questions] == ["q1"]
    require_usable(found)


@pytest.mark.parametrize(
    ("qrels", "kind", "is_fault"),
    [
        ("q1\ta\tmany\n", "wrong_type", True),
        ("q1\ta\n", "wrong_type", True),
        ("q1\ta\t1\nq1\ta\t1\n", "duplicate_judgement", False),
        ("q1\ta\t1\nq1\ta\t2\n", "duplicate_judgement", True),
    ],
)
def test_a_judgement_in_error_is_named(tmp_path: Path, qrels: str, kind: str, is_fault: bool) -> None:
    found = read_questions(beir(tmp_path, qrels + "q2\tb\t1\n"))
    assert (kind, is_fault) in [(each.kind, each.is_fault) for each in found.problems]


def test_judgements_without_their_header_are_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path, None)
    (folder / "qrels.tsv").write_text("q1\ta\t1\n", "utf-8")
    with pytest.raises(UsageError, match=r"qrels\.tsv, line 1: the header must be query-id, corpus-id, score"):
        require_usable(read_questions(folder))


def test_a_folder_without_qrels_or_queries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no qrels/test\.tsv"):
        read_questions(beir(tmp_path / "one", None))
    written(tmp_path / "two" / "corpus.jsonl", *CORPUS)
    (tmp_path / "two" / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n", "utf-8")
    with pytest.raises(UsageError, match=r"no queries\.jsonl"):
        read_questions(tmp_path / "two")


def test_of_several_splits_test_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    folder = beir(tmp_path, "q1\ta\t1\n")
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq2\tb\t1\n", "utf-8")
    assert [each.id for each in read_questions(folder).questions] == ["q1"]
    assert [each.id for each in read_questions(folder, split="dev").questions] == ["q2"]
    with pytest.raises(UsageError, match="no split 'train'"):
        read_questions(folder, split="train")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "train.tsv")
    with pytest.raises(UsageError, match="several splits"):
        read_questions(folder)


def test_documents_and_queries_in_error_are_named(tmp_path: Path) -> None:
    folder = beir(tmp_path, "q1\ta\t1\n", queries=[{"_id": "q1", "text": "x"}, {"_id": 3, "text": "y"}])
    with (folder / "corpus.jsonl").open("a") as file:
        file.write(json.dumps(CORPUS[0]) + '\n{"_id": "c"}\n')
    assert [(each.place, each.kind) for each in read_questions(folder).faults] == [
        ("corpus.jsonl, line 3", "duplicate_id"),
        ("corpus.jsonl, line 4", "wrong_type"),
        ("queries.jsonl, line 2", "wrong_type"),
    ]


# SQuAD


def test_a_file_like_squads_has_paragraphs_as_documents(tmp_path: Path) -> None:
    qas = [
        {"id": "1", "question": "How deep?", "answers": [{"text": "12 fathoms"}, {"text": "12 fathoms"}]},
        {"id": "2", "question": "How wide?", "is_impossible": True, "answers": [], "plausible_answers": []},
    ]
    data = {"data": [{"title": "The_harbour", "paragraphs": [{"context": "It is 12 fathoms deep.", "qas": qas}]}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(data), "utf-8")
    found = read_questions(path)
    assert found.problems == ()
    assert [(each.id, each.title) for each in found.corpus or ()] == [("The harbour-0", "The harbour")]
    first, second = found.questions
    assert (first.facts, first.sources) == ((("12 fathoms",),), {"The harbour-0": 1})
    assert (second.answerable, second.sources) == (False, {})


def test_a_paragraph_in_error_is_named(tmp_path: Path) -> None:
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": 3}, {"context": "x", "qas": [{}]}]}, 5]}), "utf-8")
    assert [each.place for each in read_questions(path).faults] == [
        "squad.json, article 1, paragraph 1",
        "squad.json, article 1, paragraph 2",
        "squad.json, article 2, paragraph 1",
    ]
