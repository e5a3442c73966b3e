"""Answers from the library as files: Markdown with pages, a report, LaTeX, and what refers to them."""

from __future__ import annotations

from pathlib import Path

from tests.support.in_process import InProcess

QUERY = "What tides does the sun raise?"


def test_an_answer_is_written_in_each_format(command: InProcess, tmp_path: Path) -> None:
    names = ("a.md", "a.tex", "a.html", "a.json", "a.bib")
    for name in names:
        assert command("papers", "research", QUERY, "-o", str(tmp_path / name)).code == 0
    markdown = (tmp_path / "a.md").read_text()
    assert markdown.startswith('---\nquestion: "What tides does the sun raise?"\n')
    assert "those of the moon. [2101.00001v2, page 3]" in markdown
    assert "\n\n## References\n\n1. 2101.00001v2 - On the tides of" in markdown
    tex = (tmp_path / "a.tex").read_text()
    assert "those of the moon. {}\\cite[p.~3]{marsh2021tides}" in tex
    assert "\\bibitem{marsh2021tides} Ann Marsh. \\emph{On the tides of nine harbours}. 2021-02-03. arXiv:" in tex
    assert "@misc{marsh2021tides," in (tmp_path / "a.bib").read_text()
    assert "@misc{marsh2021tides," in command("papers", "export").out
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def test_the_last_answer_is_saved_and_exported_later(command: InProcess, tmp_path: Path) -> None:
    command("papers", "research", QUERY)
    assert command("papers", "save", str(tmp_path / "b.tex")).code == 0
    assert (tmp_path / "b.tex").read_text() == command("runs", "export", "--format", "tex").out
    command("papers", "save", str(tmp_path / "b.md"))
    exported = command("runs", "export", "--format", "md").out
    assert exported.partition("# What tides does the sun raise?\n\n")[2] == (tmp_path / "b.md").read_text()
    assert "\\cite[p.~3]{marsh2021tides}" in command("session", "export", "papers", "--format", "tex").out
    assert command("runs", "export", "--bundle", str(tmp_path / "b.zip")).code == 0
    assert command("runs", "verify", str(tmp_path / "b.zip")).code == 0
