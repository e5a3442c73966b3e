"""The HTML page of a report: one self-contained file that runs only its own script and sends no requests."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from asky.report.gathering import ReportedAnswer, ReportedPassage
from asky.report.markup import Html, join, own, tag
from asky.report.research_report import ResearchReport
from asky.report.sections import answer_section
from asky.text.scrub import one_line
from asky.version import __version__


def render_report(
    answers: Sequence[ReportedAnswer], *, title: str | None = None, tool: str = f"asky {__version__}"
) -> str:
    """Render one or more `answers`, in order, as an HTML document.

    `title` stands above several answers; by default a report of one is titled by its question, and one of several by
    their number. `tool` names the program that made the page, with its version. The document can always be encoded as
    UTF-8. Linear time.
    """
    title, content = report_content(answers, title)
    return page_of(title, content, tool)


def page_of(title: str, content: Html, tool: str, *, sees_run: bool = True) -> str:
    """Return a page with this content; `sees_run` says how to open a passage in the store, for what has a run."""
    main = tag("main", content, _colophon(tool, sees_run=sees_run))
    body = tag("body", main, _panel(), _element("script", "report.js"))
    return html_document(title, body, tool=tool, styles=("report.css",), scripts=("report.js",))


def html_document(title: str, body: Html, *, tool: str, styles: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """Return a page around `body` with the `styles` of this package; its policy allows them and `scripts` alone."""
    return "<!doctype html>\n" + tag("html", _head(title, tool, styles, scripts), body, lang="en") + "\n"


def report_content(answers: Sequence[ReportedAnswer], title: str | None = None) -> tuple[str, Html]:
    """Return the title of a report, on one line, and what it holds without the page around it; see `render_report`."""
    is_single = len(answers) == 1 and title is None
    title = one_line(title or (answers[0].answer["question"] if is_single else f"{len(answers)} answers"))
    level = 1 if is_single else 2
    sections = [answer_section(each, prefix=f"a{number}", level=level) for number, each in enumerate(answers, start=1)]
    head = Html() if is_single else join([tag("h1", title, dir="auto"), _contents(answers)])
    return title, join([head, *sections])


def render_research_html(
    report: ResearchReport,
    passages: Mapping[int, ReportedPassage] = MappingProxyType({}),
    *,
    tool: str = f"asky {__version__}",
) -> str:
    """Render a report of research as an HTML document, with the `passages` of its citations by number."""
    return render_report([ReportedAnswer(report.answer, passages, report.started_at, research=report)], tool=tool)


def _head(title: str, tool: str, styles: Sequence[str], scripts: Sequence[str]) -> Html:
    policy = (
        f"default-src 'none'; style-src {_digests(styles)}; script-src {_digests(scripts)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=tool),
        tag("link", rel="icon", href="data:,"),  # otherwise a browser may request one
        tag("title", title),
        *(_element("style", each) for each in styles),
    )


def _contents(answers: Sequence[ReportedAnswer]) -> Html:
    rows = (
        tag("li", tag("a", one_line(each.answer["question"]), href=f"#a{number}"), dir="auto")
        for number, each in enumerate(answers, start=1)
    )
    return tag("nav", tag("ol", *rows), aria_label="Questions")


def _panel() -> Html:
    """Return the panel in which the script shows a passage. Without it, citations link to the list of sources."""
    close = tag("button", "Close", type="button", class_="close", title="Esc")
    return tag(
        "aside",
        tag("div", tag("p", "Passage", class_="label"), close, class_="bar"),
        tag("div", class_="content"),
        id="panel",
        role="dialog",
        aria_label="Passage",
        tabindex=-1,
        hidden=True,
    )


def _colophon(tool: str, *, sees_run: bool) -> Html:
    made = f"Made by {tool}. This page holds all that it shows and loads nothing. "
    opens = (tag("code", "asky why N --run ID"), " opens passage [N] in the store that it was made from.")
    return tag("footer", made, *(opens if sees_run else ()))


def _element(name: str, file: str) -> Html:
    return tag(name, own(_text(file)))


def _digests(files: Sequence[str]) -> str:
    """Return the hashes by which the content security policy allows these files' texts, and no other, on the page."""
    return " ".join(f"'{_digest(each)}'" for each in files) or "'none'"


def _digest(file: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(_text(file).encode()).digest()).decode()


def _text(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")
