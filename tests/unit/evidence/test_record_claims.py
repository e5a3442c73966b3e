from __future__ import annotations

import json

import pytest

from asky.evidence.verification.records import read_values
from asky.evidence.verification.verify import verify_answer, verify_claim
from tests.support.timing import check_linear

TABLE = """Sales by region.

| Region | 2019 | 2020 |
|---|---|---|
| North | 12 | 15 |
| South West | 30 | 28 |
"""
ROWS = """Region; Year; Sales
Region: North; Year: 2019; Sales: 12
Region: North; Year: 2020; Sales: 15
Region: South West; Year: 2019; Sales: 30
"""
SETTINGS = "server.port: 8080\nserver.tls: false\nserver.workers: 4\ncache.enabled: true\nlogging.level: debug\n"
PLACE = json.dumps(
    {
        "name": "The Old Mill",
        "address": "3 Garage Lane",
        "hours": {"Monday": "9:0-17:0", "Tuesday": "9:0-17:0", "Friday": "9:0-21:30"},
        "attributes": {
            "TakeOut": True,
            "OutdoorSeating": False,
            "WiFi": "free",
            "DogsAllowed": None,
            "Parking": {"garage": False, "street": True},
        },
        "reviews": [{"text": "The soup was hot, the staff was kind, and we shall come back to this place soon."}],
    }
)


@pytest.mark.parametrize(
    ("record", "claim"),
    [
        (TABLE, "North sold 12 in 2019."),
        (TABLE, "South West fell to 28 in 2020 from 30 in 2019."),
        (ROWS, "North had sales of 15 in 2020."),
        (ROWS, "Sales of South West were 30 in 2019."),
        (SETTINGS, "The server port is 8080."),
        (SETTINGS, "The cache is enabled."),
        (PLACE, "The Old Mill offers takeout and free Wi-Fi but no outdoor seating."),
        (PLACE, "The Old Mill is open from 9 am to 5 pm on Monday and Tuesday."),
        (PLACE, "The Old Mill stands in Garage Lane."),
        (PLACE, "It has street parking, and garage parking is not available."),
    ],
)
def test_a_claim_that_agrees_with_the_values_is_supported(record: str, claim: str) -> None:
    check = verify_claim(claim, [record])
    assert (check.verdict, check.checks.get("values")) == ("supported", None)


@pytest.mark.parametrize(
    ("record", "claim", "name", "value"),
    [
        (TABLE, "North sold 15 in 2019.", "North, 2019", "12"),
        (ROWS, "North had sales of 15 in 2019.", "North, Sales", "12"),
        (SETTINGS, "The server has TLS enabled.", "tls", "false"),
        (PLACE, "The Old Mill has outdoor seating.", "OutdoorSeating", "false"),
        (PLACE, "The Old Mill doesn't offer takeout.", "TakeOut", "true"),
        (PLACE, "Wi-Fi is not available.", "WiFi", "free"),
        (PLACE, "The Old Mill has garage parking.", "garage", "false"),
        (PLACE, "It is open on Friday from 9 am to 5 pm.", "Friday", "9:0-21:30"),
        (PLACE, "It is open from 9 am to 5 pm from Monday to Wednesday.", "Wednesday", "null"),
    ],
)
def test_a_claim_that_says_another_value_is_contradicted_by_it(record: str, claim: str, name: str, value: str) -> None:
    check = verify_claim(claim, [record])
    assert {"name": name, "value": value} in check.checks["values"]  # type: ignore[operator]
    assert check.verdict == ("unsupported" if value == "null" else "contradicted")


@pytest.mark.parametrize(
    ("record", "claim", "says"),
    [
        (TABLE, "South West had 99 in 2020.", "Region: South West; 2019: 30; 2020: 28"),
        (SETTINGS, "The server listens on port 9090.", "server; port: 8080; tls: false; workers: 4"),
    ],
)
def test_a_number_that_no_cell_has_is_missing_beside_what_the_row_says(record: str, claim: str, says: str) -> None:
    check = verify_claim(claim, [record])
    assert (check.verdict, check.checks["says"]) == ("unsupported", {"n": 1, "text": says})


@pytest.mark.parametrize(
    "claim", ["South West sold 18 more than North in 2019.", "Together North and South West sold two more in 2020."]
)
def test_a_number_that_follows_from_several_cells_contradicts_none(claim: str) -> None:
    assert verify_claim(claim, [TABLE]).verdict != "contradicted"


def test_what_is_unknown_to_a_record_supports_nothing() -> None:
    check = verify_claim("Dogs are allowed.", [PLACE])
    assert (check.verdict, check.checks["values"]) == ("unsupported", [{"name": "DogsAllowed", "value": "null"}])
    assert "values" not in verify_claim("It doesn't specify whether dogs are allowed.", [PLACE]).checks


def test_a_summary_of_a_record_with_texts_may_be_in_other_words() -> None:
    assert verify_claim("Guests of The Old Mill praise the kind staff.", [PLACE]).verdict == "supported"


def test_json_is_read_when_it_is_cut_at_both_ends() -> None:
    whole = read_values(PLACE)
    cut = read_values(PLACE[30:-20])
    assert {value.name for value in cut} >= {"Monday", "TakeOut", "garage"}
    assert {value.text for value in whole} >= {"9:0-17:0", "true", "false", "null"}


@pytest.mark.parametrize(
    "text", ["", "Note: this is prose.", "He said: no. She said: yes.", "a | b", '{"a": 1}', "[[[["]
)
def test_prose_is_no_record(text: str) -> None:
    assert read_values(text) == ()


@pytest.mark.parametrize(
    ("claim", "record"),
    [
        ("a is true, b is not, ", '"a": true, '),
        ("a: 1 ", "a: 1\n"),
        ("a ", "| a | b |\n|---|---|\n| x | 2 |\n"),
        ("Monday to Friday 1 am to 2 pm ", '"Monday": "1:0-2:0", '),
        ('"', '"\\"'),
        ("{[", "{["),
        ("a", "a: 1; b: 2\n"),
    ],
)
def test_hostile_records_take_linear_time(claim: str, record: str) -> None:
    check_linear(lambda chars: verify_claim(claim * (chars // len(claim)), [record * (chars // len(record))]), 1_500)


def test_rows_below_a_head_that_was_cut_off_are_records() -> None:
    rows = "Clare | 1820 | North\nGroup\nEnnis | 1790 | South\n"
    columns = "Mill | Built | Bank"
    assert [(value.name, value.text) for value in read_values(rows, columns)][:4] == [
        ("Mill", "Clare"),
        ("Built", "1820"),
        ("Bank", "North"),
        ("Mill", "Ennis"),
    ]
    (claim,) = verify_answer("Mill: Ennis; Built: 1790; Bank: South [1]", {1: rows}, columns={1: columns})
    assert claim.verdict == "supported"
    (claim,) = verify_answer("Mill: Ennis; Built: 1820; Bank: South [1]", {1: rows}, columns={1: columns})
    assert claim.verdict != "supported"
