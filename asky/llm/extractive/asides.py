"""What stands in a document and is no sentence of it: pictures by their names alone, and entries of bibliographies.

A line of badges, "[Picture: Python versions]", or the title of a work that the document cites has words of many
questions and answers none, but those about pictures and about works.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from asky.llm.extractive.forms import is_code_name
from asky.llm.extractive.pieces import code_in
from asky.text.terms import terms_of

_ALT = r"(?:[^\[\]\n]|\[[^\[\]\n]*\]){0,1000}"
_TARGET = r"\((?:[^()\s]|\([^()\s]*\)){0,2000}(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
_LABEL = r"\[[^\[\]\n]{0,200}\]"
_MARKDOWN = rf"!\[{_ALT}\](?:{_TARGET}|{_LABEL})"
# As readers of asky show pictures, in Markdown, HTML, wikilinks, reStructuredText, AsciiDoc, and the RTF of pandoc.
_PICTURE = re.compile(
    rf"\[{_MARKDOWN}(?:\s*{_MARKDOWN}){{0,5}}\](?:{_TARGET}|{_LABEL})|{_MARKDOWN}"
    rf"|\[[Pp]icture: (?P<told>{_ALT})\]|\[[Ii]mage: {_ALT}\]"
    r"|!\[\[[^|#\]\n]{1,200}\.(?:avif|bmp|gif|jpe?g|png|svg|webp)[ \t]*(?:[|#][^\]\n]{0,200})?\]\]"
    r"|<img\b[^<>]{0,4000}>"
    r"|^[ \t]*\.\. (?:\|[^|\n]{1,100}\| )?(?:image|figure)::[^\n]*(?:\n[ \t]+:[\w-]+:[^\n]*)*"
    r"|^[ \t]*(?:\|[\w -]{1,60}\|_{0,2}[ \t]*){2,}$"  # names that such directives give to pictures
    r"|(?:(?:link:)?https?://[^\s\[\]]+\[)?\bimage::?[^\s\[\]]+\[[^\[\]\n]*\]\]?",
    re.MULTILINE | re.IGNORECASE,
)
_SIGNS = ("![", "icture: ", "mage: ", "<img", "<IMG", "image:", "figure:", "| |")
_TAG = re.compile(r"<[^<>]{1,2000}>")
_MARKER = re.compile(r"[ \t>]*(?:\d{1,3}[.)][ \t])?")
_SAYS_SOMETHING = re.compile(r"(?:\S+\s+){4}.*[.!?…]\s*$")  # a sentence, unlike the name of a badge or a logo
_ASKS_PICTURES = re.compile(
    r"\b(?:pictures?|images?|photo\w*|fig(?:ure)?s?|diagrams?|drawings?|drawn|charts?|logos?|icons?|badges?|"
    r"screen ?shots?|illustrat\w*|maps?|graphs?|plots?|paintings?|sketch\w*|cartoons?|posters?|captions?|covers?|"
    r"alt(?:ernative)? texts?|depict\w*|visible|looks? like)\b",
    re.IGNORECASE,
)

_BIBTEX_FIELD = r"[ \t]*[A-Za-z][\w-]{1,30}[ \t]*=[ \t]*[{\"\w][^\n]*"
_BIBTEX = re.compile(
    r"^[ \t]*@(?:article|book|booklet|collection|conference|dataset|electronic|inbook|incollection|inproceedings|"
    r"manual|mastersthesis|misc|online|patent|phdthesis|proceedings|report|software|techreport|thesis|unpublished|www)"
    r"[ \t]*\{"
    rf"[^\n]*(?:\n(?:{_BIBTEX_FIELD}|(?![ \t]*[}}@])[ \t]+\S[^\n]*|[ \t]*(?=\n{_BIBTEX_FIELD})))*(?:\n[ \t]*\}}+)?",
    re.IGNORECASE | re.MULTILINE,
)
# The rest of an entry that begins in the passage before.
_BIBTEX_BEGUN = re.compile(r"\A(?:[ \t]*[A-Za-z][\w-]{1,30}[ \t]*=[ \t]*[{\"\w][^\n]*,[ \t]*\n)+[^\n]*\n?[ \t]*\}")
_NAME = r"(?:(?:van|von|de|der|den|la|le|di|da|el|al) ){0,2}[A-ZÀ-Þ][\w'’`-]+"
_INITIALS = r"(?:[A-ZÀ-Þ]\.?(?:[ -]?[A-ZÀ-Þ]\.?){0,3}(?![\w'’-]))"
_AUTHOR = rf"(?:{_NAME},? {_INITIALS}|{_INITIALS} {_NAME}|{_NAME}, {_NAME}(?: {_INITIALS})?)"
_MARK = r"[ \t>]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+|\\?\[[\w+-]{1,12}\\?\][ \t]*)"
_WORK = re.compile(
    rf"^(?:{_MARK}|[ \t]*)[*_\"“]*(?P<author>{_AUTHOR})[*_]*"
    r"(?:,? (?:&|and|und|et)\b|[,;.:]|(?<=\.)| et al\b| ?\(| [\"“])"
    rf"(?P<rest>[^\n]*(?:\n(?!{_MARK}|[ \t]*(?:\n|\Z|{_AUTHOR}))[^\n]+){{0,6}})",
    re.MULTILINE,
)
_YEAR = r"(?:1[5-9]|20)\d\d[a-z]?"
_HAS_YEAR = re.compile(rf"\b{_YEAR}\b|\b(?:forthcoming|in press)\b")
_YEAR_FIRST = re.compile(rf"[^()\n]{{0,160}}\({_YEAR}(?:, [^()\n]{{3,20}})?\)")
_ENDS_IN_YEAR = re.compile(rf"(?:\b{_YEAR}\)?|\d[-–]\d+)[.,]?\s*$")
_PLACE_OF_WORK = re.compile(
    r"\b(?:Proceedings of|(?i:in )?Proc\.|arXiv|doi|DOI|ISBN|ISSN|[Vv]ol\. ?\d|[Nn]o\. ?\d|[Ee]ds?\.|edn\.|"
    r"pp?\. ?\d|S\. ?\d)|(?<!\w)In: |\b\d{1,4} ?\(\d{1,3}(?:[-–]\d{1,3})?\)|\b\d{1,4}: ?\d{1,5}[-–]\d{1,5}\b"
)
_PUBLISHED = re.compile(
    r"\b(?:Proceedings|Conference|Symposium|Workshop|Journal|J\.|Transactions|Trans\.|Annals|Reviews?|Letters|"
    r"Lecture Notes|Press|Publish(?:er|ing|ers)|Verlag|Springer|Elsevier|Wiley|Routledge|O['’]Reilly|Penguin|"
    r"Universit\w+|Dissertation|[Tt]hesis|[Pp]reprint|Technical Report)\b"
)
_MAX_WORK_CHARS = 800
_ASKS_WORKS = re.compile(
    r"\b(?:cit(?:e[ds]?|ing|ations?|able)|bibtex|references?|bibliograph\w*|literature|reading|papers?|articles?|books?|"
    r"publi(?:cations?|sh\w*)|thes[ei]s|stud(?:y|ies)|journals?|conferences?|proceedings|venues?|preprints?|arxiv|doi|"
    r"isbn|authors?|authored|editors?|edited|wr[io]te\w*|written|who|whom|whose|titles?|titled|year|"
    r"when (?:was|were|did)|volumes?|editions?|publishers?|sources)\b",
    re.IGNORECASE,
)
_BIBLIOGRAPHIES = (".bib", ".bibtex")
_NOT_LINE_END = re.compile(r"[^\n]")

_Place = tuple[int, int]


def without_asides(text: str, question: str, file: str = "") -> str:
    """Return a passage of `file` with spaces for what a question is not about: pictures alone, and works it cites.

    Offsets and lines stay. So does a picture among other words, in code, or with a whole sentence for its name; and a
    work by somebody whom the question names. A file that is a bibliography has nothing else. Near-linear time.
    """
    if is_code_name(file):
        return text
    if not _ASKS_PICTURES.search(question):
        text = _without(text, list(_pictures_alone(text)))
    if not file.casefold().endswith(_BIBLIOGRAPHIES) and not _ASKS_WORKS.search(question):
        text = _without(text, list(_works(text, terms_of(question))))
    return text


def _without(text: str, places: Sequence[_Place]) -> str:
    pieces, at = list[str](), 0
    for start, end in sorted(places):
        if end > at:
            begin = max(at, start)
            pieces += [text[at:begin], _NOT_LINE_END.sub(" ", text[begin:end])]
            at = end
    return "".join([*pieces, text[at:]])


def _pictures_alone(text: str) -> Iterator[_Place]:
    """Yield the lines of pictures without other words; of a row of a table, which keeps its bars, the pictures."""
    if not any(sign in text for sign in _SIGNS):
        return
    found = [each for each in _PICTURE.finditer(text) if not _SAYS_SOMETHING.match(each["told"] or "")]
    blocks = code_in(text, 0) if found else []
    places = [each.span() for each in found if not any(first <= each.start() < last for first, last, _ in blocks)]
    rest = _without(text, places)
    for start, end in places:
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        last = last if last >= 0 else len(text)
        marker = _MARKER.match(rest, first, last)
        words = _TAG.sub("", rest[marker.end() if marker else first : last])
        if not any(map(str.isalnum, words)):
            yield (start, end) if "|" in words else (first, last)


def _works(text: str, asked: frozenset[str]) -> Iterator[_Place]:
    """Yield the entries of bibliographies, but for those whose author has a name of the question."""
    begun = _BIBTEX_BEGUN.match(text)
    for entry in [*([begun] if begun else ()), *(_BIBTEX.finditer(text) if "@" in text else ())]:
        yield entry.span()
    for entry in _WORK.finditer(text):
        if len(entry[0]) <= _MAX_WORK_CHARS and _is_work(entry) and terms_of(entry["author"]).isdisjoint(asked):
            yield entry.span()


def _is_work(entry: re.Match[str]) -> bool:
    """Return whether a line that begins with a name also says, as no sentence does, where and when it appeared."""
    said = entry[0][entry.end("author") - entry.start() :]
    if not _HAS_YEAR.search(said):
        return False
    if _PLACE_OF_WORK.search(said):
        return True
    is_dated = _YEAR_FIRST.match(said) or ("." in entry["author"] and _ENDS_IN_YEAR.search(said))
    return bool(is_dated) and _PUBLISHED.search(said) is not None
