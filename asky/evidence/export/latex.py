"""Answers as a LaTeX document that compiles by itself, with the keys that their bibliography has.

Sources: Lamport, LaTeX, 2nd edition, appendix C, for what `\\\\`, `\\item` and `\\cite` read after them; the manuals of
hyperref and ulem. XeLaTeX and LuaLaTeX print all scripts that their font has, pdfLaTeX those of Europe and `_SYMBOLS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from asky.evidence.citations.scanner import AnswerScanner
from asky.evidence.export.bibliography import plain_url
from asky.evidence.export.works import Reference, cited_works, keys_of_sources
from asky.evidence.marks import WARNING_SIGN, early_end
from asky.text.markdown import markdown_parser
from asky.text.scrub import one_line, scrub

if TYPE_CHECKING:
    from markdown_it.token import Token

_HEAD = r"""\documentclass{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
\fi
\usepackage[normalem]{ulem}
\usepackage{hyperref}
\begin{document}
"""
_SPECIAL: Mapping[str, str] = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{char: f"\\{char}" for char in "&%$#_"},
    }
)
_NAMED = """
    α alpha β beta γ gamma δ delta ε varepsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho
    σ sigma τ tau υ upsilon φ varphi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi
    Ω Omega ≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ∝ propto ∞ infty ∂ partial ∇ nabla ∑ sum ∏ prod ∫ int √ surd ∈ in
    ∉ notin ⊂ subset ⊆ subseteq ∪ cup ∩ cap ∅ emptyset ∀ forall ∃ exists → rightarrow ← leftarrow ↔ leftrightarrow
    ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ∧ wedge ∨ vee ⋅ cdot ⟨ langle ⟩ rangle"""
_SYMBOLS: Mapping[str, str] = MappingProxyType(
    {sign: f"\\ensuremath{{\\{name}}}" for sign, name in re.findall(r"(\S) (\w+)", _NAMED)}
    | {"−": r"\ensuremath{-}", WARNING_SIGN: "(!)"}
)
_ESCAPES = str.maketrans({**_SPECIAL, **_SYMBOLS})
_LIGATURE = re.compile(r"([-<>,'`])(?=\1)|([?!])(?=`)")
_PLAIN_LABEL = re.compile(r"[\w.-]+")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_OPEN, _CLOSE = "\ue000", "\ue001"  # around the number of a citation, in the Markdown that is parsed
_MARKED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_HEADINGS = ("section", "subsection", "subsubsection", "paragraph")
_AROUND: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "blockquote": ("\\begin{quote}\n", "\\end{quote}\n\n"),
        "bullet_list": ("\\begin{itemize}\n", "\\end{itemize}\n\n"),
        "ordered_list": ("\\begin{enumerate}\n", "\\end{enumerate}\n\n"),
        "list_item": ("\\item{} ", ""),
        "strong": ("\\textbf{", "}"),
        "em": ("\\emph{", "}"),
        "s": ("\\sout{", "}"),
    }
)
_DEEPEST = 4  # lists and quotations in each other: LaTeX has no more of one kind


def answers_latex(answers: Iterable[Mapping[str, Any]]) -> str:
    """Return `asky.answer/1` objects as a LaTeX document: each as a section, and the sources that they cite.

    `[1]` becomes `\\cite[p.~5]{lewis2020retrieval}`, with the key that `bibliography` gives the source. All else is
    escaped: nothing in an answer is a command. Linear time.
    """
    listed = list(answers)
    works = cited_works(listed)
    keys = keys_of_sources(listed, works)
    body = "".join(_answer(each, keys) for each in listed)
    return f"{_HEAD}\n{body}{_bibliography(works)}\\end{{document}}\n"


def latex_text(text: str) -> str:
    """Return `text` so that LaTeX prints it as it is, without ligatures of signs."""
    apart = _LIGATURE.sub(lambda match: f"{match[0]}\x00", text)
    return apart.translate(_ESCAPES).replace("\x00", "{}")


def _answer(answer: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    cites = {each["n"]: _cite(each, keys) for each in answer["citations"]}
    parser = markdown_parser()
    written = _Writer(cites).blocks(parser.parse(_with_signs(answer["answer"])))
    ended = early_end(answer)
    note = f"\\emph{{{latex_text(ended)}}}\n\n" if ended else ""
    return f"\\section*{{{latex_text(one_line(answer['question'], None))}}}\n\n{written}{note}"


def _with_signs(text: str) -> str:
    """Return Markdown with the numbers of its citations between signs that it cannot contain otherwise."""
    scanner = AnswerScanner(numbered=True)
    bare = scrub(text).replace(_OPEN, "").replace(_CLOSE, "").replace("\x00", "")
    pieces = scanner.feed(bare) + scanner.close()
    return "".join(f"{_OPEN}{each.source[1:-1]}{_CLOSE}" if each.kind == "number" else each.source for each in pieces)


def _cite(citation: Mapping[str, Any], keys: Mapping[str, str]) -> str:
    place = citation.get("page_label") or citation.get("page")
    label = latex_text(one_line(str(place), None)) if place is not None else ""
    page = f"p.~{label}" if _PLAIN_LABEL.fullmatch(label) else f"{{p.~{label}}}"
    return f"\\cite{f'[{page}]' if label else ''}{{{keys[citation['source_id']]}}}"


class _Writer:
    """Writes the tokens of one answer."""

    def __init__(self, cites: Mapping[int, str]) -> None:
        self._cites = cites
        self._depth = 0

    def blocks(self, tokens: Sequence[Token]) -> str:
        """Return block tokens as LaTeX."""
        return "".join(self._block(tokens, position) for position in range(len(tokens)))

    def _block(self, tokens: Sequence[Token], position: int) -> str:
        token = tokens[position]
        kind, _, end = token.type.rpartition("_")
        if token.type == "inline":
            return self._inline(token.children or ())
        if token.type in ("fence", "code_block"):
            return _code_block(token.content)
        if kind == "heading":
            command = _HEADINGS[min(int(token.tag[1]), len(_HEADINGS) - 1)]
            return f"\\{command}*{{" if end == "open" else "}\n\n"
        if kind in ("bullet_list", "ordered_list", "blockquote"):
            self._depth += 1 if end == "open" else -1
            is_too_deep = self._depth + (end == "close") > _DEEPEST
            return "\n\n" if is_too_deep else _AROUND[kind][end == "close"]
        if kind == "list_item" and self._depth > _DEEPEST:
            return "\n\n-- " if end == "open" else ""
        if kind == "paragraph":
            return "" if end == "open" else "\n" if token.hidden else "\n\n"
        if kind in _AROUND:
            return _AROUND[kind][end == "close"]
        return self._table(tokens, position)

    def _table(self, tokens: Sequence[Token], position: int) -> str:
        token = tokens[position]
        if token.type == "table_open":
            end = next(place for place in range(position, len(tokens)) if tokens[place].type == "tr_close")
            columns = sum(each.type == "th_open" for each in tokens[position:end])
            width = f"{0.9 / max(columns, 1):.3f}"
            return "\\noindent\\begin{tabular}{" + f"p{{{width}\\linewidth}}" * columns + "}\n"
        if token.type in ("th_open", "td_open"):
            is_first = tokens[position - 1].type == "tr_open"
            return "{}" if is_first else " & "
        fixed = {"tr_close": " \\\\\n", "thead_close": "\\hline\n", "table_close": "\\end{tabular}\n\n"}
        return fixed.get(token.type, "")

    def _inline(self, tokens: Sequence[Token]) -> str:
        made, last = list[str](), ""
        for token in tokens:
            if token.type != "text":
                made.append(self._piece(token))
                last = ""
                continue
            for number, text in enumerate(_MARKED.split(token.content)):  # text, number, text, ...
                if not number % 2:
                    made.append(latex_text(text))
                    last = last if not text.strip() else ""
                elif (cite := self._cites.get(int(text), f"[{text}]")) != last:
                    made.append(f"{{}}{cite}")
                    last = cite
        return "".join(made)

    def _piece(self, token: Token) -> str:
        if token.type == "code_inline":
            return f"\\texttt{{{latex_text(_bare(token.content))}}}"
        if token.type == "image":
            return latex_text(_bare(token.content))
        if token.type in ("softbreak", "hardbreak"):
            return "\n" if token.type == "softbreak" else "\\newline{}\n"
        if token.type == "link_open":
            url = str(token.attrs.get("href", ""))
            return f"\\href{{{_href(url)}}}{{" if _WEB.match(url) else "{"
        if token.type == "link_close":
            return "}"
        kind, _, end = token.type.rpartition("_")
        return _AROUND[kind][end == "close"] if kind in _AROUND else latex_text(_bare(token.content))


def _bare(text: str) -> str:
    """Return a text that is no prose, with its numbers in brackets again."""
    return _MARKED.sub(r"[\1]", text)


def _href(url: str) -> str:
    return re.sub(r"[%#&]", lambda match: f"\\{match[0]}", plain_url(_bare(url)))


def _code_block(text: str) -> str:
    lines = (_bare(text).rstrip("\n") or " ").split("\n")
    shown = "\\newline{}\n".join(f"\\mbox{{}}{latex_text(line).replace(' ', '~')}" for line in lines)
    return f"\\begin{{quote}}\\ttfamily\n{shown}\n\\end{{quote}}\n\n"


def _bibliography(works: Sequence[Reference]) -> str:
    if not works:
        return ""
    entries = "".join(f"\\bibitem{{{work.key}}} {_entry(work)}\n" for work in works)
    return f"\\begin{{thebibliography}}{{{len(works)}}}\n{entries}\\end{{thebibliography}}\n"


def _entry(work: Reference) -> str:
    title = f"\\emph{{{latex_text(work.title)}}}"
    parts = (latex_text(work.author_names), title, latex_text(work.published), latex_text(work.named_id))
    address = f" \\url{{{plain_url(work.url)}}}" if work.url else ""
    return ". ".join(part.rstrip(".") for part in parts if part) + f".{address}"
