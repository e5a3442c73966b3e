"""XML: texts as paragraphs, data as lines."""

from __future__ import annotations

import plistlib

import pytest

from asky.errors import SourceUnreadable
from asky.reading.markup.xml_file import read
from tests.support.files import check_document

DOCBOOK = """<?xml version="1.0"?><!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN"
"http://x.invalid/docbookx.dtd" [
<!ENTITY product "Lamp">]>
<book xmlns="http://docbook.org/ns/docbook"><title>Keeper&#8217;s manual</title><chapter><title>Oil</title>
<para>Rape&nbsp;oil <emphasis>burns</emphasis> for 12 hours<footnote><para>Measured.</para></footnote>.<indexterm>
<primary>oil</primary></indexterm></para><remark>check this</remark><itemizedlist><listitem><para>clean</para>
</listitem><listitem><para>dry</para></listitem></itemizedlist><orderedlist><listitem><para>Open.</para></listitem><listitem>
<para>Light.</para></listitem></orderedlist><programlisting>lampctl
  --on</programlisting><table><title>Use</title><tgroup cols="2"><thead><row><entry>Month</entry><entry>Litres</entry>
</row></thead><tbody><row><entry>May</entry><entry>41</entry></row><row><entry>June</entry><entry>33</entry></row></tbody>
</tgroup></table><section><title>Wick</title><para>Twelve &product; millimetres.</para></section></chapter></book>"""
TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Log</title></titleStmt></fileDesc>
</teiHeader><text><body><div><head>1702</head><p>The <persName>keeper</persName> lit the lamp.</p><lg><l>Dark sea,</l>
<l>bright lamp.</l></lg></div></body></text></TEI>"""
DATA = """<catalog version="2"><book id="bk101"><author>Lind, Ada</author><price currency="NOK">44.95</price>
<tag>sea</tag><tag>lamp</tag></book><book id="bk102"><author>Bo</author></book></catalog>"""


def text_of(xml: str, name: str = "a.xml") -> str:
    document = read(xml.encode(), name)
    check_document(document)
    return document.text


def test_docbook_is_read_as_its_paragraphs_lists_code_and_tables() -> None:
    document = read(DOCBOOK.encode(), "a.xml")
    lines = [line for line in document.text.split("\n") if line]
    assert lines[:9] == [
        "Keeper’s manual", "Oil", "Rape oil burns for 12 hours [Measured.].", "- clean", "- dry", "1. Open.",
        "2. Light.", "lampctl", "  --on",
    ]  # fmt: skip
    assert any("May" in line and "41" in line for line in lines)
    assert lines[-2:] == ["Twelve &product; millimetres.", "[Comment: check this]"]
    assert [(each.level, each.heading) for each in document.sections] == [
        (1, "Keeper’s manual"), (2, "Oil"), (3, "Wick"),
    ]  # fmt: skip
    assert document.title == "Keeper’s manual"


def test_an_edition_is_read_as_text() -> None:
    text = text_of(TEI)
    assert "1702\n\nThe keeper lit the lamp.\n\nDark sea,\n\nbright lamp." in text


def test_data_is_read_as_a_line_for_each_value() -> None:
    assert text_of(DATA) == (
        "version: 2\n\nbook[bk101].author: Lind, Ada\nbook[bk101].price: 44.95\nbook[bk101].price.currency: NOK\n"
        "book[bk101].tag[0]: sea\nbook[bk101].tag[1]: lamp\n\nbook[bk102].author: Bo\n"
    )


def test_words_beside_elements_make_a_text_of_any_kind() -> None:
    assert text_of("<minutes><item>The <b>fee</b> is 12 kr.</item><item>It <i>rises</i> in May.</item></minutes>") == (
        "The fee is 12 kr.\n\nIt rises in May."
    )


def test_a_file_is_read_by_what_its_root_says() -> None:
    feed = "<rss><channel><title>N</title><item><title>One</title></item></channel></rss>"
    assert text_of(feed, "feed.xml") == "N\n\nOne"
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>The lamp is lit at dusk by the keeper.</p></body></html>'
    )
    assert "lit at dusk" in text_of(page)
    assert (
        text_of(plistlib.dumps({"Lamp": {"Hours": 12, "On": True}}).decode(), "a.plist")
        == "Lamp.Hours: 12\nLamp.On: true\n"
    )
    with pytest.raises(SourceUnreadable, match="drawing"):
        read(b"<svg xmlns='http://www.w3.org/2000/svg'><text>x</text></svg>", "a.xml")


def test_what_is_not_valid_is_plain_text_and_says_so() -> None:
    document = read(b"<a><b>text</a>", "a.xml")
    assert document.text == "<a><b>text</a>"
    assert document.metadata["unread_parts"] == "structure: not valid XML, read as plain text"


def test_nothing_is_fetched_or_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]><a><v>&b;&c;</v></a>'
    assert text_of(bomb) == "v: &b;&c;\n"


def test_pictures_in_a_file_are_named_and_not_read() -> None:
    document = read(f"<set><name>Lamp</name><icon>{'iVBORw0K' * 500}</icon></set>".encode(), "a.xml")
    assert document.text == "name: Lamp\n"
    assert document.metadata["unread_parts"] == "icon: encoded data"


def test_many_members_take_linear_time() -> None:
    assert text_of(f"<list>{'<v>1</v>' * 100_000}</list>").count("\n") == 100_000
    assert text_of(f"<p>a{'<b>1</b>and' * 100_000}</p>").count("1") == 100_000
    assert "x" in text_of("<a>" * 200 + "x" + "</a>" * 200)
