"""`asky papers table`: what papers say about each column, in their words with the page, or as a model puts it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, Problem, Request
from tests.support.in_process import InProcess
from tests.support.papers import shown_keys


def rows_of(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in text.splitlines()]


def test_cells_are_quoted_with_their_page_and_empty_where_nothing_is_said(command: InProcess) -> None:
    done = command("papers", "table", "--columns", "What tides does the sun raise?, licence", "-v")
    assert done.code == 0, done.err
    head, _, bread, tides = rows_of(done.out)
    assert head == ["Paper", "What tides does the sun raise?", "licence"]
    assert bread == ["Bread and yeast (10.5555/b1)", "-", "-"]
    assert tides[0] == "On the tides of nine harbours (2101.00001v2)"
    assert tides[1] == (
        "“The sun raises tides that are less than half as high as those of the moon.” [2101.00001v2, page 3]"
    )
    assert "table" in done.err


def test_the_json_has_offsets_into_the_texts(command: InProcess) -> None:
    made = command("papers", "table", "--columns", "why does bread rise?", "bread", "--json").json
    assert (made["schema"], made["columns"], made["model"]) == (
        "asky.paper_table/1",
        ["why does bread rise?"],
        "extractive",
    )
    (row,) = made["rows"]
    (cell,) = row["cells"]
    assert (row["paper"]["paper"], cell["text"]) == ("10.5555/b1", "Bread rises because yeast makes gas from sugar.")
    (quote,) = cell["quotes"]
    assert (quote["page"], quote["text"], quote["end"] - quote["start"]) == (1, cell["text"], len(cell["text"]))


def test_a_model_fills_cells_that_are_checked(command: InProcess, model: Endpoint) -> None:
    def fill(request: Request) -> str:
        sent = str(request.messages)
        key = shown_keys(request.messages)[0]
        if "yeast" not in sent:
            return "I could not find an answer in the sources."
        return f"- Cause: gas made by yeast [{key}]\n- Flour: 900 grams of rye [{key}]\n- Baker: not stated"

    model.play(fill, fill, fill, fill)
    done = command("papers", "table", "--columns", "cause,flour,baker", "-m", "far", "bread")
    assert done.code == 0, done.err
    _, _, (paper, cause, flour, baker) = rows_of(done.out)
    assert paper.startswith("Bread and yeast")
    assert cause == "gas made by yeast “Bread rises because yeast makes gas from sugar.” [10.5555/b1, page 1]"
    assert flour.startswith("900 grams of rye ⚠ unsupported")
    assert baker == "-"
    assert [each["session"] for each in command("runs", "list", "--json").json["runs"]] == ["papers table"]


def test_a_row_that_failed_ends_no_other(command: InProcess, model: Endpoint) -> None:
    model.play(Problem("bad_request"), lambda request: f"- sea: wet water [{shown_keys(request.messages)[0]}]", "x")
    done = command("papers", "table", "--columns", "sea rises", "-m", "far", "--json")
    assert done.code == 0, done.err
    assert [each["failure"] is not None for each in done.json["rows"]] == [True, False]
    model.play(Problem("bad_request"), Problem("bad_request"))
    assert command("papers", "table", "--columns", "sea rises", "-m", "far").code != 0


def test_the_papers_are_those_named_listed_or_found(command: InProcess, tmp_path: Path) -> None:
    def papers(*arguments: str) -> list[str]:
        done = command("papers", "table", "--columns", "n", *arguments, "--json")
        assert done.code == 0, done.err
        return [each["paper"]["id"] for each in done.json["rows"]]

    assert papers() == ["10.5555/b1", "2101.00001"]
    assert papers("dough", "rising", "warm") == ["10.5555/b1"]
    command("papers", "find", "tides")
    assert papers() == papers("1") == papers("2101.00001v2") == ["2101.00001"]
    done = command("papers", "table", "--columns", "sun,moon", "-o", str(tmp_path / "t.csv"))
    assert (done.code, done.out, done.err.endswith(f"wrote {tmp_path / 't.csv'}\n")) == (0, "", True)
    head, row = csv.reader((tmp_path / "t.csv").read_text().splitlines())
    assert head[:6] == ["paper", "title", "sun", "sun (page)", "sun (quote)", "sun (verdict)"]
    assert row[0] == "2101.00001v2"


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        ("", [], "no columns are named"),
        (" , ", [], "no columns are named"),
        (",".join(f"c{number}" for number in range(100)), [], "100 columns: at most 12"),
        ("x" * 1000, [], "a column is longer than 100 characters"),
        ("n,N", [], "the column 'n' is named twice"),
        ("n", ["2101.99999"], "2101.99999: no paper of the library"),
        ("n", ["bread", "cheese"], "cheese: no paper of the library"),
        ("n", ["9"], "no paper 9"),
    ],
)
def test_what_cannot_be_a_table_is_refused(command: InProcess, columns: str, names: list[str], message: str) -> None:
    done = command("papers", "table", "--columns", columns, *names)
    assert (done.code, message in done.err) == (2, True), done.err


def test_nothing_about_a_query_and_a_foreign_suffix_are_told(command: InProcess) -> None:
    nothing = command("papers", "table", "--columns", "n", "quantum", "chromodynamics")
    assert (nothing.code, 'No papers found relevant to query: "quantum chromodynamics"' in nothing.err) == (11, True)
    assert command("papers", "table", "--columns", "n", "-o", "table.xlsx").code == 2
