from __future__ import annotations

import pytest
from lxml import html

from asky.reading.html.outline import prune
from asky.reading.html.plain import write_tree

SENTENCE = "The bridge over the river was opened in 1894 after eight years of work. "


def framed(page: str) -> str:
    return write_tree(prune(html.document_fromstring(page))).text()


@pytest.mark.parametrize(
    "frame",
    ["<nav>x</nav>", "<footer>x</footer>", "<aside>x</aside>", "<header>x</header>", "<form>x</form>",
     "<button>x</button>",
     "<div role=navigation>x</div>", "<div role=' Banner '>x</div>", "<div class='cookie-banner'>x</div>",
     "<ul id=breadcrumb>x</ul>", "<section class='a related b'>x</section>", "<div id=comments>x</div>",
     "<script>x</script>",
     "<noscript>x</noscript>", "<svg><text>x</text></svg>"],
)  # fmt: skip
def test_what_frames_a_page_is_left_out(frame: str) -> None:
    page = f"<body>{frame} before<p>{SENTENCE * 3}</p>{frame} behind</body>"
    assert framed(page) == f"before\n\n{(SENTENCE * 3).strip()}\n\nbehind"


@pytest.mark.parametrize(
    "content",
    ["<header><h1>Head</h1></header>", "<article><header>Head</header></article>",
     "<div class=sidebar><h1>Head</h1></div>",
     "<div class='main-menu'>Head</div>", "<div class=sharecropper>Head</div>"],
)  # fmt: skip
def test_what_only_looks_like_a_frame_is_kept(content: str) -> None:
    assert "Head" in framed(f"<body>{content}<p>{SENTENCE * 3}</p></body>")


def test_an_element_that_holds_the_page_is_no_frame() -> None:
    for wrapped in ("<form>{}</form>", "<div class=modal>{}</div>", "<nav>{}</nav>", "<noscript>{}</noscript>"):
        assert "bridge" in framed(f"<body>{wrapped.format(f'<p>{SENTENCE * 3}</p>')}<p>x</p></body>")


def test_a_form_with_prose_in_it_is_the_product_and_not_a_search() -> None:
    page = f"<body><form><p>{SENTENCE * 2}</p><input></form><p>{SENTENCE * 9}</p><form>Find <input></form></body>"
    assert framed(page).count("bridge") == 11
    assert "Find" not in framed(page)


@pytest.mark.parametrize("mark", ["main", "div role=main", "div id=content", "div id=main"])
def test_the_main_element_is_taken_where_it_holds_enough(mark: str) -> None:
    name = mark.split()[0]
    page = "<body><p>Other words.</p><{}><p>{}</p></{}></body>"
    assert framed(page.format(mark, SENTENCE * 3, name)) == (SENTENCE * 3).strip()
    assert "Other" in framed(page.format(mark, "x", name))


def test_many_frames_are_taken_out_in_linear_time() -> None:
    page = f"<body><main><p>{SENTENCE * 5}</p>{'<nav>a</nav>b ' * 100_000}</main></body>"
    assert framed(page).count("b") >= 100_000


@pytest.mark.parametrize(
    "page", ["", "<p>x", "<html></html>", "<main></main>", "<nav>x</nav>", "<body><noscript></noscript>"]
)
def test_pages_of_almost_nothing_are_survived(page: str) -> None:
    framed(f"<html>{page}")


@pytest.mark.parametrize("mark", ["role=main", "id=main", "id=content"])
def test_what_is_called_the_main_element_is_not_that_where_it_went_with_its_frame(mark: str) -> None:
    assert framed(f"<body><div {mark}><p>{SENTENCE * 3}</p></div><p>x</p></body>") == (SENTENCE * 3).strip()
    page = f"<body><nav><div {mark}><p>{SENTENCE}</p></div></nav><p>{'Other words. ' * 9}</p></body>"
    assert framed(page) == ("Other words. " * 9).strip()
