"""The readers of the retrieval sets, over small folders of each layout."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from asky.evaluation.questions import CorpusText
from asky.values import Span
from tests.quality.datasets import GoldSpan, load_set, subset


def _write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _write_qrels(path: Path, *rows: tuple[str, str, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _beir(folder: Path, queries: list[dict[str, object]], *qrels: tuple[str, str, int]) -> Path:
    _write_rows(
        folder / "corpus.jsonl",
        [
            {"_id": "a", "title": "Alpha", "text": "One fish. Two fish. One fish again."},
            {"_id": "b", "title": "", "text": ""},
            {"_id": "c", "text": "Red fish."},
        ],
    )
    _write_rows(folder / "split" / "queries.dev.jsonl", queries)
    _write_qrels(folder / "split" / "qrels.dev.tsv", *qrels)
    return folder


def test_a_beir_folder_is_read_with_its_gains(tmp_path: Path) -> None:
    found = load_set(_beir(tmp_path / "fish", [{"_id": "q", "text": "fish?"}], ("q", "a", 2), ("q", "c", 0)))
    assert found.name == "fish"
    assert found.documents[2] == CorpusText("c", "", "Red fish.")
    assert found.questions[0].relevant == {"a": 2}  # gain 0 is a judgement of "not relevant"


def test_an_empty_document_stays_in_the_corpus(tmp_path: Path) -> None:
    found = load_set(_beir(tmp_path, [{"_id": "q", "text": "fish?"}], ("q", "a", 1)))
    assert CorpusText("b", "", "") in found.documents


def test_graded_judgements_beside_the_plain_ones_are_not_mixed_in(tmp_path: Path) -> None:
    folder = _beir(tmp_path, [{"_id": "q", "text": "fish?"}], ("q", "a", 1))
    _write_qrels(folder / "split" / "qrels.graded.tsv", ("q", "a", 9))
    assert load_set(folder).questions[0].relevant == {"a": 1}


def test_a_question_without_judgement_is_kept_and_is_not_judged(tmp_path: Path) -> None:
    queries: list[dict[str, object]] = [{"_id": "q", "text": "fish?"}, {"_id": "r", "text": "fowl?"}]
    found = load_set(_beir(tmp_path, queries, ("q", "a", 1)))
    assert [question.id for question in found.questions] == ["q", "r"]
    assert [question.id for question in found.judged] == ["q"]
    assert found.questions[1].answerable  # nobody said that it is not


@pytest.mark.parametrize("mark", [{"is_impossible": True}, {"type": "null_query"}])
def test_a_question_marked_as_unanswerable_is_told_apart(tmp_path: Path, mark: dict[str, object]) -> None:
    assert not load_set(_beir(tmp_path, [{"_id": "q", "text": "fowl?", **mark}])).questions[0].answerable


def test_a_gold_paragraph_becomes_a_span_of_its_document(tmp_path: Path) -> None:
    query: dict[str, object] = {"_id": "q", "text": "fish?", "doc": "a", "gold_paragraph": " Two fish. "}
    assert load_set(_beir(tmp_path, [query], ("q", "a", 1))).questions[0].gold == (GoldSpan("a", Span(10, 19)),)


def test_of_two_places_of_an_answer_the_one_near_the_published_offset_is_gold(tmp_path: Path) -> None:
    query: dict[str, object] = {"_id": "q", "text": "?", "doc": "a", "answer": "One fish", "answer_start": 18}
    assert load_set(_beir(tmp_path, [query], ("q", "a", 1))).questions[0].gold == (GoldSpan("a", Span(20, 28)),)


def test_an_answer_that_the_document_lacks_gives_no_gold(tmp_path: Path) -> None:
    query: dict[str, object] = {"_id": "q", "text": "?", "doc": "a", "answer": "Blue fish", "answer_start": 0}
    assert load_set(_beir(tmp_path, [query], ("q", "a", 1))).questions[0].gold == ()


def test_padded_and_plain_numbers_name_the_same_document(tmp_path: Path) -> None:
    _write_rows(tmp_path / "corpus.jsonl", [{"_id": "X-0012", "title": "", "text": "t"}])
    _write_rows(tmp_path / "queries.jsonl", [{"_id": "q", "text": "t"}])
    _write_qrels(tmp_path / "qrels" / "test.tsv", ("q", "X-12", 1))
    assert load_set(tmp_path).questions[0].relevant == {"X-0012": 1}


def test_a_judgement_of_an_unknown_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the corpus lacks: zz"):
        load_set(_beir(tmp_path, [{"_id": "q", "text": "fish?"}], ("q", "zz", 1)))


def test_the_hash_changes_with_the_data(tmp_path: Path) -> None:
    one = load_set(_beir(tmp_path / "one", [{"_id": "q", "text": "fish?"}], ("q", "a", 1)))
    same = load_set(_beir(tmp_path / "two", [{"_id": "q", "text": "fish?"}], ("q", "a", 1)))
    other = load_set(_beir(tmp_path / "three", [{"_id": "q", "text": "fish?"}], ("q", "a", 2)))
    assert one.sha256 == same.sha256 != other.sha256


def test_a_subset_keeps_every_document_that_is_needed(tmp_path: Path) -> None:
    whole = load_set(_beir(tmp_path, [{"_id": "q", "text": "fish?"}], ("q", "c", 1)))
    assert [document.id for document in subset(whole, 1).documents] == ["c"]
    assert len(subset(whole, 2).documents) == 2
    assert subset(whole, 99).documents == whole.documents


def _spans(folder: Path, reference: Mapping[str, object]) -> Path:
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "talk.md").write_bytes(b"# Talk\r\nWe cut fees.\r\n")
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "references", "corpus_id"])
        table.writerow(["What was cut?", json.dumps([reference]), "talk"])
    return folder


def test_reference_spans_are_offsets_into_the_file_as_it_is(tmp_path: Path) -> None:
    found = load_set(_spans(tmp_path, {"content": "We cut fees.", "start_index": 8, "end_index": 20}))
    assert found.documents[0].text == "# Talk\r\nWe cut fees.\r\n"
    assert found.questions[0].relevant == {"talk": 1}
    assert found.questions[0].gold == (GoldSpan("talk", Span(8, 20)),)


def test_a_reference_that_is_not_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not what the file holds"):
        load_set(_spans(tmp_path, {"content": "We cut fees.", "start_index": 7, "end_index": 19}))


def test_passages_yield_gold_sentences_and_unanswerable_questions(tmp_path: Path) -> None:
    passage = {"title": "Fish", "text": "Red fish. Blue fish.", "sentences": ["Red fish.", "Blue fish."]}
    answer = {"answer": "Blue.", "selected_sentences": ["Blue fish."]}
    nothing = {"answer": "", "selected_sentences": []}
    rows = [{"id": "q", "input": "Which?", "passages": [passage], "output": [answer, answer]}]
    _write_rows(tmp_path / "answerable.dev.jsonl", rows)
    rows = [{"id": "r", "input": "Why?", "passages": [passage], "output": [nothing]}]
    _write_rows(tmp_path / "unanswerable.dev.jsonl", rows)
    found = load_set(tmp_path)
    assert [document.title for document in found.documents] == ["Fish"]  # the same passage is one document
    assert found.questions[0].gold == (GoldSpan("p0", Span(10, 20)),)
    assert (found.questions[0].answerable, found.questions[1].answerable) == (True, False)
    assert [question.id for question in found.judged] == ["q"]


def test_a_folder_without_a_known_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no retrieval set"):
        load_set(tmp_path)
