from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import SourceUnreadable
from asky.reading.markup.feed import read
from tests.support.files import attempt, check_document, check_outcome

RSS = """<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News &amp; more</title><link>https://a.example/</link>
<item><title>First</title><link>/1#x</link><pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate>
<description>&lt;p&gt;About &lt;b&gt;one&lt;/b&gt;.&lt;/p&gt;&lt;p hidden&gt;Ignore.&lt;/p&gt;</description></item>
<item><title>Second</title><link>https://b.example/2</link>
<content:encoded><![CDATA[<p>About two.</p>]]></content:encoded>
<description>short</description></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
<entry><title type="html">One</title><link rel="edit" href="/e"/><link href="/1"/><updated>2024-05-06</updated>
<summary>About one.</summary></entry></feed>"""


def test_an_rss_feed_is_read_entry_by_entry() -> None:
    document = read(RSS.encode(), "f", "https://a.example/feed")
    check_document(document)
    assert document.title == "News & more"
    assert document.text == "First\n\nMon, 06 May 2024 07:08:09 GMT\n\nAbout one.\n\nSecond\n\nAbout two."
    assert [(s.heading, document.text[s.start : s.end].split()[0]) for s in document.sections] == [
        ("First", "First"), ("Second", "Second"),
    ]  # fmt: skip
    found = [(link.url, link.text, document.text[link.start :].split()[0]) for link in document.links]
    assert found == [("https://a.example/1", "First", "First"), ("https://b.example/2", "Second", "Second")]


def test_an_atom_feed_is_read_too() -> None:
    document = read(ATOM.encode(), "f", "https://a.example/feed")
    assert (document.media_type, document.text) == ("application/atom+xml", "One\n\n2024-05-06\n\nAbout one.")
    assert [link.url for link in document.links] == ["https://a.example/1"]


def test_without_an_address_only_absolute_links_are_kept() -> None:
    assert [link.url for link in read(RSS.encode(), "f").links] == ["https://b.example/2"]


def test_other_encodings_are_read() -> None:
    text = RSS.replace("utf-8", "iso-8859-1").replace("First", "Fünf")
    assert read(text.encode("latin-1"), "f", "https://a.example/feed").text.startswith("Fünf")


PODCAST = """<rss xmlns:itunes="i" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Lamp talk</title>
<description>On lamps.</description><item><title>Oil</title><dc:creator>Ada Lind</dc:creator><category>oil</category>
<category>lamps</category><itunes:duration>31:05</itunes:duration><link>https://a.example/1</link>
<description>&lt;p&gt;Rape oil costs 12 crowns.&lt;/p&gt;&lt;p&gt;It burns well.&lt;/p&gt;</description></item>
</channel></rss>"""
XHTML = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><author><name>Bo</name></author><entry>
<title>One</title><author><name>Ada</name></author><category term="x" label="Ships"/><content type="xhtml"><div
xmlns="http://www.w3.org/1999/xhtml"><p>First.</p><ul><li>Second.</li></ul></div></content><summary>short</summary>
</entry></feed>"""


def test_a_feed_that_somebody_keeps_has_its_description_authors_categories_and_links() -> None:
    document = read(PODCAST.encode(), "talk.rss")
    assert document.text == (
        "Lamp talk\n\nOn lamps.\n\nOil\n\nBy: Ada Lind\nCategories: oil, lamps\nDuration: 31:05\n"
        "Link: https://a.example/1\n\nRape oil costs 12 crowns.\n\nIt burns well."
    )
    assert [(each.level, each.heading) for each in document.sections] == [(1, "Lamp talk"), (2, "Oil")]


def test_the_whole_text_of_an_entry_stands_once_whether_it_is_text_or_elements() -> None:
    text = read(XHTML.encode(), "log.atom").text
    assert text == "Log\n\nOne\n\nBy: Ada\nCategories: Ships\n\nFirst.\n\n- Second."


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        ('<!DOCTYPE rss [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><rss><item><title>&b;</title></item></rss>', "failed"),
        ('<rss><!ENTITY x SYSTEM "file:///etc/passwd"></rss>', "failed"),
        ("<rss><channel></channel></rss>", "empty"),
        ("<urlset><url><loc>https://a.example/</loc></url></urlset>", "unsupported"),
        ("no xml", "unsupported"),
        ("", "failed"),
    ],
)  # fmt: skip
def test_what_is_no_feed_gets_a_verdict(data: str, verdict: str) -> None:
    with pytest.raises(SourceUnreadable, match="f: ") as caught:
        read(data.encode(), "f")
    assert caught.value.verdict == verdict


def test_deep_nesting_is_survived() -> None:
    data = "<rss><channel><item><title>a</title>" + "<x>" * 100_000
    check_outcome(attempt(lambda: read(data.encode(), "f")), "failed")


PIECES = [
    "<rss>",
    "<feed>",
    "<item>",
    "<entry>",
    "</entry>",
    "</item>",
    "<title>",
    "</title>",
    "a",
    "<link>",
    "</link>",
]
PIECES += ["<summary>", "&lt;p&gt;", "&x;", "<![CDATA[", "]]>"]


@given(st.lists(st.sampled_from(PIECES)))
def test_any_order_of_tags_gives_a_sound_document_or_a_verdict(pieces: list[str]) -> None:
    outcome = attempt(lambda: read("".join(pieces).encode(), "f", "https://a.example/"))
    check_outcome(outcome, "empty", "failed", "unsupported")
