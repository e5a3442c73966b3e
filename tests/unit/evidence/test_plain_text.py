from __future__ import annotations

from asky.evidence.plain_text import plain_text, without_links, without_markup


def test_plain_text_is_what_a_reader_sees() -> None:
    source = (
        "The **moon** [1], see [this page](https://x.test/a_b), `pulls` ~~[P0000]~~ _hard_ <br> snake_case "
        "~~[source 7?]~~ [2]."
    )
    assert plain_text(source) == "The moon, see this page , pulls hard snake_case."


def test_the_lines_of_a_quotation_stay_lines_without_their_marks() -> None:
    assert without_markup("It says\n> two\n> > lines [1].") == "It says\ntwo\nlines."


def test_a_link_goes_with_its_text() -> None:
    assert without_links("See [this page](https://x.test/) or ![that](https://x.test/b).") == "See   or  ."
