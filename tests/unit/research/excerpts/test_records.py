from __future__ import annotations

import pytest

from asky.research.excerpts.records import has_records, matching_records

ROWS = "".join(
    f"month: 2024-{month:02}; region: {region}; product: {product}; units: {month * 100 + number}\n"
    for month in range(1, 13)
    for number, (region, product) in enumerate((r, p) for r in ("North", "West") for p in ("Kettle", "Toaster"))
)


def found(query: str, text: str = ROWS) -> list[str]:
    return [text[span.start : span.end] for span in matching_records(query, text)]


def test_the_row_that_has_all_words_of_a_query_is_found_among_many_that_have_some() -> None:
    assert found("How many units of the Toaster did we sell in the West in March 2024?") == [
        "month: 2024-03; region: West; product: Toaster; units: 303"
    ]


def test_several_rows_that_fit_as_well_come_in_their_order() -> None:
    assert [row[:13] for row in found("toaster west", ROWS[: ROWS.index("2024-04")])] == ["month: 2024-0"] * 3


def test_a_single_common_word_finds_nothing() -> None:
    assert found("How tall is the North tower?") == []
    assert found("", ROWS) == []
    assert found("toaster", "") == []


@pytest.mark.parametrize("name", ["a.csv", "a.TSV", "b.json", "c.yaml", "d.toml", "e.log", "server.log.1", "f.xlsx"])
def test_tables_settings_and_logs_have_records(name: str) -> None:
    assert has_records(name)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.pdf", "a.py", "README", ""])
def test_prose_and_code_have_none(name: str) -> None:
    assert not has_records(name)


JOBS = "".join(
    f"job[{number}].name: {name}\njob[{number}].paths[0]: /srv/{number}\njob[{number}].keep.daily: 7\n"
    f"job[{number}].keep.yearly: {yearly}\n"
    for number, (name, yearly) in enumerate([("photos", 0), ("documents", 10), ("music", 3)])
)


def test_a_setting_is_returned_with_the_object_that_the_query_names() -> None:
    assert found("yearly backups of the documents", JOBS) == [
        "job[1].name: documents\njob[1].paths[0]: /srv/1\njob[1].keep.daily: 7\njob[1].keep.yearly: 10"
    ]


def test_a_setting_of_a_large_object_is_returned_alone() -> None:
    large = "".join(f"web.option_{number}: {'x' * 60}\n" for number in range(40)) + "web.port: 80\nweb.name: shop\n"
    assert found("port of the shop", large) == []
    assert found("web port", large) == ["web.port: 80"]


def test_a_setting_of_a_list_at_the_top_of_a_file_is_returned_with_its_object() -> None:
    jobs = JOBS.replace("job[", "[")
    assert found("yearly backups of the documents", jobs) == [
        "[1].name: documents\n[1].paths[0]: /srv/1\n[1].keep.daily: 7\n[1].keep.yearly: 10"
    ]
    assert found("yearly backups of the documents", JOBS.replace("job[", "[0][")) == [
        "[0][1].name: documents\n[0][1].paths[0]: /srv/1\n[0][1].keep.daily: 7\n[0][1].keep.yearly: 10"
    ]
