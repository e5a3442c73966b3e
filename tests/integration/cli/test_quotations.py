"""What the built-in model quotes is shown as quoted, and never marked, in JSON, on the terminal and on the page."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from tests.support.here import run_here
from tests.support.quotations import accused_quotations

pytestmark = pytest.mark.model

PROTOCOL = """PROTOCOL: Dyeing wool with madder, version 2
Author: K. Brandt

MATERIALS
- Bath A: 40 g alum in 4 l water. Prepare fresh. Keep below 60 C.
- Bath B: 100 g madder root, ground. Soak overnight.

PROCEDURE
1. Simmer 200 g of wool in bath A for 45 min. Pour the bath away.
2. Rinse the wool in 5 l of water. No alum should remain.
3. Add 100 ml of vinegar and stir six times. Do NOT boil: this turns the red brown.
4. Warm bath B to 70 C. Leave the wool in it for 2 hours.
"""
PREMISES = """# Inventory

The rooms were seen on 3 May 2024; 4 of them were painted for 1.2 thousand euros, 12 per cent more than planned.

| item | room | state |
|---|---|---|
| four chairs | living room | good |
| one bed | bedroom 1 | good |
| desk | bedroom 2 | worn |

## Result

The loss of the year was (1,200) euros. Painting 4 rooms took 9 days in good weather.
"""
QUESTIONS = (
    "For how long do I simmer the wool?",
    "What is in bath A?",
    "Why must I not boil?",
    "How do I dye wool?",
    "Which chairs are in the living room?",
    "Which floor is the living room on?",
    "How many rooms were painted?",
    "What was the loss of the year?",
    "What sheets are in the workbook?",
    "Summarise the inventory",
    "Who wrote the protocol?",
    "What does Beech cost?",
)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "protocol.txt").write_text(PROTOCOL, "utf-8")
    (folder / "inventory.md").write_text(PREMISES, "utf-8")
    book = openpyxl.Workbook()
    for title, rows in {"Staff": [["Ann", 3], ["Bo", 4]], "Wood": [["Beech", 12.5], ["Oak", 19]]}.items():
        sheet = book.create_sheet(title)
        for row in [["Name", "Value"], *rows]:
            sheet.append(row)
    del book["Sheet"]
    book.save(folder / "workbook.xlsx")
    return folder


def test_no_quotation_is_marked(tmp_path: Path, documents: Path) -> None:
    quoted = 0
    for question in QUESTIONS:
        done = run_here("-r", "-q", "--json", "-d", str(documents), question, home=tmp_path)
        answer = json.loads(done.stdout)
        assert list(accused_quotations(answer)) == [], question
        for claim in answer["claims"]:
            if place := claim["checks"].get("quotation"):
                quoted += 1
                assert (claim["verdict"], claim["score"], claim["checks"]["contradicted_by"]) == ("supported", 1, None)
                passage = next(each["quote"] for each in answer["citations"] if each["n"] == place["n"])
                assert passage[place["start"] : place["end"]].strip()
    assert quoted > len(QUESTIONS)


def test_each_sentence_of_an_item_is_quoted_everywhere(tmp_path: Path, documents: Path) -> None:
    page = tmp_path / "answer.html"
    done = run_here(
        "-r", "-v", "-o", str(page), "-d", str(documents / "protocol.txt"), QUESTIONS[0], home=tmp_path
    )  # fmt: skip
    assert "Simmer 200 g of wool in bath A for 45 min. [1] Pour the bath away. [1]" in done.stdout
    assert "cite" not in done.stderr
    assert "quoted" in run_here("runs", "show", home=tmp_path).stdout
    shown = page.read_text("utf-8")
    assert "<strong>Simmer 200 g of wool in bath A for 45 min.</strong>" in shown
    assert "⚠ uncited" not in shown


def test_the_sheets_of_a_workbook_are_quoted(tmp_path: Path, documents: Path) -> None:
    book = str(documents / "workbook.xlsx")
    done = run_here("-r", "-q", "--json", "-d", book, "What sheets are in this workbook?", home=tmp_path)
    claims = json.loads(done.stdout)["claims"]
    assert [each["text"].split()[0] for each in claims] == ["Staff", "Wood"]
    assert all(each["checks"]["quotation"] for each in claims)


def test_a_text_that_quotes_is_told_from_one_that_alters(tmp_path: Path, documents: Path) -> None:
    text = (
        "Painting 4 rooms took 9 days in good weather. Simmer 200 g of wool in bath A for 45 min. "
        "Simmer 300 g of wool in bath A for 45 min. The loss of the year was (1,200) euros."
    )
    done = run_here("verify", "-", "--json", "-d", str(documents), home=tmp_path, stdin=text)
    claims = json.loads(done.stdout)["claims"]
    assert [bool(each["checks"].get("quotation")) for each in claims] == [True, True, False, True]
    assert [each["verdict"] == "supported" for each in claims] == [True, True, False, True]


def test_a_property_of_a_note_is_quoted_once_with_one_mark_of_a_list(tmp_path: Path) -> None:
    lists = '---\npages: 528\nauthor:\n  - "[[Kevin Kelly]]"\ngenre:\n  - "[[Futurism]]"\n---\n'
    note = f"{lists}\nA book about hives and machines.\n"
    (tmp_path / "Out of Control.md").write_text(note, "utf-8")
    done = run_here("-d", "Out of Control.md", "--json", "Who is the author?", home=tmp_path)
    answer = json.loads(done.stdout)
    assert "Kevin Kelly" in answer["answer"]
    assert "- -" not in answer["answer"]
    assert {each["verdict"] for each in answer["claims"]} == {"supported"}


def test_no_index_of_a_path_is_struck_out_of_an_answer_or_of_the_question_that_it_repeats(tmp_path: Path) -> None:
    guide = (
        "# Reading results\n\nTake `data.rows[0].cells[2]` for the owner. If errors[0] is empty, nothing was wrong.\n\n"
        "1. Read response.items[1].price first.\n2. Write it to out[2] = price. Then close the file.\n"
    )
    (tmp_path / "guide.md").write_text(guide, "utf-8")
    found = run_here("-d", "guide.md", "What if errors[0] is empty?", home=tmp_path).stdout
    assert "If `errors[0]` is empty, nothing was wrong. [1]" in found
    refused = run_here("-d", "guide.md", "Which colour has out[2] in Dublin?", home=tmp_path).stdout
    assert "~~" not in found + refused
    assert "for “Which colour has `out[2]` in Dublin?”" in refused


README = """# Sluice

[![Python versions](https://badge.test/versions.svg)](https://index.test/sluice)
![Downloads](https://badge.test/downloads.svg)

Sluice opens and shuts the gates of a harbour by the tide.

## Citing Sluice

- Vane, R. Sluice: A Tool for Harbour Gates that does it all. Proceedings of the Weir Meeting, 2021, p. 12-19.

```
@misc{sluice,
  title = {What Sluice does},
  author = {Vane, Ruth}
}
```
"""


def test_badges_and_works_that_a_text_cites_answer_only_questions_about_them(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(README, "utf-8")
    for question in ("What Python versions does Sluice support?", "What does Sluice do?"):
        answer = run_here("-d", "README.md", question, home=tmp_path).stdout.partition("Searched ")[0]
        assert not any(each in answer for each in ("Downloads", "Vane", "Python versions", "title =")), question
    assert "@misc{sluice," in run_here("-d", "README.md", "How do I cite Sluice?", home=tmp_path).stdout
