"""What a record says of its work comes back from a bibliography, read by parsers that others wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rispy
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from pybtex.database import parse_string

from tests.support.in_process import InProcess

QUESTION = "What does the quokka weigh?"
TEXT = "The quokka weighs three kilograms and sleeps near the lagoon."


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    return command


def answered(asky: InProcess, *, output: str | None = None, **metadata: object) -> None:
    """A run whose answer cites one record with that metadata."""
    record = {"id": "q", "text": TEXT, "title": "Quokkas", "metadata": metadata}
    (asky.home / "records.jsonl").write_text(json.dumps(record), "utf-8")
    assert asky("corpus", "add", "--jsonl", "records.jsonl").code == 0
    written = ["-o", output] if output is not None else []
    (asky.home / "question.txt").write_text(QUESTION, "utf-8")
    assert asky("ask", "--offline", "--no-web", "file://question.txt", "-m", "extractive", *written).code == 0


def test_a_list_of_authors_comes_back_as_several_in_their_order(asky: InProcess) -> None:
    answered(
        asky,
        author=["Bly, Nellie", "Müller, Jörg", "李明"],
        published=2021,
        published_in="Quokka Notes",
        doi="10.5555/q1",
    )
    ((key, entry),) = parse_string(asky("runs", "export", "--format", "bibtex").out, "bibtex").entries.items()
    assert key == "bly2021quokkas"
    assert [(each.last_names, each.first_names) for each in entry.persons["author"]] == [
        (["Bly"], ["Nellie"]),
        (["Müller"], ["Jörg"]),
        (["{李明}"], []),
    ]
    assert (entry.fields["year"], entry.fields["journal"]) == ("2021", "Quokka Notes")
    (row,) = rispy.loads(asky("runs", "export", "--format", "ris").out)
    assert row["authors"] == ["Bly, Nellie", "Müller, Jörg", "李明"]
    items = json.loads(asky("runs", "export", "--format", "csl").out)
    people = [{"family": "Bly", "given": "Nellie"}, {"family": "Müller", "given": "Jörg"}, {"literal": "李明"}]
    assert items[0]["author"] == people
    style = CitationStylesStyle("harvard-cite-them-right", validate=False)
    page = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
    page.register(Citation([CitationItem(key)]))
    (shown,) = page.bibliography()
    assert str(shown).startswith("Bly, N., Müller, J. and 李明 (2021)")


def test_what_is_null_in_a_record_is_in_no_bibliography(asky: InProcess) -> None:
    answered(asky, author=None, published=None, published_in=None, doi=None)
    (entry,) = parse_string(asky("runs", "export", "--format", "bibtex").out, "bibtex").entries.values()
    assert not entry.persons
    assert set(entry.fields) == {"title", "note"}
    (row,) = rispy.loads(asky("runs", "export", "--format", "ris").out)
    assert not {"authors", "year", "secondary_title", "doi"} & set(row)
    (item,) = json.loads(asky("runs", "export", "--format", "csl").out)
    assert set(item) == {"id", "type", "title", "accessed", "note"}


@pytest.mark.parametrize(
    ("name", "form"), [("Q.BIB", "bibtex"), ("q.csl.json", "csl"), ("q.ris", "ris"), ("Q.MD", "md")]
)
def test_an_answer_is_written_by_the_suffixes_of_an_export(asky: InProcess, name: str, form: str) -> None:
    answered(asky, output=name, author="Bly, Nellie")
    assert (asky.home / name).read_text("utf-8") == asky("runs", "export", "--format", form).out
