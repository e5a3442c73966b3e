from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asky.reading.html.links import absolute_url, links_of
from asky.reading.html.survey import Anchor, survey_page
from asky.reading.limits import MAX_LINKS, MAX_URL_CHARS

BASE = "https://a.example/dir/page?q=1"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("x", "https://a.example/dir/x"),
        ("/x#part", "https://a.example/x"),
        ("../x?b=2", "https://a.example/x?b=2"),
        ("//b.example/x", "https://b.example/x"),
        ("http://b.example", "http://b.example"),
        ("  https://b.example/\n x\t ", "https://b.example/%20x"),
        ("?r=2", "https://a.example/dir/page?r=2"),
        ("#part", BASE),
        ("mailto:a@b.example", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("ftp://b.example/x", None),
        ("https://user:secret@b.example/", None),
        ("https://@b.example/", None),
        ("https:///x", None),
        ("http://[::1", None),
        ("http://a:b:c/", "http://a:b:c/"),
        ("/" + "x" * MAX_URL_CHARS, None),
    ],
)
def test_references_become_addresses_of_the_web_or_nothing(reference: str, expected: str | None) -> None:
    assert absolute_url(reference, BASE) == expected


def test_without_a_base_only_absolute_references_lead_anywhere() -> None:
    assert absolute_url("/x", None) is None
    assert absolute_url("https://b.example/x", None) == "https://b.example/x"


@given(st.text(), st.sampled_from([None, BASE]))
def test_no_reference_raises(reference: str, base: str | None) -> None:
    url = absolute_url(reference, base)
    assert url is None or url.startswith(("http://", "https://"))


@given(
    st.lists(st.sampled_from(["/", "a", ".", "..", "?", ";", ":", "%2e", "@", "é", " ", "=", "-", "http:"])).map(
        "".join
    ),
    st.sampled_from([BASE, "http://a.example:80", "https://[::1]/x/", "/x/"]),
)
@example("/../a", BASE)
@example("/a/./b", BASE)
@example("/a//b?", BASE)
@example("//a/b", BASE)
def test_common_references_are_joined_as_others_are(reference: str, base: str) -> None:
    joined = urljoin(base, reference.strip())
    url = absolute_url(reference, base)
    assert url == absolute_url(joined, None)
    assert url is None or url == joined.replace(" ", "%20")


def links(page: str, text: str | None = None) -> list[tuple[str, str, int]]:
    survey = survey_page(page)
    kept = survey.text if text is None else text
    found = links_of(survey.anchors, survey.text, kept, base=BASE, page=BASE)
    return [(link.url.removeprefix("https://a.example"), link.text, link.start) for link in found]


def test_an_address_counts_where_it_stands_in_the_text_else_where_it_stands_first() -> None:
    page = '<ul><li><a href="/x">menu</a></ul><p>words <a href="/y">y</a></p><p>more <a href="/x#a">words</a></p>'
    assert links(page, "words y\n\nmore words") == [("/y", "y", 0), ("/x", "words", 9)]
    assert links(page, "other text") == [("/x", "menu", 10), ("/y", "y", 10)]


def test_a_link_is_where_its_block_begins_whatever_mark_an_item_has() -> None:
    page = '<p>one</p><ol><li><a href="/1">first</a><li>the <a href="/2">second</a></ol>'
    assert links(page, "one\n\n1. first\n2. the second") == [("/1", "first", 5), ("/2", "second", 14)]


def test_blocks_that_look_alike_are_told_apart_by_their_order() -> None:
    page = "".join(f'<p>Part {n}</p><p><a href="/{n}">Read more</a></p>' for n in range(3))
    survey = survey_page(page)
    starts = [start for _, _, start in links(page)]
    assert [survey.text[start : start + 9] for start in starts] == ["Read more"] * 3
    assert len(set(starts)) == 3


def test_links_to_the_page_itself_are_none() -> None:
    assert links('<p><a href="#part">part</a> <a href="">again</a> <a href="page?q=1">self</a></p>') == []


def test_a_link_around_blocks_or_a_picture_stands_where_the_next_text_does() -> None:
    assert links('<p>a</p><a href="/c"><div><img></div><h3>Card</h3></a>') == [("/c", "Card", 3)]
    assert links('<p>a</p><a href="/c" aria-label="Home"><img></a>') == [("/c", "Home", 1)]


def test_a_page_of_endless_links_keeps_those_of_the_text_first() -> None:
    menu = "".join(f'<a href="/m{n}">m{n}</a><br>' for n in range(3 * MAX_LINKS))
    found = links(f'<div>{menu}</div><p>the <a href="/needle">needle</a></p>', "the needle")
    assert len(found) == MAX_LINKS
    assert found[-1] == ("/needle", "needle", 0)
    assert found[0][0] == "/m0"


def test_nested_and_hidden_links_and_those_in_scripts() -> None:
    page = '<a href="/1">one <b hidden><a href="/2">two</a></b></a><noscript><a href="/3">x</a></noscript><a>none</a>'
    assert [url for url, _, _ in links(page)] == ["/1"]


def test_labels_are_one_line_and_short() -> None:
    survey = survey_page(f'<a href="/x">a\n\n<br>b &#x202e;c {"d" * 500}</a>')
    (link,) = links_of(survey.anchors, survey.text, survey.text, base=BASE, page=None)
    assert link.text.startswith("a b c d")
    assert len(link.text) <= 200


def test_anchors_without_any_text_behind_them_lie_at_its_end() -> None:
    anchor = Anchor("https://b.example/", "", start=99)
    (link,) = links_of([anchor], "seen", "kept", base=None, page=None)
    assert link.start == 4


def test_list_marks_do_not_keep_a_link_from_its_line_and_dashes_within_it_count() -> None:
    page = "<ul><li><a href=/a>One - two</a></li><li><a href=/b>One two</a></li></ul>"
    assert links(page, "Two lists:\n  1. One - two\n- One two") == [("/a", "One - two", 11), ("/b", "One two", 26)]
    assert links(page, "- Onetwo\n- One two") == [("/a", "One - two", 18), ("/b", "One two", 9)]
