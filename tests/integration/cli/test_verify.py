"""`asky verify`: any text, sentence by sentence, against given documents."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.in_process import InProcess

FOUNDRY = (
    "# The foundry\n\nThe foundry of Marsk was founded in 1874 by Ida Holm and employed 312 people in 1911. "
    "A fire destroyed the northern hall on 3 May 1911. The company did not rebuild the hall.\n\n"
    "The director said: “Iron has made this town, and iron will keep it.”\n"
)
HARBOUR = (
    "# The harbour\n\nThe harbour of Marsk freezes in about one winter out of nine. "
    "Its lighthouse is 41 metres high and has been automatic since 1979.\n"
)
REPORT = """# Marsk, a short history

The foundry was founded in 1874 by Ida Holm [1]. Was it large? It employed 312 people in 1911 [1].

The lighthouse of the harbour is 41 metres high and automatic since 1979 [2].

## Sources

[1] foundry.md
[2] harbour.md
"""


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    docs = home / "docs"
    docs.mkdir(parents=True)
    (docs / "foundry.md").write_text(FOUNDRY)
    (docs / "harbour.md").write_text(HARBOUR)
    run = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(home / "no model"))
    return run


def verified(asky: InProcess, text: str, name: str = "report.md") -> list[dict[str, Any]]:
    (asky.home / name).write_text(text)
    done = asky("verify", name, "-d", "docs", "--json")
    assert done.code == 0
    claims: list[dict[str, Any]] = done.json["claims"]
    return claims


def test_a_true_text_is_supported_sentence_by_sentence(asky: InProcess) -> None:
    (asky.home / "report.md").write_text(REPORT)
    done = asky("verify", "report.md", "-d", "docs", "--strict")
    assert done.code == 0
    assert done.out.splitlines() == [
        "✓ The foundry was founded in 1874 by Ida Holm.",
        "✓ It employed 312 people in 1911.",
        "✓ The lighthouse of the harbour is 41 metres high and automatic since 1979.",
        "",
        "3 statements: 3 supported",
    ]


def test_the_json_says_where_each_claim_and_its_passage_stand(asky: InProcess) -> None:
    (asky.home / "report.md").write_text(REPORT)
    found = asky("verify", "report.md", "-d", "docs", "--json").json
    assert list(found) == [
        "schema", "name", "path", "text", "claims", "counts", "references", "sources", "left_out", "warnings",
        "seconds", "unread", "unread_count",
    ]  # fmt: skip
    assert (found["schema"], found["name"]) == ("asky.claims/1", "report.md")
    assert found["counts"] == {"supported": 3, "partial": 0, "unsupported": 0, "contradicted": 0}
    assert [(each["n"], each["written"], each["names"]) for each in found["references"]] == [
        (1, "[1]", ["foundry.md"]),
        (2, "[2]", ["harbour.md"]),
    ]
    assert [each["title"] for each in found["sources"]] == ["The foundry", "The harbour"]
    claim = found["claims"][2]
    assert list(claim) == [
        "text", "start", "end", "statement", "citations", "verdict", "score", "reason", "checks", "passage",
        "better_passage",
    ]  # fmt: skip
    assert claim["text"] == found["text"][claim["start"] : claim["end"]]
    assert claim["text"].endswith("since 1979 [2].")
    assert (claim["citations"], claim["better_passage"]) == ([2], None)
    passage = claim["passage"]
    assert passage["source_id"] == found["references"][1]["source_ids"][0]
    assert HARBOUR[passage["start"] : passage["end"]] == passage["quote"]


FAULTS = [
    ("The foundry of Marsk employed 450 people in 1911.", "unsupported", "not in the passages: 450"),
    ("A fire destroyed the northern hall on 3 May 1921.", "unsupported", "not in the passages: May, 1921"),
    ("The company did rebuild the hall.", "contradicted", "differs by a negation"),
    ("The director said: “Iron has ruined this town, and it will go on.”", "unsupported", "not quoted from them"),
    ("Its ferries carry forty thousand cars to Finland each summer.", "unsupported", "no passage says it"),
]


def test_a_planted_fault_is_flagged_with_its_reason(asky: InProcess) -> None:
    found = verified(asky, "\n\n".join(sentence for sentence, _, _ in FAULTS))
    assert [claim["verdict"] for claim in found] == [verdict for _, verdict, _ in FAULTS]
    assert [reason in claim["reason"] for claim, (_, _, reason) in zip(found, FAULTS, strict=True)] == [True] * 5
    says = found[0]["checks"]["says"]["text"]
    assert says.startswith("The foundry of Marsk was founded in 1874 by Ida Holm and employed 312")


def test_a_right_claim_with_a_wrong_citation_is_said_as_such(asky: InProcess) -> None:
    wrong, right = verified(
        asky,
        "The harbour freezes in about one winter out of nine (foundry.md). "
        "A fire destroyed the northern hall ([log](foundry.md)).\n",
    )
    assert wrong["verdict"] == "unsupported"
    assert wrong["reason"].endswith("right claim with a wrong citation: “The harbour” says it")
    assert wrong["better_passage"]["title"] == "The harbour"
    assert (right["verdict"], right["better_passage"]) == ("supported", None)
    done = asky("verify", "report.md", "-d", "docs", "--strict")
    assert done.code == 12
    assert "1 statement is not supported by the documents, or not by the cited one" in done.err


def test_a_wrong_citation_of_a_source_that_says_a_part_is_a_fault_too(asky: InProcess) -> None:
    (asky.home / "docs" / "quay.md").write_text("# The quay\n\nThe harbour freezes, they say, but not the quay.\n")
    (found,) = verified(asky, "The harbour freezes in about one winter of the town (quay.md).\n")
    assert (found["verdict"], found["better_passage"]["title"]) == ("partial", "The harbour")
    assert asky("verify", "report.md", "-d", "docs", "--strict").code == 12


def test_a_wrong_page_is_named_beside_the_right_one(asky: InProcess) -> None:
    import pymupdf

    document = pymupdf.open()
    for text in (
        "The mill burned down in 1902 and was rebuilt of stone.",
        "The bridge over the river has seven arches.",
    ):
        document.new_page().insert_text((72, 72), text)
    document.save(asky.home / "docs" / "mill.pdf")
    wrong, right = verified(
        asky, "The bridge has seven arches [mill.pdf, p. 1]. The mill burned down in 1902 [mill.pdf, p. 1]."
    )
    assert wrong["verdict"] == "unsupported"
    assert "page 2 of the cited source says it, not page 1" in wrong["reason"]
    assert (right["verdict"], right["passage"]["page"]) == ("supported", 1)


def test_a_citation_of_none_of_the_documents_is_named_and_the_claim_judged_by_all(asky: InProcess) -> None:
    (asky.home / "report.md").write_text("The harbour freezes in about one winter out of nine (Smith et al., 2020).")
    done = asky("verify", "report.md", "-d", "docs", "--json")
    (claim,) = done.json["claims"]
    assert claim["verdict"] == "supported"
    assert "it cites (Smith et al., 2020), which is none of the given documents" in claim["reason"]
    assert done.json["warnings"] == ["cited, but none of the given documents: (Smith et al., 2020)"]


def test_a_cell_is_judged_with_the_heads_of_its_row_and_column(asky: InProcess) -> None:
    table = "| Building | Height | Automatic since |\n|---|---|---|\n| Lighthouse | 41 metres | 1985 |\n"
    height, since = verified(asky, table)
    assert (height["text"], height["statement"]) == ("41 metres", "Lighthouse; Height: 41 metres")
    assert height["verdict"] == "supported"
    assert (since["text"], since["checks"]["missing_numbers"]) == ("1985", ["1985"])


def write_html(path: Path) -> None:
    path.write_text(
        "<html><head><title>Marsk</title></head><body><nav>The menu has many entries.</nav><h1>History in 2 parts</h1>"
        '<p>The harbour freezes in one winter out of nine.<sup><a href="#fn1">1</a></sup> '
        'The foundry was founded in 1874<a href="docs/foundry.md">[2]</a>.</p>'
        "<table><tr><th>Building</th><th>Height</th></tr><tr><td>Lighthouse</td><td>41 metres</td></tr></table>"
        '<pre>x = 7</pre><ol><li id="fn1">The harbour <a href="#ref1">↩</a></li></ol></body></html>'
    )


def write_word(path: Path) -> None:
    import docx

    document = docx.Document()
    document.add_heading("History in 2 parts", 1)
    document.add_paragraph("The harbour freezes in one winter out of nine [1].")
    paragraph = document.add_paragraph("The foundry was founded in 1874")
    paragraph.add_run("2").font.superscript = True
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Building", "Height", "Lighthouse", "41 metres"], strict=True):
        cell.text = text
    document.add_heading("References", 1)
    document.add_paragraph("1. The harbour")
    document.add_paragraph("2. foundry.md")
    document.save(str(path))


def write_pdf(path: Path) -> None:
    import pymupdf

    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), "History in 2 parts", fontsize=20)
    page.insert_text((72, 120), "The harbour freezes in one winter out of nine [1].")
    page.insert_text((72, 150), "The foundry was founded in 1874 [2].")
    page.insert_text((72, 200), "References", fontsize=16)
    page.insert_text((72, 240), "[1] The harbour")
    page.insert_text((72, 260), "[2] foundry.md")
    document.save(path)


@pytest.mark.parametrize(
    ("name", "write", "cells"),
    [("text.html", write_html, 1), ("text.docx", write_word, 1), ("text.pdf", write_pdf, 0)],
)
def test_every_format_is_read_with_its_citations(asky: InProcess, name: str, write: Any, cells: int) -> None:
    write(asky.home / name)
    found = asky("verify", name, "-d", "docs", "--json").json
    assert [each["verdict"] for each in found["claims"]] == ["supported"] * (2 + cells)
    by_id = {each["source_id"]: each["title"] for each in found["sources"]}
    cited = [[by_id[id_] for id_ in each["source_ids"]] for each in found["references"]]
    assert cited == [["The harbour"], ["The foundry"]]
    assert [each["citations"] for each in found["claims"][:2]] == [[1], [2]]
    assert found["claims"][0]["text"].startswith("The harbour freezes in one winter out of nine")


def test_standard_input_is_verified(asky: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(b"The lighthouse is 41 metres high.\n"), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", given)
    found = asky("verify", "-", "-d", "docs", "--json").json
    assert (found["name"], found["path"], found["counts"]["supported"]) == ("standard input", None, 1)


def test_the_text_itself_is_no_source(asky: InProcess) -> None:
    text = "The moon is made of Danish cheese.\n"
    (asky.home / "docs" / "report.md").write_text(text)
    (asky.home / "docs" / "copy.md").write_text(text)
    done = asky("verify", "docs/report.md", "-d", "docs", "--json")
    assert done.json["claims"][0]["verdict"] == "unsupported"
    assert [Path(each).name for each in done.json["left_out"]] == ["copy.md", "report.md"]
    shown = asky("verify", "docs/report.md", "-d", "docs")
    assert "report.md: left out of the documents, as it is the text to verify" in shown.err


def test_the_page_shows_each_sentence_beside_its_passage(asky: InProcess) -> None:
    (asky.home / "report.md").write_text(REPORT.replace("It employed 312", "The foundry of Marsk employed 450"))
    done = asky("verify", "report.md", "-d", "docs", "-o", "page.html")
    page = (asky.home / "page.html").read_text()
    assert done.code == 0
    assert 'class="claim unsupported"' in page
    assert page.count('class="row"') == 3
    assert "Marsk, a short history" in page
    assert "<mark>The foundry of Marsk was founded in 1874 by Ida Holm and employed 312 people in 1911.</mark>" in page
    assert "Was it large?" in page


@pytest.mark.parametrize(
    ("name", "content", "code", "message"),
    [
        ("missing.md", None, 2, "cannot read missing.md: no such file or directory"),
        ("docs", None, 2, "docs: a folder, not a text"),
        ("empty.md", b"", 1, "empty.md: the file is empty"),
        ("binary.bin", bytes(range(256)) * 20, 1, "binary.bin: not a text that can be read"),
        ("fake.docx", b"no zip at all", 1, "fake.docx: not a text that can be read"),
        ("old.docx", b"\xd0\xcf\x11\xe0" + bytes(600), 1, "encrypted, or in the format of Office before 2007"),
        ("heads.md", b"# One\n\n```\ncode\n```\n\nWhy?\n", 1, "heads.md: no statement to verify"),
    ],
)
def test_a_text_that_cannot_be_verified_is_refused_in_one_line(
    asky: InProcess, name: str, content: bytes | None, code: int, message: str
) -> None:
    if content is not None:
        (asky.home / name).write_bytes(content)
    done = asky("verify", name, "-d", "docs")
    assert done.code == code
    assert message in done.err
    assert not done.out


def test_documents_without_text_are_refused(asky: InProcess) -> None:
    (asky.home / "report.md").write_text(REPORT)
    (asky.home / "nothing").mkdir()
    nothing = asky("verify", "report.md", "-d", "nothing")
    assert (nothing.code, "the given documents have no text" in nothing.err) == (2, True)
    alone = asky("verify", "docs/harbour.md", "-d", "docs/harbour.md")
    assert (alone.code, "no text but the one to verify" in alone.err) == (2, True)
    unnamed = asky("verify", "report.md")
    assert (unnamed.code, "no documents to verify against" in unnamed.err) == (2, True)
    suffix = asky("verify", "report.md", "-d", "docs", "-o", "page.pdf")
    assert (suffix.code, "page.pdf: not .html or .json" in suffix.err) == (2, True)
