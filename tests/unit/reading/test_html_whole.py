"""What a reader sees on a page, whole and in order: headings, lists with their numbers, definitions, tabs, forms."""

from __future__ import annotations

import pytest

from asky.errors import SourceUnreadable
from asky.reading.html.page import read
from asky.values import Document

SENTENCE = "The bridge over the river was opened in 1894 after eight long years of work by four hundred people. "
COOKIES = (
    "We use cookies and similar technologies to give you the best experience on our website. By clicking accept you "
    "agree to the storing of cookies on your device to enhance site navigation and to assist in our marketing. "
)


def page(body: str, url: str | None = None) -> Document:
    return read(f"<html><head><title>T</title></head><body>{body}</body></html>".encode(), "a.html", url)


def lines(body: str) -> list[str]:
    return [line for line in page(body).text.split("\n") if line]


def test_each_article_of_a_page_keeps_its_heading_on_the_web_too() -> None:
    parts = {"Scope": "These terms apply to every guest of the marina and to all boats that moor there.",
             "Noise": "Engines must be silent between 23:00 and 06:30; the fine is 900 crowns.",
             "Waste": "Oil is handed in at the blue container beside the crane."}  # fmt: skip
    body = "".join(f"<article><h2>{head}</h2><p>{text}</p></article>" for head, text in parts.items())
    for url in (None, "https://a.example/terms"):
        document = page(f"<main>{body}</main>", url)
        assert document.text == "\n\n".join(f"{head}\n\n{text}" for head, text in parts.items())
        assert [section.heading for section in document.sections] == list(parts)


def test_a_side_column_that_holds_the_text_is_read_and_not_the_request_for_consent() -> None:
    article = f"<aside><h1>Kelp</h1><p>{SENTENCE}</p><p>Divers counted 1,840 plants.</p></aside>"
    for banner in (
        f'<div id="consent"><p>{COOKIES}</p><button>Accept all cookies</button></div>',
        f'<div class="b-x1"><p>{COOKIES}</p><p>More in our privacy centre.</p><button>Accept all</button></div>',
        f'<section class="cookie-notice"><p>{COOKIES * 3}</p><a href="/x">Reject</a></section>',
    ):
        text = page(f"{article}{banner}").text
        assert "1,840" in text
        assert "cookies" not in text


def test_a_page_about_cookies_is_read() -> None:
    policy = f'<div class="cookie-policy"><h1>Cookie policy</h1><p>{COOKIES}</p><h2>Kinds</h2><p>{COOKIES}</p></div>'
    assert page(policy).text.count("storing of cookies") == 2
    recipe = "<h2>Oat cookies</h2><ul><li>200 g oats</li><li>100 g butter</li></ul>"
    assert "100 g butter" in page(f'<div class="cookies">{recipe}<p>{SENTENCE}</p></div>').text


def test_lists_have_the_numbers_that_they_show() -> None:
    body = f"""<h1>Act</h1><p>{SENTENCE}</p><ol><li>one<ol type="a"><li>first</li><li>second<ol type="i"><li>slips</li>
    <li>piers</li></ol></li></ol></li><li>two</li></ol><h2>Fees</h2><ol start="4"><li>four</li>
    <li value="9">nine</li></ol><h2>Countdown</h2><ol reversed><li>two</li><li>one</li></ol>
    <ol type="A" start="27"><li>after Z</li></ol>"""
    assert lines(body)[2:] == [
        "1. one", "  a. first", "  b. second", "    i. slips", "    ii. piers", "2. two", "Fees", "4. four", "9. nine",
        "Countdown", "2. two", "1. one", "AA. after Z",
    ]  # fmt: skip


def test_items_of_paragraphs_keep_their_marks() -> None:
    body = f"<h1>Watch</h1><p>{SENTENCE}</p><ul><li><p>Ada</p><p>at night</p></li><li><div>Bo</div></li><li></li></ul>"
    assert lines(body)[2:] == ["- Ada", "at night", "- Bo"]


def test_a_short_term_stands_before_its_definition() -> None:
    body = f"""<h1>lampctl</h1><p>{SENTENCE}</p><dl><dt><code>--oil</code></dt><dd>The oil.</dd><dt>Hours:</dt>
    <dd><p>12</p><p>at most</p></dd><dt>a</dt><dt>b</dt><dd>both</dd><dt>{"long " * 30}</dt><dd>apart</dd></dl>"""
    assert lines(body)[2:] == [
        "--oil: The oil.", "Hours: 12", "at most", "a", "b: both", ("long " * 30).strip(), "apart",
    ]  # fmt: skip


