from __future__ import annotations

from functools import partial

import pytest

from asky.reading.html.page import read
from asky.reading.html.survey import survey_page
from tests.support.timing import check_linear, cpu_s

TEXT = "The boats of the bay are listed here with what they cost, as the harbour office has published it in spring."


def shown(table: str) -> list[str]:
    """Return the lines between two paragraphs that a page has for a table."""
    page = f"<title>T</title><main><h1>Boats</h1><p>{TEXT}</p>{table}<p>{TEXT} End.</p></main>"
    lines = read(page.encode(), "a.html").text.splitlines()
    return [line for line in lines[lines.index(TEXT) + 1 : lines.index(f"{TEXT} End.")] if line]


def row(*cells: str, tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def test_a_line_stands_below_the_names_of_the_columns() -> None:
    table = f"<table><caption>Lakes</caption>{row('Lake', 'Depth', tag='th')}{row('Orva', '311')}</table>"
    assert shown(table) == ["Lakes", "Lake | Depth", "--- | ---", "Orva | 311"]


def test_header_rows_are_joined_and_covered_cells_filled() -> None:
    table = (
        "<table><thead><tr><th rowspan=2>Stop<th colspan=2>Westbound</tr><tr><th>Adult<th>Child</tr></thead><tbody>"
        "<tr><th scope=row>Quay<td rowspan=2>12.40<td>6</tr><tr><th>Skerry<td>7</tr>"
        "<tr><td colspan=3>Night boats</tr><tr><th>Isle<td colspan=2>closed | shut</tr></tbody></table>"
    )
    assert shown(table) == [
        "Stop | Westbound, Adult | Westbound, Child",
        "--- | --- | ---",
        "Quay | 12.40 | 6",
        "Skerry | 12.40 | 7",
        "Night boats",
        "Isle | closed \\| shut | closed \\| shut",
    ]


@pytest.mark.parametrize("tag", ["th", "td"])
def test_names_beside_their_values_have_no_line_below_the_first(tag: str) -> None:
    rows = [("Name", "Silver Heron"), ("Length", "9.35")]
    table = "".join(f"<tr><{tag}>{name}</{tag}><td>{value}</td></tr>" for name, value in rows)
    assert shown(f"<table>{table}</table>") == ["Name | Silver Heron", "Length | 9.35"]


def test_an_empty_corner_keeps_its_column() -> None:
    table = (
        f"<table><tr><td></td><th>Mon</th><th>Tue</th></tr>{row('Noon', 'Ada', 'Bo')}{row('Night', '', 'Cy')}</table>"
    )
    assert shown(table) == ["| | Mon | Tue |", "--- | --- | ---", "Noon | Ada | Bo", "Night | | Cy"]


@pytest.mark.parametrize("cells", [("<b>Item</b>", "<strong>Price</strong>"), ("Item", "Price")])
def test_a_first_row_of_plain_cells_names_the_columns_if_they_are_bold_or_have_other_values(
    cells: tuple[str, str],
) -> None:
    table = f"<table>{row(*cells)}{row('Oar', '40')}{row('Rope', '12')}</table>"
    assert shown(table)[:2] == ["Item | Price", "--- | ---"]


def test_blocks_and_breaks_in_a_cell_do_not_end_its_row() -> None:
    cells = row("<p>Oar</p><p>long</p>", "red<br>blue<ul><li>a<li>b</ul>")
    table = f"<table>{row('Item', 'Note', tag='th')}{cells}</table>"
    assert shown(table) == [
        "Item | Note",
        "--- | ---",
        "Oar long | red blue a b",
    ]


def test_tables_that_lay_out_a_page_stay_text_and_the_tables_in_them_are_read_once() -> None:
    inner = f"<table>{row('Item', 'Price', tag='th')}{row('Oar', '40')}</table>"
    lines = shown(f"<table><tr><td>Prices of the year {inner}</td></tr></table>")
    assert lines == ["Prices of the year", "Item | Price", "--- | ---", "Oar | 40"]
    assert not any(
        "---" in line for line in shown(f"<table role=presentation>{row('a', 'b', tag='th')}{row('c', 'd')}</table>")
    )


def test_hidden_rows_are_left_out_and_the_foot_comes_last() -> None:
    rows = f"<tr hidden><td>Secret<td>1</tr>{row('Oar', '40')}"
    head, foot = row("Item", "Price", tag="th"), row("Total", "40")
    table = f"<table><thead>{head}</thead><tfoot>{foot}</tfoot><tbody>{rows}</table>"
    assert shown(table) == [
        "Item | Price",
        "--- | ---",
        "Oar | 40",
        "Total | 40",
    ]


@pytest.mark.parametrize("span", ["colspan=100000 rowspan=100000", "colspan=-1 rowspan=x", "rowspan=0"])
def test_spans_without_reason_are_bounded(span: str) -> None:
    table = f"<table>{row('Item', 'Price', tag='th')}<tr><td {span}>Oar</td><td>40</td></tr>{row('Rope', '12')}</table>"
    text = " ".join(shown(table))
    assert "Rope" in text
    assert len(text) < 20_000


def test_a_long_table_takes_linear_time() -> None:
    check_linear(
        lambda size: read(f"<table>{row('a', 'b', tag='th')}{row('x', '1') * size}</table>".encode(), "a.html"), 200
    )


def test_a_row_of_other_names_begins_another_table_and_one_of_the_same_is_left_out() -> None:
    names, others = row("Item", "Price", tag="th"), row("Crew", "Role", tag="th")
    table = f"<table>{names}{row('Oar', '4')}{names}{row('Rope', '5')}{others}{row('Ann', 'Mate')}</table>"
    assert shown(table) == [
        "Item | Price",
        "--- | ---",
        "Oar | 4",
        "Rope | 5",
        "Crew | Role",
        "--- | ---",
        "Ann | Mate",
    ]


def test_a_page_that_names_no_body_has_its_tables_and_hides_what_is_hidden() -> None:
    page = f"<title>T</title><main><p>{TEXT}</p><p hidden>secret</p><table>{row('a', 'b')}</table></main>"
    assert read(page.encode(), "a.html").text.splitlines() == [TEXT, "", "a | b"]


def test_the_names_of_the_rows_of_a_data_frame_are_named() -> None:
    table = (
        "<table class=dataframe><thead><tr><th></th><th colspan=2>length</th></tr><tr><th></th><th>mean</th>"
        "<th>max</th></tr><tr><th>kind</th><th></th><th></th></tr></thead><tbody><tr><th>sail</th><td>8.2</td><td>12.0</td></tr>"
        "<tr><th>motor</th><td>6.1</td><td>9.9</td></tr></tbody></table>"
    )
    assert shown(table) == [
        "kind | length, mean | length, max",
        "--- | --- | ---",
        "sail | 8.2 | 12.0",
        "motor | 6.1 | 9.9",
    ]


def test_a_title_in_the_head_of_a_table_is_no_name() -> None:
    head = f"<thead><tr><th>Boats of 2024</th></tr>{row('Boat', 'Length', tag='th')}</thead>"
    assert shown(f"<table>{head}{row('Tern', '7')}{row('Gull', '9')}</table>")[:2] == ["Boats of 2024", "Boat | Length"]


def test_a_wide_cell_of_a_form_is_said_once() -> None:
    table = "<table><tr><td>Name<td>Oar<td>Length<td>9.4 m</tr><tr><td colspan=2>Insured by<td colspan=2>Norwich</tr>"
    assert shown(f"{table}</table>")[-1] == "Insured by | | Norwich"


def test_a_comment_on_a_cell_is_a_line_after_the_table() -> None:
    noted = '<a class="comment-indicator"></a>\n<comment>Check this</comment>\n2.5'
    table = f"<table>{row('Rope', 'Price', tag='th')}{row('10 mm', '1.9')}{row('12 mm', noted)}</table>"
    assert shown(table)[2:] == ["10 mm | 1.9", "12 mm | 2.5", "[Comment on “2.5”: Check this]"]


def test_empty_cells_that_hold_a_break_are_empty_and_cheap() -> None:
    def page(columns: int) -> str:
        cells = "<td><font><br></font></td>" * columns
        return f"<table><tr><td>Rope</td>{cells}<td>far</td></tr><tr><td>Chain</td>{cells}</tr></table>"

    assert survey_page(page(3)).text.splitlines() == ["Rope | | | | far", "Chain"]
    check_linear(lambda columns: survey_page(page(columns)), 4_000)


def test_tables_of_any_width_and_spans_are_read_in_time() -> None:
    cells = "<td>v</td>" * 16_384
    spans = "<tr><th colspan=1000 rowspan=65534>v<td>w</tr>" * 190
    for rows in (f"<tr>{cells}</tr>" * 4, spans):
        page = f"<p>{TEXT}</p><table>{rows}</table>".encode()
        assert cpu_s(partial(read, page, "a.html")) < 5  # of the 20 s that a file has
