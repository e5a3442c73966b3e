"""What becomes of a reply before it is shown."""

from __future__ import annotations

import time

from asky.chat.checking import check_reply
from asky.evidence.quotes import Quotable
from asky.values import Evidence, Location, Source, Span

SOURCE = Source("s1", "file", "file:///gauge", "Gauge", path="/gauge")


def _shown(text: str, key: str = "P7f3a") -> dict[str, Evidence]:
    return {key: Evidence(key, SOURCE, 7, "hash", Span(1000, 1000 + len(text)), text, Location("Before", 1), 0.5)}


def _located(document_id: int, span: Span) -> Location:
    return Location(f"of {document_id} at {span.start}-{span.end}")


def test_a_citation_is_located_where_its_first_quoted_sentence_stands() -> None:
    text = "The pier is old. The gauge stood at nine feet. The sea was calm."
    reply = "It was a fine day [P7f3a]. The gauge stood at nine feet [P7f3a]. The sea was calm [P7f3a]."
    checked = check_reply(reply, _shown(text), _located, claims_anything=True)
    begin = 1000 + text.index("The gauge")
    assert [each.location.section for each in checked.citations] == [f"of 7 at {begin}-{begin + 29}"]


def test_a_citation_that_quotes_nothing_is_located_where_its_passage_begins() -> None:
    checked = check_reply("Nobody measured [P7f3a].", _shown("The pier is old."), _located, claims_anything=True)
    assert [each.location for each in checked.citations] == [Location("Before", 1)]


def test_a_passage_is_read_once_however_many_sentences_cite_it() -> None:
    text = " ".join(f"On day {number} the gauge at the pier stood at {number} feet." for number in range(3000))
    reply = " ".join(f"Nobody measured anything on the evening of day {number} [P7f3a]." for number in range(100))
    started = time.process_time()
    Quotable(text)
    once = time.process_time() - started
    started = time.process_time()
    checked = check_reply(reply, _shown(text), _located, claims_anything=False)
    assert time.process_time() - started < 10 * once
    assert len(checked.citations) == 1
