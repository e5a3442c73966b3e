from __future__ import annotations

import pytest

from asky.errors import ProviderError
from asky.search.xml_reply import parse_xml, text_in
from tests.support.timing import check_linear

_EXTERNAL = '<!DOCTYPE a PUBLIC "-//N//D" "https://dtd.example/x.dtd">'


def test_text_is_that_of_all_elements_in_one_line() -> None:
    root = parse_xml("<a>\n<b>H<sub>2</sub>O &lt; <!-- no -->3\n</b><c/></a>", "twin")
    assert text_in(root, "b") == "H2O < 3"
    assert text_in(root, "c") == text_in(root, "d") == text_in(None) == ""


def test_a_doctype_that_only_names_a_dtd_is_passed_over() -> None:
    root = parse_xml(f'<?xml version="1.0"?>{_EXTERNAL}<a>1&nbsp;[2]</a>', "twin")
    assert text_in(root) == "1 [2]"


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!doctype a [<!ENTITY b "c">]><a b="&b;"/>',
        '<!DOCTYPE a SYSTEM "x" [<!ENTITY % p SYSTEM "http://127.0.0.1/x"> %p;]><a/>',
        "<!DOCTYPE a [\n<!ATTLIST a b CDATA 'x'>\n]><a/>",
    ],
)
def test_declarations_are_refused(document: str) -> None:
    with pytest.raises(ProviderError, match="declares a document type") as caught:
        parse_xml(document, "twin")
    assert caught.value.reason == "malformed"


@pytest.mark.parametrize("document", ["", "  ", "text", "<a>", "<a></b>", "<a>&undeclared;</a>", "{}", "<a/><b/>"])
def test_what_is_no_xml_is_malformed(document: str) -> None:
    with pytest.raises(ProviderError) as caught:
        parse_xml(document, "twin")
    assert caught.value.reason == "malformed"


def test_characters_that_xml_forbids_do_not_spoil_a_document() -> None:
    assert text_in(parse_xml("\ufeff<a>x\x00\x0b\ud800y</a>", "twin")) == "x?y"


def test_a_deep_document_takes_linear_time() -> None:
    def parse(depth: int) -> None:
        with pytest.raises(ProviderError):
            parse_xml("<a>" * depth, "twin")

    check_linear(parse, 10_000)
