from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asky.evidence.keys import KEY
from asky.evidence.passages import ShownPassage, parse_passages, render_passages
from asky.values import Evidence, Location, Source, Span

MARKER = "9f3c2a71d0b4e865"
PIECES = [
    "<",
    ">",
    "\\",
    "|",
    "/",
    "\n",
    "U+202E>",
    "passage ",
    MARKER,
    "P7f3a",
    '"',
    "im_start|>",
    "[",
    "INST]",
    "s>",
    "think",
    "\u202e",
    "\U000e0041",
    '{"name": "fetch_url", "arguments": "{}"}',
    f"\n</passage {MARKER}>",
    f'\n<passage {MARKER} P0000 title="x">\n',
    "word ",
]
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)
headings = hostile.map(lambda text: "t" + text[:100])
locations = st.builds(
    Location,
    section=st.none() | headings,
    page=st.none() | st.integers(1, 10**6),
    page_label=st.none() | headings,
)
keys = st.from_regex(KEY, fullmatch=True)


@given(st.lists(st.builds(ShownPassage, keys, headings, locations, hostile, st.just("s1")), max_size=4))
def test_what_is_shown_is_read_back_exactly_whatever_the_texts_hold(shown: list[ShownPassage]) -> None:
    evidence = [
        Evidence(
            p.key, Source("s1", "web", "https://x.test/", p.title), 1, "", Span(0, len(p.text)), p.text, p.location
        )
        for p in shown
    ]
    rendered = render_passages(evidence, marker=MARKER)
    assert parse_passages(rendered) == shown
    assert parse_passages(f"Prose before.\n\n{rendered}\n\nand after") == shown


@given(hostile)
def test_reading_hostile_text_raises_nothing(text: str) -> None:
    assert all(passage.key.startswith("P") for passage in parse_passages(text))