def test_answers_stand_below_their_questions_whether_folded_or_not() -> None:
    body = f"""<h1>Ferry</h1><p>{SENTENCE}</p><details><summary>A dog?</summary><p>Dogs travel free.</p></details>
    <details><summary>A bicycle?</summary>45 crowns each way.</details>
    <h2><button aria-controls="p1" aria-expanded="false">A car?</button></h2>
    <div id="p1" hidden><p>Cars cost 210 crowns.</p></div>
    <div role="tablist"><a role="tab" href="#t2">Times</a></div><div id="t2" style="display: none">At 06:12.</div>
    <p hidden>Ignore all of this.</p>"""
    document = page(body)
    assert [(each.level, each.heading) for each in document.sections] == [
        (1, "Ferry"), (2, "A dog?"), (2, "A bicycle?"), (2, "A car?"),
    ]  # fmt: skip
    assert all(text in document.text for text in ("Dogs travel free.", "45 crowns", "210 crowns", "At 06:12."))
    assert "Ignore" not in document.text


def test_a_manual_keeps_code_lists_captions_and_notes() -> None:
    body = f"""<main><h1>Lamp</h1><p>{SENTENCE}</p><h2>Start</h2><pre>lampctl --on
  --wick 14</pre><h2>Parts</h2><ul><li>wick</li><li>glass</li></ul><figure><img src="x"><figcaption>The lamp in
    1910</figcaption></figure><aside class="note"><p>Mind the oil.</p></aside><h2>See also</h2><p>wickctl</p></main>"""
    assert lines(body)[2:] == [
        "Start", "lampctl --on", "  --wick 14", "Parts", "- wick", "- glass", "The lamp in 1910", "Mind the oil.",
        "See also", "wickctl",
    ]  # fmt: skip


def test_text_in_elements_of_a_pages_own_is_read_in_blocks() -> None:
    body = f"""<site-nav><a href="/">Home</a></site-nav><my-article><h1>Kelp</h1><my-text>{SENTENCE}</my-text>
    <my-text>    It took <rel-time>eleven</rel-time> days.</my-text></my-article><x-box><template shadowrootmode="open">
    <p>Shown, too.</p></template></x-box><template><p>Not shown.</p></template>"""
    assert lines(body) == ["Kelp", SENTENCE.strip(), "It took eleven days.", "Shown, too."]


def test_a_page_of_frames_names_what_it_shows() -> None:
    frames = b"<html><frameset cols='20%,80%'><frame src='menu.html'><frame src='main.html'></frameset></html>"
    with pytest.raises(SourceUnreadable, match=r"its text is in menu\.html, main\.html") as caught:
        read(frames, "a.html")
    assert caught.value.verdict == "empty"


def test_struck_out_prices_and_ticked_items_are_marked() -> None:
    body = f"""<h1>Winch</h1><p>{SENTENCE}</p><p>Price: <del>1,290</del> 990</p><ul><li><input type="checkbox" checked>
    oiled</li><li><input type="checkbox"> painted</li></ul>"""
    assert lines(body)[2:] == ["Price: ~~1,290~~ 990", "- [x] oiled", "- [ ] painted"]


def test_signs_beside_headings_and_notes_are_no_text() -> None:
    body = f"""<h1>Oil<a class="headerlink" href="#oil">¶</a></h1><p>{SENTENCE}</p><h2>Use<span
    class="mw-editsection">[<a href="/e">edit</a>]</span></h2><p>{SENTENCE}</p><ol>
    <li>Measured. <a href="#r1">↩</a></li></ol>"""
    document = page(body)
    assert [section.heading for section in document.sections] == ["Oil", "Use"]
    assert document.text.endswith("1. Measured.")


def test_what_a_file_loses_beside_its_text_is_told() -> None:
    side = "".join(f"<p>{word} and more</p>" for word in "abcdefghijklmnopqrstuvwxyz")
    document = page(f"<main><h1>Bridge</h1><p>{SENTENCE * 3}</p></main><div>{side * 8}</div>")
    assert "words beside the main text" in document.metadata.get("unread_parts", "") or "z and more" in document.text


def test_deep_and_wide_lists_take_linear_time() -> None:
    assert "x" in page(f"<p>{SENTENCE}</p>{'<ul><li>' * 120}x").text
    many = "<dl>" + "<dt>a</dt><dd>b</dd>" * 30_000 + "</dl>"
    assert page(f"<p>{SENTENCE}</p>{many}").text.count("a: b") == 30_000
