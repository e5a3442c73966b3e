"""Pages and Word documents as Markdown, with their links and footnotes."""

from __future__ import annotations

import io

import pytest

from asky.errors import SourceUnreadable
from asky.reading.linked import page, word

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


def as_markdown(body: str) -> str:
    return page.read(f"<html><body>{body}</body></html>".encode(), "page.html").text.strip()


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>Tides</h2><p>They  rise\n<b>twice</b>.</p>", "## Tides\n\nThey rise twice."),
        ("<p>See <a href='a b.md'>the log</a>.</p>", "See [the log](<a b.md>)."),
        ("<p>It rises<a href='moon.pdf'>[3]</a>.</p>", "It rises[3](<moon.pdf>)."),
        ("<p>It rises<sup>3</sup>.</p>", "It rises<sup>3</sup>."),
        (
            "<p>It rises.<sup><a href='#n1'>[1]</a></sup></p><ol><li id='n1'><a href='#r1'>^</a> Moon, 1843</li></ol>",
            "It rises.[^n1]\n\n[^n1]: Moon, 1843",
        ),
        ("<p><a href='#top'>Up</a> and <a href='mailto:a@b.c'>mail</a></p>", "Up and mail"),
        ("<ul><li>one<ul><li>two</li></ul></li></ul><ol><li>a</li><li>b</li></ol>", "- one\n\n  - two\n\n1. a\n\n2. b"),
        (
            "<table><tr><th>Sea</th><th>Range</th></tr><tr><td>North | Sea</td><td><p>3 m</p></td></tr></table>",
            "| Sea | Range |\n|---|---|\n| North / Sea | 3 m |",
        ),
        ("<pre>x = a[1]\n  y</pre><p>z</p>", "```\nx = a[1]\n  y\n```\n\nz"),
        ("<nav>Menu</nav><p hidden>secret</p><script>x</script><p>Text</p>", "Text"),
    ],
)
def test_a_page_becomes_markdown(html: str, markdown: str) -> None:
    assert as_markdown(html) == markdown


def test_a_page_without_text_is_refused() -> None:
    with pytest.raises(SourceUnreadable) as caught:
        as_markdown("<script>x</script>")
    assert caught.value.verdict == "empty"


def test_footnotes_and_links_of_a_word_document_are_kept() -> None:
    import docx
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part
    from docx.oxml import parse_xml

    document = docx.Document()
    paragraph = document.add_paragraph("It rises.")
    paragraph.runs[0]._r.append(parse_xml(f'<w:footnoteReference xmlns:w="{_W}" w:id="2"/>'))
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>moon.pdf</w:t></w:r></w:p></w:footnote>'
    notes = f'<w:footnotes xmlns:w="{_W}">{note}</w:footnotes>'
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    document.part.relate_to(Part(PackURI("/word/footnotes.xml"), kind, notes.encode(), document.part.package), _NOTES)
    data = io.BytesIO()
    document.save(data)
    assert word.read(data.getvalue(), "a.docx").text == "It rises.[^footnote2]\n\n[^footnote2]: moon.pdf\n"
