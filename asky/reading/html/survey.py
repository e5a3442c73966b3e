"""A single pass over a page's tags: all its visible text, its links, and its head.

No tree is built, hence there is no depth limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from asky.reading.html.blocks import is_hidden
from asky.reading.html.plain import SHAPING, SKIPPED, PlainText, attribute
from asky.reading.text_builder import TextBuilder

_HEAD_CHARS = 2_000  # per value in the head
_JSON_LD_CHARS = 512 * 1024
_JSON_LD_SCRIPTS = 32
_MAX_ANCHORS = 20_000
_MAX_METAS = 500
_NOTED = frozenset({"meta", "link", "base", "html", "time", "input", "script", "frame"})
_WHOLE = frozenset({"html", "body"})  # usually hidden until the page is loaded


@dataclass(slots=True)
class Anchor:
    """A link as written. `start` is the offset of its block in the survey's text."""

    href: str
    label: str
    pieces: list[str] = field(default_factory=list)
    start: int = 0


@dataclass(slots=True)
class Survey:
    """All the visible text of a page, and the other content of its tags.

    `metas` has the first value of each name; `json_ld` the texts of such scripts. `hidden_characters` counts those in
    hidden elements, `noscript` is the text shown to readers without scripts, `frames` are the pages that a page of
    frames shows.
    """

    builder: TextBuilder
    text: str = ""
    anchors: list[Anchor] = field(default_factory=list)
    title: str = ""
    heading: str = ""
    metas: dict[str, str] = field(default_factory=dict)
    authors: list[str] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    canonical: str = ""
    base: str = ""
    language: str = ""
    time: str = ""
    noscript: str = ""
    hidden_characters: int = 0
    frames: list[str] = field(default_factory=list)
    scripts: int = 0
    passwords: int = 0


def survey_page(html: str) -> Survey:
    """Return the survey of scrubbed HTML; its text may be empty."""
    from lxml import etree  # 25 ms: only if a page is read

    target = _Surveyor()
    parser = etree.HTMLParser(target=target, encoding="utf-8")
    parser.feed(html.encode("utf-8"))
    parser.close()
    return target.survey


class _Surveyor:
    """An lxml parser target; it gets no comments or processing instructions."""

    def __init__(self) -> None:
        self._plain = PlainText()
        self._writer = self._plain.writer
        self.survey = Survey(self._plain.builder)
        self._hidden = 0  # depth within a hidden element
        self._skipped: list[str] = []  # elements without text content, outermost first
        self._inside = ""  # `title` or `h1`
        self._title: list[str] = []
        self._heading: list[str] = []
        self._noscript: list[str] = []
        self._script: list[str] | None = None
        self._anchor: Anchor | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _NOTED:
            self._note(tag, attributes)
        if self._hidden or (attributes and not self._skipped and tag not in _WHOLE and is_hidden(attributes)):
            self._hidden += 1
        if self._skipped or tag in SKIPPED:
            self._skipped.append(tag)
        elif not self._hidden:
            self._open(tag, attributes)

    def end(self, tag: str) -> None:
        if tag == "script":
            self._end_script()
        if self._hidden or self._skipped:
            self._hidden -= self._hidden > 0
            del self._skipped[-1:]
            return
        if tag == self._inside:
            self._inside = ""
        if tag == "a":
            self._anchor = None
        elif tag in SHAPING:
            self._plain.end(tag)

    def data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)
        if self._skipped:
            if self._skipped[0] == "noscript" and self._skipped[-1] not in ("script", "style"):
                self._noscript.append(data)
        elif self._hidden:
            self.survey.hidden_characters += len("".join(data.split()))
        elif self._inside == "title":
            self._title.append(data)
        else:
            self._writer.write(data)
            if self._inside:
                self._heading.append(data)
            if self._anchor is not None:
                self._anchor.pieces.append(data)

    def close(self) -> None:
        self._writer.close(0)
        survey = self.survey
        behind = [len(self._plain.builder)] * len(survey.anchors)  # for those not followed by text
        for anchor, start in zip(survey.anchors, [*self._writer.places, *behind], strict=False):
            anchor.start = start
        survey.text = self._plain.builder.text()
        survey.title = " ".join("".join(self._title).split())
        survey.heading = " ".join("".join(self._heading).split())
        survey.noscript = " ".join(" ".join(self._noscript).split())

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in SHAPING:
            self._plain.start(tag, attributes)
            if tag == "h1" and not self._heading:
                self._inside = tag
        elif tag == "title":
            self._inside = tag
        elif tag == "a" and (href := attribute(attributes, "href")) and len(self.survey.anchors) < _MAX_ANCHORS:
            label = attribute(attributes, "aria-label") or attribute(attributes, "title")
            self._anchor = Anchor(href, label[:_HEAD_CHARS])
            self.survey.anchors.append(self._anchor)
            self._writer.mark()

    def _note(self, tag: str, attributes: dict[str, str]) -> None:
        survey = self.survey
        if tag == "meta":
            self._note_meta(attributes)
        elif tag == "link":
            relations = attribute(attributes, "rel").lower().split()
            if "canonical" in relations:
                survey.canonical = survey.canonical or attribute(attributes, "href")
            survey.scripts += "modulepreload" in relations or attribute(attributes, "as").lower() == "script"
        elif tag == "base":
            survey.base = survey.base or attribute(attributes, "href")
        elif tag == "html":
            survey.language = survey.language or attribute(attributes, "lang") or attribute(attributes, "xml:lang")
        elif tag == "time":
            survey.time = survey.time or attribute(attributes, "datetime")[:_HEAD_CHARS]
        elif tag == "frame":
            survey.frames += [source] if (source := attribute(attributes, "src")[:_HEAD_CHARS]) else []
        elif tag == "input":
            survey.passwords += attribute(attributes, "type").lower() == "password" and not self._hidden
        else:
            survey.scripts += 1
            is_data = attribute(attributes, "type").lower() == "application/ld+json"
            self._script = [] if is_data and len(survey.json_ld) < _JSON_LD_SCRIPTS else None

    def _note_meta(self, attributes: dict[str, str]) -> None:
        name = attribute(attributes, "property") or attribute(attributes, "name") or attribute(attributes, "itemprop")
        value = attribute(attributes, "content")[:_HEAD_CHARS]
        metas = self.survey.metas
        if not name or not value or len(metas) >= _MAX_METAS:
            return
        metas.setdefault(name.lower(), value)
        if name.lower() == "citation_author" and len(self.survey.authors) < _MAX_METAS:
            self.survey.authors.append(value)

    def _end_script(self) -> None:
        if self._script:
            text = "".join(self._script)
            if len(text) <= _JSON_LD_CHARS:
                self.survey.json_ld.append(text)
        self._script = None
