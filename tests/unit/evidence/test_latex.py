"""An answer as LaTeX: keys and pages of its citations, and nothing in it that is a command."""

from __future__ import annotations

import re
from typing import Any

import pytest

from asky.evidence.export.bibliography import bibliography
from asky.evidence.export.latex import answers_latex, latex_text

SPECIALS = r"\ { } $ & # % _ ^ ~ -- ``a'' <<b>> ?`"


def citation(n: int, source: str = "s1", **others: Any) -> dict[str, Any]:
    return {
        "n": n, "source_id": source, "kind": "paper", "url": "https://arxiv.org/abs/2005.11401v4", "path": None,
        "title": "Retrieval-Augmented Generation", "page": 5, "page_label": None, "section": None, "start": 0, "end": 1,
        "quote": "x", "sha256": "0", "fetched_at": None, "authors": ["Lewis, Patrick"], "published": "2020-05-22",
        "published_in": None, "doi": None,
    } | others  # fmt: skip


def answer(text: str, *citations: dict[str, Any], question: str = "What is it?") -> dict[str, Any]:
    return {"run": "r", "question": question, "answer": text, "citations": citations, "claims": [], "stopped_by": None}


def body_of(text: str, *citations: dict[str, Any]) -> str:
    made = answers_latex([answer(text, *citations)])
    return made.partition("\\section*{What is it?}\n\n")[2].partition("\\begin{thebibliography}")[0]


def test_a_citation_names_the_key_of_the_bibliography_and_the_page() -> None:
    cited = [citation(1), citation(2, page=3, page_label="iii"), citation(3, "s2", url=None, page=None)]
    made = answers_latex([answer("It works [1][2]. Well [1]. So [3].", *cited)])
    assert "It works {}\\cite[p.~5]{lewis2020retrieval}{}\\cite[p.~iii]{lewis2020retrieval}. Well" in made
    assert "So {}\\cite{lewis2020retrievala}." in made
    keys = re.findall(r"\\bibitem\{(\w+)\}", made)
    assert keys == re.findall(r"@misc\{(\w+),", bibliography([answer("", *cited)], "bibtex"))
    assert (
        "\\bibitem{lewis2020retrieval} Patrick Lewis. \\emph{Retrieval-Augmented Generation}. 2020-05-22."
        " arXiv:2005.11401. \\url{https://arxiv.org/abs/2005.11401v4}\n"
    ) in made


def test_one_page_cited_twice_in_a_row_is_cited_once() -> None:
    assert body_of("So [1][2].", citation(1), citation(2)) == "So {}\\cite[p.~5]{lewis2020retrieval}.\n\n"


def test_all_that_latex_reads_in_its_own_way_is_escaped() -> None:
    assert latex_text(SPECIALS) == (
        r"\textbackslash{} \{ \} \$ \& \# \% \_ \textasciicircum{} \textasciitilde{} -{}- `{}`a'{}' <{}<b>{}> ?{}`"
    )
    assert latex_text("α ≤ ⚠") == r"\ensuremath{\alpha} \ensuremath{\leq} (!)"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("# A_b\n\nText", "\\subsection*{A\\_b}\n\nText\n\n"),
        ("- [x] one\n- *two*", "\\begin{itemize}\n\\item{} [x] one\n\\item{} \\emph{two}\n\\end{itemize}\n\n"),
        ("`a_b [1]` and ~~[P9?]~~", "\\texttt{a\\_b [1]} and \\sout{[P9?]}\n\n"),
        ("see [it](https://a.b/c%20d_e?x=1&y=2#f)", "see \\href{https://a.b/c\\%20d_e?x=1\\&y=2\\#f}{it}\n\n"),
        ("\\[1]", "[1]\n\n"),
        ("| a | b |\n|---|---|\n| [c] | d |",
         "\\noindent\\begin{tabular}{p{0.450\\linewidth}p{0.450\\linewidth}}\n{}a & b \\\\\n\\hline\n{}[c] & d \\\\\n"
         "\\end{tabular}\n\n"),
        ("```\na  b\n\\end{quote}\n```",
         "\\begin{quote}\\ttfamily\n\\mbox{}a~~b\\newline{}\n\\mbox{}\\textbackslash{}end\\{quote\\}\n\\end{quote}\n\n"),
    ],
)  # fmt: skip
def test_markdown_becomes_latex(text: str, made: str) -> None:
    assert body_of(text, citation(1)) == made


def test_a_hostile_answer_has_no_commands_of_its_own() -> None:
    hostile = "\\input{/etc/passwd} $x$ ^^5cinput \\end{document} \ue0001\ue001 % gone\n\n" + "- " * 30 + "x"
    title = "\\write18{x} } \\bibitem"
    made = answers_latex([answer(f"{hostile} [1]", citation(1, title=title), question=title)])
    commands = set(re.findall(r"\\([A-Za-z]+)", made))
    assert not commands & {"input", "write"}
    assert made.count("\\end{document}") == 1
    assert made.count("\\bibitem{") == 1
    assert made.count("\\begin{itemize}") == made.count("\\end{itemize}") == 4
    assert made.count("{") - made.count("\\{") == made.count("}") - made.count("\\}")
